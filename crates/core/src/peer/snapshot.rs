//! Snapshots: the whole state of a peer as bytes, to go on in the same life after a crash.
//!
//! A snapshot is a sequence of little-endian words, then the scalars of the agent, then a checksum:
//! run and node, time, life, table, closed edges, seals of both if there are any, edges, ledger,
//! row, memory, contribution.

use std::sync::Arc;

use twox_hash::XxHash3_64;

use super::config::PeerConfig;
use super::ledger::Starvation;
use super::machine::Peer;
use super::membership::{EdgeClosure, Incarnation, MemberState, SealScheme, Unsealed};
use super::policy::SyncMode;
use crate::Scalar;

/// A snapshot that cannot be used: cut off, damaged, or of another run. The node must begin a new
/// life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a saved state that is damaged or belongs to another run: begin a new life instead")]
pub struct Damaged;

impl<T: Scalar> Peer<T> {
    /// Everything that messages depend on.
    ///
    /// Messages that wait to be read are left out: they count as lost on their way, and later ones
    /// make up for them.
    pub(super) fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |word: u64| bytes.extend(word.to_le_bytes());
        [self.config.run, u64::from(self.config.node)].into_iter().for_each(&mut put);
        [self.clock.epoch(), self.clock.round(), self.exchange.sequence(), self.clock.ticks()]
            .into_iter()
            .for_each(&mut put);
        let Incarnation { counter, nonce } = self.membership.incarnation();
        [counter, nonce, self.starvation.rounds(), u64::from(self.clock.has_gathered())].into_iter().for_each(&mut put);
        self.save_membership(&mut put);
        for node in 0..self.format.nodes() as u32 {
            put(self.exchange.inbox(node).applied());
            self.exchange.edge(node).save().into_iter().for_each(&mut put);
            put(u64::from(self.membership.liveness(node).returns()));
        }
        self.ledger.save(&mut put);
        self.local.save(&mut bytes);
        let checksum = XxHash3_64::oneshot(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn save_membership(&self, put: &mut impl FnMut(u64)) {
        let table = self.membership.table();
        put(table.entries().count() as u64);
        for (node, MemberState { incarnation, dead }) in table.entries() {
            [u64::from(node) | u64::from(dead) << 32, incarnation.counter, incarnation.nonce]
                .into_iter()
                .for_each(&mut *put);
        }
        let closures = self.membership.closures();
        put(closures.len() as u64);
        for &EdgeClosure { from, to, life, generation } in &closures {
            [u64::from(from) | u64::from(to) << 32, life, generation].into_iter().for_each(&mut *put);
        }
        for part in self.membership.seals(&closures).chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            put(u64::from_le_bytes(word));
        }
    }

    /// A peer that goes on where a snapshot was taken, in the same life.
    pub fn resume(config: PeerConfig<T>, bytes: &[u8]) -> Result<Self, Damaged> {
        Self::resume_sealed(config, Arc::new(Unsealed), bytes)
    }

    /// The same in a run with seals, by the scheme of that run.
    pub fn resume_sealed(config: PeerConfig<T>, scheme: Arc<dyn SealScheme>, bytes: &[u8]) -> Result<Self, Damaged> {
        let (state, checksum) = bytes.split_at_checked(bytes.len().wrapping_sub(8)).ok_or(Damaged)?;
        if checksum != XxHash3_64::oneshot(state).to_le_bytes() {
            return Err(Damaged);
        }
        let mut words = Words { rest: state };
        if (words.take()?, words.take()?) != (config.run, u64::from(config.node)) {
            return Err(Damaged);
        }
        let [epoch, round, sequence, tick, counter, nonce, starved, gathered] = words.take_all()?;
        let mut peer = Self::sealed(config, scheme, Incarnation { counter, nonce }, round, None);
        peer.clock.restore(epoch, tick, gathered != 0 && !peer.waits_again());
        peer.exchange.restore(sequence);
        peer.write_ahead.resume();
        peer.starvation = Starvation::of(starved);
        peer.restore_membership(&mut words)?;
        peer.restore_edges(&mut words)?;
        peer.ledger.restore(&mut || words.take())?;
        if !peer.local.restore(words.rest) || !peer.ledger.audit() {
            return Err(Damaged);
        }
        peer.exchange.forget_applied(peer.ledger.targets(), &peer.format);
        Ok(peer)
    }

    /// Whether a peer that was held waits again after a crash: where its rounds could go on without
    /// the others.
    fn waits_again(&self) -> bool {
        let policy = &self.config.policy;
        policy.held && policy.sync != (SyncMode::Lockstep { deadline: u64::MAX })
    }

    fn restore_membership(&mut self, words: &mut Words<'_>) -> Result<(), Damaged> {
        let (mut states, mut closures) = (Vec::new(), Vec::new());
        for _ in 0..words.take()? {
            let [node, counter, nonce] = words.take_all()?;
            let state = MemberState { incarnation: Incarnation { counter, nonce }, dead: node >> 32 != 0 };
            states.push((node as u32, state));
        }
        for _ in 0..words.take()? {
            let [edge, life, generation] = words.take_all()?;
            closures.push(EdgeClosure { from: edge as u32, to: (edge >> 32) as u32, life, generation });
        }
        let length = (states.len() + closures.len()) * self.membership.seal_length();
        let mut seals = Vec::new();
        for _ in 0..length.div_ceil(8) {
            seals.extend(words.take()?.to_le_bytes());
        }
        self.membership.restore(&states, &closures, &seals[..length], self.clock.round());
        self.neighbours.set_members(self.membership.members());
        Ok(())
    }

    fn restore_edges(&mut self, words: &mut Words<'_>) -> Result<(), Damaged> {
        let mut returned = Vec::new();
        for node in 0..self.format.nodes() as u32 {
            let (applied, edge, returns) = (words.take()?, words.take_all()?, words.take()?);
            if applied > 0 || edge.iter().any(|&word| word > 0) {
                self.exchange.inbox_mut(node).restore(applied);
                self.exchange.edge_mut(node).restore(edge);
            }
            if returns > 0 {
                returned.push((node, returns as u32));
            }
        }
        self.membership.restore_returns(returned.into_iter(), self.clock.ticks());
        Ok(())
    }
}

/// The words of a snapshot that are not read yet.
struct Words<'a> {
    rest: &'a [u8],
}

impl Words<'_> {
    fn take(&mut self) -> Result<u64, Damaged> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(Damaged)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*word))
    }

    fn take_all<const N: usize>(&mut self) -> Result<[u64; N], Damaged> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.take()?;
        }
        Ok(words)
    }
}
