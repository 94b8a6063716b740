//! What a peer holds of another one's pulled scalars: from it, words are completed.

use crate::Scalar;
use crate::peer::ledger::Unit;
use crate::peer::wire::{EncodedChunk, scalars};

/// What became of the words of a message.
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

impl Reading {
    /// What became of two parts of a message together.
    pub(crate) fn and(self, other: Self) -> Self {
        if self == Self::Whole { other } else { self }
    }
}

/// The pulled scalars of a node as its newest applied message has them, in units, chunk by chunk;
/// `None` where nothing is held.
#[derive(Clone, Debug)]
pub(crate) struct Reference(Vec<Option<Vec<i64>>>);

impl Reference {
    /// A node of which nothing is held, whose rows have this many pulled chunks.
    pub(crate) fn new(chunks: usize) -> Self {
        Self(vec![None; chunks])
    }

    /// What is held of a chunk.
    pub(crate) fn units(&self, number: usize) -> &[i64] {
        self.0[number].as_deref().unwrap_or_default()
    }

    /// Holds a chunk in the place of what is held of it, if it can be completed. `spare` is memory
    /// to work in.
    pub(crate) fn hold<T: Scalar>(
        &mut self,
        number: usize,
        encoded: EncodedChunk<'_>,
        unit: Unit,
        spare: &mut Vec<i64>,
    ) -> Reading {
        let place = &mut self.0[number];
        if let EncodedChunk::Full(bytes) = encoded {
            let full: Vec<T> = scalars(bytes).collect();
            let mut units = place.take().unwrap_or_else(|| vec![0; full.len()]);
            *place = unit.all_units(&full, &mut units).then_some(units);
            return Reading::Whole;
        }
        let Some(held) = place else { return Reading::NothingHeld };
        spare.resize(held.len(), 0);
        if !encoded.complete(held, spare) {
            return Reading::Wrong;
        }
        std::mem::swap(held, spare);
        Reading::Whole
    }
}
