//! What a peer holds of another one's pulled scalars: from it, words are completed.

use crate::Scalar;
use crate::peer::ledger::Unit;
use crate::peer::wire::{CHUNK, Chunk, EncodedChunk, scalars};

/// What becomes of the words of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// They are completed to what their sender says.
    Whole,
    /// Nothing is held from which they could be completed: this peer has begun anew.
    NothingHeld,
    /// What they are completed to is not what their sender says. Bounds exclude that, unless a disk
    /// has forgotten what it reported as safe.
    Wrong,
}

/// The pulled scalars of a node as its newest applied message has them, in units.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// By place in a row; places of other segments stay 0.
    units: Vec<i64>,
    /// Whether anything is held, chunk by chunk.
    held: Vec<bool>,
}

impl Reference {
    /// A node of which nothing is held: rows have this many shared scalars, in these chunks.
    pub(crate) fn new(shared: usize, chunks: &[Chunk]) -> Self {
        Self { units: vec![0; shared], held: vec![false; chunks.len()] }
    }

    /// The scalars of a chunk that has come as words, in units.
    pub(crate) fn units(&self, chunk: &Chunk) -> &[i64] {
        &self.units[chunk.place.clone()]
    }

    /// Whether words can be completed from what is held.
    pub(crate) fn read(&self, number: usize, chunk: &Chunk, words: EncodedChunk<'_>) -> Reading {
        match self.held[number] {
            false => Reading::NothingHeld,
            true if words.is_completed_by(self.units(chunk)) => Reading::Whole,
            true => Reading::Wrong,
        }
    }

    /// Holds a chunk that can be read.
    pub(crate) fn hold<T: Scalar>(&mut self, number: usize, chunk: &Chunk, encoded: EncodedChunk<'_>, unit: Unit) {
        let held = &mut self.units[chunk.place.clone()];
        if let EncodedChunk::Full(bytes) = encoded {
            self.held[number] = held.iter_mut().zip(scalars::<T>(bytes)).fold(true, |all, (held, scalar)| {
                let units = unit.units(scalar);
                *held = units.unwrap_or_default();
                all & units.is_some()
            });
        } else {
            let mut numbers = [0; CHUNK];
            let numbers = &mut numbers[..held.len()];
            encoded.complete_mass(held, numbers);
            held.copy_from_slice(numbers);
        }
    }
}
