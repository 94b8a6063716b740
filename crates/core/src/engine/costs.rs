//! What a run costs.

use std::ops::AddAssign;

use crate::Evaluations;

/// What agents have spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The bytes that were sent.
    pub bytes: u64,
    /// Those of them that were scalars and mass, with their guards.
    pub scalar_bytes: u64,
    /// How often functions were evaluated.
    pub evaluations: Evaluations,
}

impl AddAssign for Costs {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.scalar_bytes += other.scalar_bytes;
        self.evaluations += other.evaluations;
    }
}

impl std::iter::Sum for Costs {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        all.for_each(|costs| sum += costs);
        sum
    }
}
