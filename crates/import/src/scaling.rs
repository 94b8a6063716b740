//! Scaling of features: none unless it is asked for.

use serde::{Deserialize, Serialize};

use crate::ranges::Ranges;

/// How features are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScalingKind {
    /// Not at all.
    None,
    /// Each feature to the range from 0 to 1.
    Range,
    /// Each feature to mean 0 and standard deviation 1.
    Standard,
}

/// `(value − offset)·factor` for each feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FeatureScaling {
    /// What the numbers were computed for.
    pub(crate) kind: ScalingKind,
    /// What is subtracted from each feature; empty without scaling.
    offset: Vec<f64>,
    /// By what the difference is multiplied.
    factor: Vec<f64>,
}

impl FeatureScaling {
    /// The scaling that the ranges of the rows to train with ask for. A feature that never changes
    /// becomes 0.
    pub(crate) fn of(kind: ScalingKind, ranges: &Ranges) -> Self {
        let inverse = |length: f64| if length > 0.0 { 1.0 / length } else { 0.0 };
        let (offset, factor) = match kind {
            ScalingKind::None => (Vec::new(), Vec::new()),
            ScalingKind::Range => {
                let columns = ranges.columns().iter();
                columns.map(|column| (column.least, inverse(column.most - column.least))).unzip()
            }
            ScalingKind::Standard => {
                let columns = ranges.columns().iter();
                columns.map(|column| (column.mean, inverse(column.deviation()))).unzip()
            }
        };
        Self { kind, offset, factor }
    }

    /// A feature after scaling.
    pub(crate) fn apply(&self, feature: usize, value: f64) -> f64 {
        match self.kind {
            ScalingKind::None => value,
            _ => (value - self.offset[feature]) * self.factor[feature],
        }
    }

    /// Whether it has numbers for this many features.
    pub(crate) fn fits(&self, features: usize) -> bool {
        self.kind == ScalingKind::None || (self.offset.len() == features && self.factor.len() == features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Features;

    #[test]
    fn features_are_scaled_one_by_one() {
        let mut ranges = Ranges::new(2);
        for row in [[1.0, 7.0], [3.0, 7.0]] {
            ranges.add(Features::Numbers(&row));
        }
        let scaled = |kind, value| {
            let scaling = FeatureScaling::of(kind, &ranges);
            [scaling.apply(0, value), scaling.apply(1, 7.0)]
        };
        assert_eq!(scaled(ScalingKind::None, 3.0), [3.0, 7.0]);
        assert_eq!(scaled(ScalingKind::Range, 3.0), [1.0, 0.0]);
        assert_eq!(scaled(ScalingKind::Standard, 3.0), [1.0, 0.0]);
        assert_eq!(scaled(ScalingKind::Standard, 1.0), [-1.0, 0.0]);
    }
}
