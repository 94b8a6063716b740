//! The members of a run, as one peer knows them: the table, the news and the signs of life
//! together.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::failure_detector::{FailureDetector, Liveness};
use super::gossip::{Ack, Carried, EdgeClosure, GossipPayload, Heartbeat, Receipt};
use super::heartbeats::HeartbeatRotation;
use super::news::News;
use super::receipts::Receipts;
use super::seals::SealBook;
use super::table::{Incarnation, MemberState, Table};
use crate::peer::clock::Moment;
use crate::rng::{Purpose, Stream};

/// What one peer knows of the members of its run, and what it tells others of them.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    /// The node that this peer is.
    node: u32,
    /// Its own present life.
    incarnation: Incarnation,
    table: Table,
    /// The members that count as alive, ascending: what the table says, kept as a list.
    members: Arc<Vec<u32>>,
    /// The nodes whose states have changed lately, with the round until which messages carry them
    /// first.
    changed_until: BTreeMap<u32, u64>,
    news: News,
    receipts: Receipts,
    seals: SealBook,
    /// The round until which the table travels with every message.
    attach_until: u64,
    /// Rounds for which a change travels with every message.
    attach_for: u64,
    detector: FailureDetector,
    heartbeats: HeartbeatRotation,
    /// The nodes that count as dead whatever is said of them.
    expelled: BTreeSet<u32>,
}

impl Membership {
    /// A peer that knows only itself, among at most `nodes` nodes. `evict_after` and `attach_for`
    /// are those of the policy.
    pub(crate) fn new(
        node: u32,
        nodes: usize,
        incarnation: Incarnation,
        (evict_after, attach_for): (u64, u64),
        mut seals: SealBook,
    ) -> Self {
        let mut table = Table::new(nodes);
        table.merge(node, MemberState::alive(incarnation));
        seals.seal_own(node, MemberState::alive(incarnation));
        Self {
            node,
            incarnation,
            table,
            members: Arc::new(vec![node]),
            changed_until: BTreeMap::new(),
            news: News::new(node),
            receipts: Receipts::new(node),
            attach_until: 0,
            attach_for,
            detector: FailureDetector::new(evict_after, seals.is_used()),
            seals,
            heartbeats: HeartbeatRotation::default(),
            expelled: BTreeSet::new(),
        }
    }

    /// The peer's own present life.
    pub(crate) fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// What is known of all nodes.
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The members that count as alive, ascending.
    pub(crate) fn members(&self) -> &Arc<Vec<u32>> {
        &self.members
    }

    /// The hash of what is known of members and closed edges.
    ///
    /// Messages carry it: a receiver with another hash knows that one of the two is behind.
    pub(crate) fn digest(&self) -> u64 {
        self.table.digest().wrapping_add(self.news.digest())
    }

    /// What is known of the life of a node.
    pub(crate) fn liveness(&self, node: u32) -> &Liveness {
        self.detector.get(node)
    }

    /// Whether the table is to travel with every message of this round.
    pub(crate) fn attaches_table(&self, round: u64) -> bool {
        round < self.attach_until
    }

    /// Attaches the table to all messages of the next rounds: there is news that everybody should
    /// have.
    pub(crate) fn attach_table(&mut self, round: u64) {
        self.attach_until = round + self.attach_for;
    }

    /// The members that have been silent for too long.
    pub(crate) fn silent(&mut self, tick: u64) -> Vec<u32> {
        self.detector.silent(&self.members, self.node, tick)
    }

    /// Takes in whom others know, before anything is heard.
    pub(crate) fn meet(&mut self, roster: &Table, round: u64) {
        let known = std::mem::replace(&mut self.table, roster.clone());
        for (node, state) in known.entries() {
            self.table.merge(node, state);
        }
        self.members = Arc::new(self.table.members().collect());
        self.attach_table(round);
    }

    /// Takes in news of another node and returns whether it is news: the edges of an earlier life
    /// must then be undone.
    pub(crate) fn learn(&mut self, node: u32, news: MemberState, now: Moment) -> bool {
        let known = self.table.get(node);
        if self.table.merge(node, news) != Ordering::Greater {
            return false;
        }
        // Who has left by itself was not thought dead by mistake.
        let was_buried =
            known.is_some_and(|known| known.dead) && !(self.seals.is_used() && self.liveness(node).has_left());
        let came_back = was_buried && !news.dead;
        self.detector.renew(node, came_back, now.tick);
        self.changed_until.insert(node, now.round + self.attach_for);
        if known.is_some_and(|known| known.incarnation != news.incarnation) {
            self.forget_life(node);
        }
        self.table_changed(node, now.round);
        true
    }

