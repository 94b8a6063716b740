//! The halo of a shard: rows of agents outside it.

use crate::Scalar;

/// The rows that agents outside a shard sent, and the rounds they are for.
#[derive(Clone, Debug)]
pub(crate) struct Halo<T> {
    width: usize,
    /// Where an agent's row is, once one has arrived.
    slots: Vec<Option<u32>>,
    /// The round that each row is for.
    rounds: Vec<u64>,
    rows: Vec<T>,
}

impl<T: Scalar> Halo<T> {
    /// For rows of this width from any of these agents; none at all for a shard that holds
    /// everyone.
    pub(crate) fn new(agents: usize, width: usize) -> Self {
        Self { width, slots: vec![None; agents], rounds: Vec::new(), rows: Vec::new() }
    }

    /// Whether there are no agents outside the shard.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn receive(&mut self, agent: usize, round: u64, row: &[T]) {
        let slot = *self.slots[agent].get_or_insert_with(|| {
            self.rounds.push(round);
            self.rows.resize(self.rows.len() + self.width, T::zero());
            self.rounds.len() as u32 - 1
        }) as usize;
        self.rounds[slot] = round;
        self.rows[slot * self.width..][..self.width].copy_from_slice(row);
    }

    pub(crate) fn has(&self, agent: usize, round: u64) -> bool {
        self.slots[agent].is_some_and(|slot| self.rounds[slot as usize] == round)
    }

    pub(crate) fn row(&self, agent: usize) -> &[T] {
        let slot = self.slots[agent].expect("arrivals are checked before a round") as usize;
        &self.rows[slot * self.width..][..self.width]
    }
}
