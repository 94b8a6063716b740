//! The ranges of features: smallest and largest value, mean and deviation.

use crate::row::Features;

/// Ranges of each feature of the rows that were added.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    columns: Vec<Moments>,
}

/// What is known of the values of one feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    /// The number of values.
    count: u64,
    /// The smallest value.
    pub(crate) least: f64,
    /// The largest value.
    pub(crate) most: f64,
    /// The mean of the values.
    pub(crate) mean: f64,
    /// The sum of squared distances to the mean.
    squares: f64,
}

impl Ranges {
    /// The ranges of this many features, of no rows so far.
    pub(crate) fn new(features: usize) -> Self {
        Self { columns: vec![Moments::NONE; features] }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, features: Features<'_>) {
        features.for_each(|number, value| self.columns[number].add(value));
    }

    /// What is known of each feature.
    pub(crate) fn columns(&self) -> &[Moments] {
        &self.columns
    }
}

impl Moments {
    const NONE: Self = Self { count: 0, least: f64::INFINITY, most: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 };

    /// Adds a value (Welford 1962: no difference of large sums).
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The standard deviation.
    pub(crate) fn deviation(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values() {
        let mut ranges = Ranges::new(1);
        for value in [1e9 + 1.0, 1e9 + 3.0, 1e9 + 5.0, 1e9 + 7.0] {
            ranges.add(Features::Numbers(&[value]));
        }
        let column = ranges.columns()[0];
        assert_eq!((column.least, column.most, column.mean), (1e9 + 1.0, 1e9 + 7.0, 1e9 + 4.0));
        assert!((column.deviation() - 5.0_f64.sqrt()).abs() < 1e-12, "{}", column.deviation());
    }
}
