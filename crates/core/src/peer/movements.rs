//! How far the pulled scalars of a row have moved: words must tell them apart, and be fine beside
//! what changes.

use std::collections::VecDeque;

/// The movement of one pulled chunk, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Movement {
    /// The sum over all rounds of the largest movement of a scalar.
    pub(crate) total: u128,
    /// The part of that sum of the last rounds.
    pub(crate) lately: u64,
}

/// The movements of all pulled chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Movements {
    totals: Vec<u128>,
    /// The totals before each of the last rounds, the oldest first.
    earlier: VecDeque<Vec<u128>>,
}

impl Movements {
    /// The last rounds: as many as lie between two uses of an edge on one-peer exponential graphs
    /// of up to 65,536 agents.
    const LATELY: usize = 16;

    /// Adds the movements of a round, chunk by chunk.
    pub(crate) fn add(&mut self, moved: impl ExactSizeIterator<Item = u64>) {
        self.totals.resize(moved.len(), 0);
        let oldest = if self.earlier.len() < Self::LATELY { None } else { self.earlier.pop_front() };
        let mut before = oldest.unwrap_or_default();
        before.clone_from(&self.totals);
        self.earlier.push_back(before);
        self.totals.iter_mut().zip(moved).for_each(|(total, moved)| *total += u128::from(moved));
    }

    /// The movement of a chunk; none of one whose movements are not added.
    pub(crate) fn get(&self, chunk: usize) -> Movement {
        let of = |totals: &Vec<u128>| totals.get(chunk).copied().unwrap_or(0);
        let (total, before) = (of(&self.totals), self.earlier.front().map_or(0, of));
        Movement { total, lately: u64::try_from(total - before).unwrap_or(u64::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_moved_lately_is_the_sum_of_the_last_rounds() {
        let mut movements = Movements::default();
        assert_eq!(movements.get(1), Movement::default());
        let moved: Vec<u64> = (1..=40).map(|round| round * round).collect();
        for round in 1..=moved.len() {
            movements.add([0, moved[round - 1]].into_iter());
            let first = round.saturating_sub(Movements::LATELY);
            let total: u64 = moved[..round].iter().sum();
            let expected = Movement { total: total.into(), lately: moved[first..round].iter().sum() };
            assert_eq!((movements.get(0), movements.get(1)), (Movement::default(), expected), "round {round}");
            assert_eq!(movements.get(2), Movement::default());
        }
        assert_eq!(movements.earlier.len(), Movements::LATELY);
    }
}