    /// Takes in what a node says of itself in a message: that it leaves.
    pub(crate) fn learn_farewell(&mut self, node: u32, state: MemberState) {
        if state.dead && self.table.get(node) == Some(state) {
            self.detector.hear_farewell(node);
        }
    }

    /// Whether this state of this very peer, as others have it, is above its present life: it
    /// counts as dead there, or a later life of it was known.
    pub(crate) fn is_above_own_life(&self, state: MemberState) -> bool {
        state > MemberState::alive(self.incarnation)
    }

    /// Begins a new life, above the present one and above what others believe.
    ///
    /// The nonce is drawn from the last one, so that a peer needs no random source.
    pub(crate) fn refute(&mut self, rumour: Incarnation, now: Moment) {
        let counter = rumour.counter.max(self.incarnation.counter).saturating_add(1);
        let nonce = Stream::new(self.incarnation.nonce, self.node as usize, counter, Purpose::Lives).bits();
        self.incarnation = Incarnation { counter, nonce };
        self.forget_life(self.node);
        self.table.merge(self.node, MemberState::alive(self.incarnation));
        if self.seals.is_used() {
            self.seals.seal_own(self.node, MemberState::alive(self.incarnation));
            self.detector.renew(self.node, true, now.tick);
        }
        self.table_changed(self.node, now.round);
    }

    /// Forgets what was said of a life that is over.
    fn forget_life(&mut self, node: u32) {
        self.news.forget(node);
        self.receipts.forget(node);
        self.seals.forget_closures(node);
    }

    /// Marks this peer as dead in its own table: it leaves, and its last messages say so.
    pub(crate) fn leave(&mut self) {
        self.table.merge(self.node, MemberState::dead(self.incarnation));
        self.seals.seal_own(self.node, MemberState::dead(self.incarnation));
    }

    /// Lets others know that this peer has closed its edge to a node.
    pub(crate) fn announce_closure(&mut self, to: u32, generation: u64, round: u64) {
        let closure = EdgeClosure { from: self.node, to, life: self.incarnation.tag(), generation };
        self.news.add_closure(closure);
        self.seals.seal_closure(closure, self.incarnation);
        self.attach_table(round);
    }

    /// Whether a closure was made by this peer, in its present life.
    pub(crate) fn is_own(&self, closure: EdgeClosure) -> bool {
        closure.from == self.node && closure.life == self.incarnation.tag()
    }

    /// Takes in that another node has closed an edge and returns whether that is news. A closure of
    /// a life that is over says nothing, since all edges of that life are undone anyway.
    pub(crate) fn learn_closure(&mut self, closure: EdgeClosure, round: u64) -> bool {
        let news = closure.from != self.node
            && (closure.to as usize) < self.table.nodes()
            && self.living_tag(closure.from) == Some(closure.life)
            && self.news.add_closure(closure);
        if news {
            self.attach_table(round);
        }
        news
    }

    /// Takes in a heartbeat of the present life of another node.
    pub(crate) fn hear(&mut self, heartbeat: Heartbeat, now: Moment) {
        if self.is_life(heartbeat.node, heartbeat.life) && heartbeat.node != self.node {
            self.detector.hear(heartbeat.node, heartbeat.count, now.tick, now.round);
        }
    }

    /// Takes in that a message was accepted, and acknowledges it from now on.
    pub(crate) fn hear_message(&mut self, from: u32, incarnation: Incarnation, sequence: u64, now: Moment) {
        self.news.add_ack(Ack { by: self.node, from, life: incarnation.tag(), sequence }, now.tick);
        self.detector.hear_message(from, now.round);
    }

    /// Takes in an acknowledgement and returns whether it is of a message of this peer's present
    /// life. All others are passed on.
    pub(crate) fn learn_ack(&mut self, ack: Ack, tick: u64) -> bool {
        if ack.from == self.node {
            return ack.life == self.incarnation.tag();
        }
        if self.living_tag(ack.from) == Some(ack.life) && (ack.by as usize) < self.table.nodes() {
            self.news.add_ack(ack, tick);
        }
        false
    }

    /// Takes in that scalars or mass of a message were applied by this peer, or could not be.
    pub(crate) fn note_receipt(
        &mut self,
        from: u32,
        incarnation: Incarnation,
        carried: Carried,
        sequence: u64,
        round: u64,
    ) {
        let (by_life, life) = (self.incarnation.tag() as u32, incarnation.tag() as u32);
        self.receipts.add(Receipt { by: self.node, by_life, from, life, carried, sequence }, round);
    }

