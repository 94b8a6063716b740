//! Messages, in and out.

use super::contact::Unread;
use super::membership::{Incarnation, Standing, Table};
use super::message::{Ack, BEATS, Beat, Contents, Draft, Header, Manner, Message};
use super::policy::Pace;
use super::state::{Effect, Peer, Phase};
use crate::rng::{Purpose, Stream};
use crate::{Mask, Scalar};

impl<T: Scalar> Peer<T> {
    pub(super) fn receive(&mut self, bytes: Vec<u8>, effects: &mut Vec<Effect>) {
        let Ok(message) = self.manifest.read::<T>(&bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let header = message.header;
        if header.to != self.task.node || header.from == self.task.node {
            self.counters.malformed += 1;
            return;
        }
        self.merge_control(&message);
        let known = header.digest == self.digest;
        let fresh = self.is_current(&header);
        let stale = !fresh || (!known && message.standings().next().is_none());
        self.counters.stale += u64::from(stale);
        if fresh && self.has_forgotten(&header) {
            self.give_up_this_life();
        } else if fresh {
            let places = message.places();
            self.accept(Unread::new(places, bytes));
            self.join_if_under_way(&header, known);
        }
        if stale || self.is_call(&header) {
            self.answer(&header, effects);
        } else if header.contents.manner == Manner::Plea && header.epoch == self.epoch && self.phase == Phase::Open {
            self.help(header.from, effects);
        }
    }

    /// A held peer begins when it hears somebody who has begun. In lockstep it first learns whom the
    /// other one counts: both must agree on neighbours.
    fn join_if_under_way(&mut self, header: &Header, known: bool) {
        let begun = header.contents.pulled || header.contents.mass;
        if self.task.policy.held && begun && (known || self.task.policy.pace == Pace::Free) {
            self.gathered = true;
        }
    }

    /// Control is taken in always, whatever becomes of the rest: it only grows.
    fn merge_control(&mut self, message: &Message<'_>) {
        let header = &message.header;
        let sender = (header.from, Standing { incarnation: header.incarnation, dead: false });
        for (node, standing) in std::iter::once(sender).chain(message.standings()) {
            if node == self.task.node {
                if standing > (Standing { incarnation: self.incarnation, dead: false }) {
                    self.refute(standing.incarnation);
                }
            } else {
                self.learn(node, standing);
                if standing.dead && node == header.from && self.table.get(node) == Some(standing) {
                    self.contacts[node as usize].left = true;
                }
            }
        }
        let life = |table: &Table, node: u32| table.living(node).map(Incarnation::tag);
        for close in message.closes() {
            let ours = close.from == self.task.node && close.life == self.incarnation.tag();
            if ours && self.contacts.get(close.to as usize).is_some_and(|contact| contact.generation < close.generation)
            {
                self.give_up_this_life();
            }
            if life(&self.table, close.from) == Some(close.life)
                && close.from != self.task.node
                && self.news.close(close)
            {
                if close.to == self.task.node {
                    self.closed_by(close.from, close.generation);
                }
                self.spread();
            }
        }
        let own = Beat { node: header.from, life: header.incarnation.tag() as u32, count: header.beat };
        for beat in std::iter::once(own).chain(message.beats()) {
            if life(&self.table, beat.node).map(|tag| tag as u32) == Some(beat.life) && beat.node != self.task.node {
                let contact = &mut self.contacts[beat.node as usize];
                if contact.beat < beat.count {
                    (contact.beat, contact.alive_at) = (beat.count, self.tick);
                    contact.heard_in = Some(self.round);
                }
            }
        }
        for ack in message.acks() {
            if ack.from == self.task.node {
                if ack.life == self.incarnation.tag() {
                    self.acknowledged(ack);
                }
            } else if life(&self.table, ack.from) == Some(ack.life) && (ack.by as usize) < self.contacts.len() {
                self.news.ack(ack);
            }
        }
        if header.epoch > self.epoch && self.phase != Phase::Left {
            if self.task.policy.pace == Pace::Free || header.round <= self.round || self.phase != Phase::Open {
                self.enter(header.epoch);
            } else {
                self.coming = Some(self.coming.map_or((header.round, header.epoch), |(round, epoch)| {
                    if epoch < header.epoch { (header.round, header.epoch) } else { (round.min(header.round), epoch) }
                }));
            }
        }
    }

    fn acknowledged(&mut self, ack: Ack) {
        let Some(contact) = self.contacts.get_mut(ack.by as usize) else { return };
        if contact.acknowledged < ack.sequence {
            (contact.acknowledged, contact.unanswered_since) = (ack.sequence, None);
        }
        if contact.closed_at.is_some_and(|closed| closed < ack.sequence) {
            contact.closed_at = None;
        }
    }

    /// A sender has taken back what it sent in earlier generations.
    fn closed_by(&mut self, from: u32, generation: u64) {
        let contact = &mut self.contacts[from as usize];
        if contact.its_generation < generation {
            contact.its_generation = generation;
            contact.unread.retain(|message| message.header.generation >= generation);
            let reversal = self.ledger.give_up(from);
            self.bear(reversal);
        }
    }

    /// Whether a message is of the sender's present life and of this epoch, or one that is coming.
    fn is_current(&self, header: &Header) -> bool {
        self.table.living(header.from) == Some(header.incarnation) && header.epoch >= self.epoch
    }

    /// Others know more of this life than we do: our disk has lost what it called safe.
    fn give_up_this_life(&mut self) {
        self.counters.forgotten += 1;
        self.refute(self.incarnation);
    }

    /// Whether somebody holds mass of this life and epoch that we do not know of.
    fn has_forgotten(&self, header: &Header) -> bool {
        let ours = self.incarnation == header.to_incarnation && header.epoch == self.epoch;
        let newest = self.contacts[header.from as usize].generation + 1;
        let known = header.held < newest || (header.held == newest && self.ledger.sent(header.from).is_some());
        ours && !known
    }

    /// Keeps what a current message brings.
    fn accept(&mut self, mut message: Unread) {
        let header = &mut message.header;
        self.news.ack(Ack {
            by: self.task.node,
            from: header.from,
            life: header.incarnation.tag(),
            sequence: header.sequence,
        });
        self.closed_by(header.from, header.generation);
        let contact = &mut self.contacts[header.from as usize];
        contact.missed = 0;
        contact.heard_in = Some(self.round);
        contact.round = contact.round.max(header.round);
        let mine = header.to_incarnation == self.incarnation && header.generation >= contact.its_generation;
        if header.contents.mass && !mine {
            self.counters.stale += 1;
            header.contents.mass = false;
        }
        if !header.contents.mass && !header.contents.pulled {
            return;
        }
        if header.sequence <= contact.applied {
            self.counters.outdated += 1;
            return;
        }
        let header = *header;
        match self.task.policy.pace {
            Pace::Free => contact.keep_newest(message),
            Pace::Lockstep { .. } => contact.keep_by_round(message),
        }
        // Who has fallen far behind, or is new, goes on where the others are.
        if header.round > self.round + 2 * self.manifest.nodes() as u64 + 16 && header.epoch == self.epoch {
            self.round = header.round.min(self.task.policy.rounds);
            self.attach_until = self.round + self.task.policy.attach_for;
        }
    }

    /// Whether somebody calls us together: it is to know that we can hear it.
    fn is_call(&self, header: &Header) -> bool {
        let gathers = self.task.policy.pace != Pace::Free || self.phase == Phase::Gathering;
        gathers && header.contents == Contents::default()
    }

    /// Tells who is behind how things are, at most once a tick.
    fn answer(&mut self, header: &Header, effects: &mut Vec<Effect>) {
        let contact = &mut self.contacts[header.from as usize];
        if header.contents.manner == Manner::Answer
            || contact.answered_at == Some(self.tick)
            || self.phase == Phase::Unwritten
        {
            return;
        }
        contact.answered_at = Some(self.tick);
        self.send(header.from, Mask::NONE, Contents { manner: Manner::Answer, ..Contents::default() }, true, effects);
    }

    /// Writes a message and hands it out.
    pub(super) fn send(&mut self, to: u32, mask: Mask, contents: Contents, table: bool, effects: &mut Vec<Effect>) {
        self.sequence += 1;
        let contact = &mut self.contacts[to as usize];
        contact.untold += 1;
        contact.unanswered_since.get_or_insert(self.tick);
        let table = table || self.round < self.attach_until || contact.untold >= self.task.policy.attach_every;
        if table {
            contact.untold = 0;
        }
        if contents.mass {
            contact.mass_sent = self.sequence;
        }
        let header = Header {
            from: self.task.node,
            to,
            incarnation: self.incarnation,
            to_incarnation: self.table.get(to).unwrap_or_default().incarnation,
            epoch: self.epoch,
            round: self.round,
            sequence: self.sequence,
            generation: contact.generation,
            held: if self.ledger.received(to).is_some() { contact.its_generation + 1 } else { 0 },
            beat: self.tick,
            digest: self.digest,
            mask,
            contents,
        };
        let standings = if table { self.standings() } else { Vec::new() };
        let closes: Vec<_> = if table { self.news.closes(self.manifest.news()).collect() } else { Vec::new() };
        let acks = self.news.acks_for(self.task.node, to);
        let beats: Vec<_> = self.beats().collect();
        self.cursor = self.cursor.wrapping_add(BEATS);
        let draft = Draft {
            header,
            standings: &standings,
            closes: &closes,
            beats: &beats,
            acks: &acks,
            row: &self.row,
            mass: self.ledger.sent(to).unwrap_or_default(),
        };
        let mut bytes = Vec::new();
        self.manifest.write(&draft, &mut bytes);
        self.counters.messages += 1;
        self.counters.bytes += bytes.len() as u64;
        effects.push(Effect::Send { to, bytes });
    }

    /// The table, or what a message can carry of it: what has changed of late, then others at random, since no turn that is taken is in step with anything.
    pub(super) fn standings(&self) -> Vec<(u32, Standing)> {
        let changed = |node: u32| self.round < self.contacts[node as usize].told_until;
        let mut standings: Vec<_> = self.table.entries().collect();
        let most = self.manifest.news();
        if standings.len() > most {
            let mut stream = Stream::new(self.task.seed, self.task.node as usize, self.sequence, Purpose::Table);
            let start = stream.below(standings.len());
            standings.rotate_left(start);
            standings.sort_by_key(|(node, _)| !changed(*node));
            standings.truncate(most);
        }
        standings
    }

    /// Signs of life of a few others, in turn.
    pub(super) fn beats(&self) -> impl Iterator<Item = Beat> {
        let members = self.neighbours.members();
        let start = self.cursor % members.len();
        let turn = members[start..].iter().chain(&members[..start]);
        turn.filter(|&&node| node != self.task.node).take(BEATS).filter_map(|&node| {
            let life = self.table.living(node)?.tag() as u32;
            Some(Beat { node, life, count: self.contacts[node as usize].beat })
        })
    }

    /// The edge that the schedule has left alone for longest: what was lost there would else be stranded. Not one after the other: their turns and those of the schedule could keep
    /// in step.
    pub(super) fn idle_edge(&self, used: &[u32]) -> Option<u32> {
        let idle = self.ledger.targets().filter(|target| !used.contains(target));
        idle.min_by_key(|&target| self.contacts[target as usize].mass_sent)
    }
}
