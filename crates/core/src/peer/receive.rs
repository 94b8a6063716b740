//! Messages that reach a peer.

use super::clock::Phase;
use super::event::Effect;
use super::exchange::Unread;
use super::machine::Peer;
use super::membership::{Belief, Heartbeat, MemberState};
use super::notice::EpochCause;
use super::outgoing::Outgoing;
use super::policy::SyncMode;
use super::wire::{Contents, Header, Intent, Message};
use crate::Scalar;

/// The number of epochs by which one message can lead a peer on. Whoever could lead others to the
/// last epoch that there is would end all of them. A peer that is further behind follows with
/// several messages: one that refused them would never hear the others again.
const MOST_EPOCHS_AHEAD: u64 = 1 << 20;

/// Ticks after a start in which a peer does not follow a single other one to a round far ahead.
const TICKS_WITHOUT_A_SECOND_WITNESS: u64 = 16;

impl<T: Scalar> Peer<T> {
    /// Takes in a message: its gossip always, its scalars and mass if they are current.
    pub(super) fn receive(&mut self, bytes: Vec<u8>, effects: &mut Vec<Effect>) {
        let Ok(message) = self.format.read::<T>(&bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let header = message.header;
        let ours = header.to == self.config.node && header.from != self.config.node;
        if !ours {
            self.counters.malformed += 1;
            return;
        }
        if self.membership.is_expelled(header.from) {
            self.counters.expelled += 1;
            return;
        }
        self.merge_gossip(&message);
        let known = header.digest == self.membership.digest();
        let current = self.is_current(&header);
        // A sender that knows something else and does not say what is behind, or has not told yet.
        let stale = !current || (!known && message.control.member_states().next().is_none());
        self.counters.stale += u64::from(stale);
        if current && self.has_forgotten(&header) {
            self.abandon_forgotten_life();
        } else if current {
            let (receipts, body) = (message.control.receipts().collect(), message.body.clone());
            self.accept(Unread::new(header, receipts, body, bytes));
            self.join_if_under_way(&header, known);
        }
        self.reply(&header, stale, effects);
    }

    /// Merges the gossip of a message, whatever becomes of the rest: knowledge only grows by it.
    fn merge_gossip(&mut self, message: &Message<'_>) {
        self.merge_states(message);
        self.merge_closures(message);
        self.merge_heartbeats(message);
        for ack in message.control.acks() {
            // An acknowledgement of what was never sent would keep an edge open through which
            // nothing comes.
            if self.membership.learn_ack(ack, self.clock.ticks()) && ack.sequence <= self.exchange.sequence() {
                self.exchange.acknowledge(ack.by, ack.sequence);
            }
        }
        if message.control.receipts().any(|receipt| self.has_forgotten_receipt(&receipt)) {
            self.abandon_forgotten_life();
        }
        // In lockstep, when the message is applied: what is sent in a round then follows from
        // rounds alone, and not from when repeated messages came.
        if self.config.policy.sync == SyncMode::Free {
            self.merge_receipts(message.control.receipts());
        }
        self.follow_epoch(&message.header);
    }

    fn merge_states(&mut self, message: &Message<'_>) {
        let from = message.header.from;
        let sender = (from, MemberState::alive(message.header.incarnation));
        // A header has no seal. Whoever it names is a matter of the transport, and what is learned
        // from it could not be passed on.
        let sender = std::iter::once((sender, [].as_slice()));
        for ((node, state), seal) in sender.chain(message.control.member_states().zip(message.control.life_seals())) {
            match self.membership.judge(from, (node, state), seal, self.clock.ticks()) {
                Belief::Nothing => {}
                Belief::Forged => return self.counters.forged += 1,
                Belief::News(state) | Belief::Farewell(state) if node == self.config.node => {
                    self.hear_of_oneself(state);
                }
                Belief::News(state) => self.learn(node, state),
                Belief::Farewell(state) => {
                    self.learn(node, state);
                    self.membership.learn_farewell(node, state);
                }
            }
        }
    }

    /// Refutes what others say of this very peer, if they count it as dead or know a later life.
    fn hear_of_oneself(&mut self, state: MemberState) {
        if self.membership.is_above_own_life(state) {
            self.refute(state.incarnation);
        }
    }

    fn merge_closures(&mut self, message: &Message<'_>) {
        for (closure, seal) in message.control.closures().zip(message.control.closure_seals()) {
            let closure = match self.membership.judge_closure(closure, seal) {
                Belief::News(closure) | Belief::Farewell(closure) => closure,
                Belief::Nothing => continue,
                Belief::Forged => return self.counters.forged += 1,
            };
            let forgotten = self.exchange.knows(closure.to)
                && self.exchange.edge(closure.to).generation() < closure.generation
                && self.membership.is_own(closure);
            if forgotten {
                self.abandon_forgotten_life();
            }
            if self.membership.learn_closure(closure, self.clock.round()) && closure.to == self.config.node {
                self.give_up_before(closure.from, closure.generation);
            }
        }
    }

    fn merge_heartbeats(&mut self, message: &Message<'_>) {
        let (header, now) = (&message.header, self.clock.now());
        let own = Heartbeat { node: header.from, life: header.incarnation.tag() as u32, count: header.beat };
        for heartbeat in std::iter::once(own).chain(message.control.heartbeats()) {
            self.membership.hear(heartbeat, now);
        }
    }

    /// Enters a later epoch of the sender. In lockstep it begins in the sender's round, so that all
    /// peers enter it in the same one.
    fn follow_epoch(&mut self, header: &Header) {
        let epoch = header.epoch.min(self.clock.epoch() + MOST_EPOCHS_AHEAD);
        if epoch > self.clock.epoch() {
            let reached = header.round <= self.clock.round() || self.clock.phase() != Phase::Open;
            if self.config.policy.sync == SyncMode::Free || reached {
                self.enter(epoch, EpochCause::Heard);
            } else {
                self.clock.announce_epoch(header.round, epoch);
            }
        }
    }

    /// Whether a message is of the sender's present life, and of this epoch or one that is coming.
    fn is_current(&self, header: &Header) -> bool {
        self.membership.table().living(header.from) == Some(header.incarnation) && header.epoch >= self.clock.epoch()
    }

    /// Whether the sender holds mass of this life and epoch that this peer does not know of.
    fn has_forgotten(&self, header: &Header) -> bool {
        let ours = self.membership.incarnation() == header.to_incarnation && header.epoch == self.clock.epoch();
        let newest = self.exchange.edge(header.from).generation() + 1;
        let known = header.held < newest || (header.held == newest && self.ledger.sent(header.from).is_some());
        ours && !known
    }

    /// Keeps the scalars and the mass of a current message until the end of the round.
    fn accept(&mut self, mut message: Unread) {
        let header = message.header;
        self.membership.hear_message(header.from, header.incarnation, header.sequence, self.clock.now());
        self.give_up_before(header.from, header.generation);
        self.exchange.inbox_mut(header.from).hear(header.round);
        if header.contents.mass && !self.is_for_this_life(&header) {
            self.counters.stale += 1;
            message.header.contents.mass = false;
        }
        if !message.header.contents.mass && !header.contents.pulled {
            return;
        }
        if self.exchange.inbox(header.from).is_outdated(header.sequence) {
            self.counters.outdated += 1;
            return;
        }
        self.exchange.keep(message, self.config.policy.sync);
        self.catch_up(&header);
    }

    /// Whether mass was sent to this peer's present life, over an edge that its sender has not
    /// closed.
    fn is_for_this_life(&self, header: &Header) -> bool {
        let open = header.generation >= self.exchange.edge(header.from).its_generation();
        self.is_to_this_life(header) && open
    }

    /// Goes on in the round of the others, if this peer is new or has fallen far behind.
    ///
    /// Peers on a ring can be as many rounds apart as there are nodes. Twice that and 16 rounds are
    /// far enough that no peer skips rounds because of a short delay. Two others must be there, or
    /// else one that liked to could lead everybody to the end of the run; where only one is heard
    /// for a while, that one is believed.
    fn catch_up(&mut self, header: &Header) {
        let far = self.clock.round() + 2 * self.format.nodes() as u64 + 16;
        if header.round <= far || header.epoch != self.clock.epoch() {
            return;
        }
        let table = self.membership.table();
        let others = self.exchange.heard().filter(|&(node, _)| node != header.from && table.living(node).is_some());
        let reached = match others.map(|(_, round)| round).max() {
            Some(round) => round.min(header.round),
            None if self.format.nodes() == 2 || self.clock.ticks_since_start() >= TICKS_WITHOUT_A_SECOND_WITNESS => {
                header.round
            }
            None => return,
        };
        if reached > far {
            self.clock.skip_to(reached.min(self.config.policy.rounds));
            self.membership.attach_table(self.clock.round());
        }
    }

    /// Lets a held peer begin when it hears one that has begun. In lockstep both must first know
    /// the same members, since neighbours follow from them.
    fn join_if_under_way(&mut self, header: &Header, known: bool) {
        let begun = header.contents.pulled || header.contents.mass;
        if self.config.policy.held && begun && (known || self.config.policy.sync == SyncMode::Free) {
            self.clock.allow_rounds();
        }
    }

    /// Answers a sender that is behind or calls, and gives a share to one that asks for it.
    fn reply(&mut self, header: &Header, stale: bool, effects: &mut Vec<Effect>) {
        let asks = header.contents.intent == Intent::RequestShare;
        if stale || self.is_call(header) {
            self.answer(header, effects);
        } else if asks && header.epoch == self.clock.epoch() && self.clock.phase() == Phase::Open {
            self.grant_share_once(header.from, effects);
        }
    }

    /// Whether the sender calls the peers together, and must learn that this one hears it.
    fn is_call(&self, header: &Header) -> bool {
        let gathers = self.config.policy.sync != SyncMode::Free || self.clock.phase() == Phase::Gathering;
        gathers && header.contents == Contents::default()
    }

    /// Gives a share to a node that asks for it, at most once in a tick.
    fn grant_share_once(&mut self, asker: u32, effects: &mut Vec<Effect>) {
        if self.exchange.edge_mut(asker).granted.is_first_in(self.clock.ticks()) {
            self.grant_share(asker, effects);
        }
    }

    /// Sends the table to a sender that is behind, at most once in a tick.
    fn answer(&mut self, header: &Header, effects: &mut Vec<Effect>) {
        let tick = self.clock.ticks();
        let is_answer = header.contents.intent == Intent::Answer;
        let may_send = !is_answer && self.clock.phase() != Phase::Unwritten;
        if !may_send || !self.exchange.edge_mut(header.from).answered.is_first_in(tick) {
            return;
        }
        let contents = Contents { intent: Intent::Answer, ..Contents::default() };
        self.send(Outgoing::gossip(header.from, contents, true), effects);
    }
}
