//! The whole state of a peer as bytes, for those that are to go on in the same life after a crash.

use twox_hash::XxHash3_64;

use super::contact::Contact;
use super::membership::{Incarnation, Standing};
use super::message::Close;
use super::policy::Pace;
use super::state::{Peer, Phase, Task};
use crate::Scalar;

/// A state that cannot be gone on with: cut off, damaged, or of another run. The node is then to begin a new life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a saved state that is damaged or belongs to another run: begin a new life instead")]
pub struct Damaged;

impl<T: Scalar> Peer<T> {
    /// Everything that messages depend on. What waits to be read is left out: it counts as lost on its way, and later messages make it good.
    pub(super) fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |word: u64| bytes.extend(word.to_le_bytes());
        for word in [self.task.run, u64::from(self.task.node), self.epoch, self.round, self.sequence, self.tick] {
            put(word);
        }
        for word in [self.incarnation.counter, self.incarnation.nonce, self.starved, u64::from(self.gathered)] {
            put(word);
        }
        put(self.table.entries().count() as u64);
        for (node, Standing { incarnation, dead }) in self.table.entries() {
            put(u64::from(node) | u64::from(dead) << 32);
            put(incarnation.counter);
            put(incarnation.nonce);
        }
        let closes: Vec<Close> = self.news.closes(usize::MAX).collect();
        put(closes.len() as u64);
        for close in closes {
            put(u64::from(close.from) | u64::from(close.to) << 32);
            put(close.life);
            put(close.generation);
        }
        for contact in &self.contacts {
            let Contact { applied, its_generation, generation, acknowledged, closed_at, returns, .. } = *contact;
            let closed = closed_at.map_or(0, |sequence| sequence + 1);
            for word in [applied, its_generation, generation, acknowledged, closed, u64::from(returns)] {
                put(word);
            }
        }
        self.ledger.save(&mut put);
        for scalar in self.row.iter().chain(&self.keep).chain(&self.input) {
            scalar.write(&mut bytes);
        }
        let checksum = XxHash3_64::oneshot(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Goes on where a saved state was, in the same life.
    pub fn resume(task: Task<T>, bytes: &[u8]) -> Result<Self, Damaged> {
        let (state, checksum) = bytes.split_at_checked(bytes.len().wrapping_sub(8)).ok_or(Damaged)?;
        if checksum != XxHash3_64::oneshot(state).to_le_bytes() {
            return Err(Damaged);
        }
        let mut rest = state;
        let mut take = || {
            let (word, after) = rest.split_first_chunk().ok_or(Damaged)?;
            rest = after;
            Ok(u64::from_le_bytes(*word))
        };
        if (take()?, take()?) != (task.run, u64::from(task.node)) {
            return Err(Damaged);
        }
        let [epoch, round, sequence, tick] = [take()?, take()?, take()?, take()?];
        let incarnation = Incarnation { counter: take()?, nonce: take()? };
        let mut peer = Self::new(task, incarnation, round, None);
        (peer.epoch, peer.opened_in, peer.sequence, peer.tick) = (epoch, epoch, sequence, tick);
        // A held peer waits again where its rounds could go on without the others.
        let waits = peer.task.policy.held && peer.task.policy.pace != (Pace::Lockstep { deadline: u64::MAX });
        (peer.starved, peer.gathered) = (take()?, take()? != 0 && !waits);
        for _ in 0..take()? {
            let node = take()?;
            let incarnation = Incarnation { counter: take()?, nonce: take()? };
            peer.table.merge(node as u32, Standing { incarnation, dead: node >> 32 != 0 });
        }
        for _ in 0..take()? {
            let edge = take()?;
            let (from, to) = (edge as u32, (edge >> 32) as u32);
            peer.news.close(Close { from, to, life: take()?, generation: take()? });
        }
        for contact in &mut peer.contacts {
            contact.alive_at = tick;
            [contact.applied, contact.its_generation, contact.generation] = [take()?, take()?, take()?];
            contact.acknowledged = take()?;
            contact.closed_at = take()?.checked_sub(1);
            contact.returns = take()? as u32;
        }
        peer.ledger.restore(&mut take)?;
        let scalars = peer.row.iter_mut().chain(&mut peer.keep).chain(&mut peer.input);
        let mut saved = rest.chunks_exact(T::BYTES);
        for scalar in scalars {
            *scalar = T::read(saved.next().ok_or(Damaged)?);
        }
        if saved.next().is_some() || !peer.ledger.audit() {
            return Err(Damaged);
        }
        peer.table_changed();
        peer.phase = Phase::Unwritten;
        Ok(peer)
    }
}
