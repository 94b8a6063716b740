//! What can be seen of a peer from outside.

use std::time::Duration;

use super::config::PeerConfig;
use super::counters::Counters;
use super::ledger::Ledger;
use super::machine::Peer;
use super::membership::{Incarnation, Table};
use super::notice::Notice;
use crate::{Costs, Scalar, Timer};

impl<T: Scalar> Peer<T> {
    /// The node that this peer is.
    pub fn node(&self) -> u32 {
        self.config.node
    }

    /// The incarnation of its present life.
    pub fn incarnation(&self) -> Incarnation {
        self.membership.incarnation()
    }

    /// The epoch in which it is.
    pub fn epoch(&self) -> u64 {
        self.clock.epoch()
    }

    /// The number of rounds that are done.
    pub fn round(&self) -> u64 {
        self.clock.round()
    }

    /// Its ledger of mass.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What it knows of all nodes.
    pub fn table(&self) -> &Table {
        self.membership.table()
    }

    /// The number of times that it has closed its edge to a node in its present life.
    pub fn generation(&self, to: u32) -> u64 {
        self.exchange.edge(to).generation()
    }

    /// The number of times that a node has closed its edge to this one, as far as is known.
    pub fn its_generation(&self, from: u32) -> u64 {
        self.exchange.edge(from).its_generation()
    }

    /// The number of messages that wait for the end of the round.
    pub fn unread(&self) -> usize {
        self.exchange.unread()
    }

    /// The number of things that it keeps to pass them on: closed edges, acknowledgements, receipts
    /// and seals.
    pub fn rumours(&self) -> usize {
        self.membership.rumours()
    }

    /// How often things have happened.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Takes what it has noticed since this was last called, each with its round. The newest are
    /// kept.
    pub fn take_notices(&mut self) -> impl Iterator<Item = (u64, Notice)> {
        self.notices.take()
    }

    /// Measures from now on how long evaluations of its functions take, with a clock that is
    /// handed in.
    pub fn time_evaluations(&mut self, now: Timer) {
        self.local.time_evaluations(now);
    }

    /// The time that evaluations have taken since they are measured.
    pub fn evaluation_time(&self) -> Duration {
        self.local.work().time()
    }

    /// The step size of the first block in its present round; none before it is decided, or where
    /// a method has none.
    pub fn step_size(&self) -> Option<f64> {
        self.local.step_size(self.clock.round())
    }

    /// Its row, as it is sent next.
    pub fn row(&self) -> &[T] {
        self.local.row()
    }

    /// What its algorithm keeps between rounds outside the row.
    pub fn keep(&self) -> &[T] {
        self.local.memory()
    }

    /// What it contributes to pushed segments.
    pub fn input(&self) -> &[T] {
        self.local.contribution()
    }

    /// The bytes of its state: rows, memory, contribution and ledger.
    pub fn state_bytes(&self) -> usize {
        self.local.bytes() + self.ledger.bytes()
    }

    /// A hash of its round, its row and its memory, which differs if a single bit does.
    pub fn fingerprint(&self) -> u64 {
        self.local.fingerprint(self.clock.round())
    }

    /// The distance by which mixing moved the pulled segments in the round before the last
    /// checkpoint, in the Euclidean norm: how far its neighbours were away.
    pub fn disagreement(&self) -> f64 {
        self.local.disagreement()
    }

    /// Whether it has begun with its rounds, or may.
    pub fn has_begun(&self) -> bool {
        self.clock.has_gathered()
    }

    /// The round in which this peer was when it last had a sign of life of a node, in its present
    /// life and from messages that it accepted: directly or through others.
    pub fn heard_in(&self, node: u32) -> Option<u64> {
        self.membership.liveness(node).heard_in()
    }

    /// The latest round in which a node was, as far as its own messages say.
    pub fn round_of(&self, node: u32) -> u64 {
        if self.exchange.knows(node) { self.exchange.inbox(node).round() } else { 0 }
    }

    /// Whether a node has announced its departure to this peer.
    pub fn has_left(&self, node: u32) -> bool {
        self.membership.liveness(node).has_left()
    }

    /// The nodes whose messages it uses in this round.
    pub fn sources(&mut self) -> impl Iterator<Item = u32> {
        self.sources_in(self.clock.round())
    }

    /// The nodes whose messages it uses in a round, among the members that it counts now.
    pub fn sources_in(&mut self, round: u64) -> impl Iterator<Item = u32> {
        self.neighbours.at(round).sources.iter().map(|(source, _)| *source)
    }

    /// The nodes of which messages were used, each with the round of the last one.
    pub fn used_in(&self) -> impl Iterator<Item = (u32, u64)> {
        self.exchange.used_in()
    }

    /// The number of rounds since the source that has been silent for longest was heard.
    pub fn pull_age(&mut self) -> u64 {
        let round = self.clock.round();
        let sources = &self.neighbours.at(round).sources;
        let ages = sources.iter().map(|(source, _)| round.saturating_sub(self.exchange.inbox(*source).applied_in()));
        ages.max().unwrap_or(0)
    }

    /// The mass on edges that do not answer, by receiver, in the Euclidean norm.
    pub fn parked(&self) -> impl Iterator<Item = (u32, f64)> {
        let (tick, patience) = (self.clock.ticks(), self.config.policy.unreachable_after);
        self.exchange.unanswered(self.ledger.targets(), tick, patience).map(|node| {
            let sums = self.ledger.sent(node).unwrap_or_default();
            (node, sums.iter().map(|&units| self.config.unit.scalar::<f64>(units).powi(2)).sum::<f64>().sqrt())
        })
    }

    /// What this peer object has spent, over all its incarnations.
    pub fn costs(&self) -> Costs {
        let Counters { bytes, scalar_bytes, .. } = self.counters;
        Costs { bytes, scalar_bytes, evaluations: self.local.work().evaluations }
    }

    /// The problem, the method and the rest of its configuration.
    pub fn config(&self) -> &PeerConfig<T> {
        &self.config
    }
}