    /// Takes in a receipt and returns whether it concerns a message of this peer's present life.
    /// Receipts of lives that are over say nothing; all others are passed on.
    pub(crate) fn learn_receipt(&mut self, receipt: Receipt, round: u64) -> bool {
        let Receipt { by, by_life, from, life, .. } = receipt;
        let living = self.is_life(by, by_life) && self.is_life(from, life);
        if living && by != self.node && from != self.node {
            self.receipts.add(receipt, round);
        }
        living && from == self.node
    }

    /// Whether a receipt is of this peer's own present life, for a message that is alive, too.
    pub(crate) fn is_own_receipt(&self, receipt: &Receipt) -> bool {
        let Receipt { by, by_life, from, life, .. } = *receipt;
        by == self.node && self.is_life(by, by_life) && self.is_life(from, life)
    }

    /// The receipts of a message of a round to a node, with this many bytes of scalars and mass.
    pub(crate) fn receipts_for(&mut self, to: u32, round: u64, bytes: usize) -> Vec<Receipt> {
        self.receipts.for_message(self.node, to, round, bytes)
    }

    /// The gossip of a message to a node: acknowledgements and heartbeats always, and the table and
    /// closed edges, at most `table` of each, if that is given.
    pub(crate) fn gossip(
        &mut self,
        to: u32,
        table: Option<usize>,
        now: Moment,
        stream: impl Fn() -> Stream,
    ) -> GossipPayload {
        let states = table.map_or_else(Vec::new, |most| self.states(most, now.round, &stream));
        let closures = table.map_or_else(Vec::new, |most| self.news.closures_for(most, &stream).collect());
        let acks = self.news.acks_for(self.node, to, now.tick);
        let turn = self.heartbeats.next(&self.members, self.node);
        let heartbeats = turn.into_iter().filter_map(|node| self.heartbeat(node)).collect();
        let seals = self.seals.of_gossip(&states, &closures);
        GossipPayload { states, closures, heartbeats, acks, receipts: Vec::new(), seals }
    }

    /// The table, or what a message can carry of it: recent changes, then others at random. A fixed
    /// order could stay in phase with the schedule, and some entries would never reach some nodes.
    fn states(&mut self, most: usize, round: u64, stream: impl Fn() -> Stream) -> Vec<(u32, MemberState)> {
        let nodes = self.table.nodes() as u32;
        if nodes as usize <= most {
            return self.table.entries().collect();
        }
        self.changed_until.retain(|_, until| round < *until);
        let start = stream().below(nodes as usize) as u32;
        let changed = self.changed_until.range(start..).chain(self.changed_until.range(..start)).map(|(node, _)| *node);
        let others = (start..nodes).chain(0..start).filter(|node| !self.changed_until.contains_key(node));
        let state = |node: u32| Some((node, self.table.get(node)?));
        // Nobody else may have the seal of the own life yet.
        let own = self.seals.is_used().then_some(self.node);
        let rest = changed.chain(others).filter(|node| Some(*node) != own);
        own.into_iter().chain(rest).filter_map(state).take(most).collect()
    }

    /// The newest heartbeat of a member, to be passed on.
    fn heartbeat(&self, node: u32) -> Option<Heartbeat> {
        let life = self.living_tag(node)? as u32;
        Some(Heartbeat { node, life, count: self.detector.get(node).heartbeat() })
    }

    /// The tag of the present life of a node that counts as alive.
    fn living_tag(&self, node: u32) -> Option<u64> {
        self.table.living(node).map(Incarnation::tag)
    }

    /// Whether these are the low bits of the tag of the present life of a node that counts as
    /// alive.
    fn is_life(&self, node: u32, life: u32) -> bool {
        self.living_tag(node).map(|tag| tag as u32) == Some(life)
    }

    fn table_changed(&mut self, node: u32, round: u64) {
        match (self.members.binary_search(&node), self.table.living(node)) {
            (Ok(place), None) => drop(Arc::make_mut(&mut self.members).remove(place)),
            (Err(place), Some(_)) => Arc::make_mut(&mut self.members).insert(place, node),
            (Ok(_), Some(_)) | (Err(_), None) => {}
        }
        self.attach_table(round);
    }
}

mod belief;
mod restore;

pub(crate) use belief::Belief;

#[cfg(test)]
mod tests;
