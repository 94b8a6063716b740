//! Estimators: what an agent takes for its direction when each round shows only a sample of it.

use super::StepsError;
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Oracle, Problem, ProblemExt, Scalar};

/// How the samples of successive rounds become one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Estimator {
    /// The gradient of the round's sample itself, without any estimate.
    #[default]
    Sample,
    /// SAGA: `g = dₛ(v) − tableₛ + mean(table)`, where the table holds the last sample of each
    /// mini-batch s, from zeros (Defazio, Bach, Lacoste-Julien: *SAGA*, NeurIPS 2014; over networks
    /// Qureshi, Xin, Kar, Khan: *Push-SAGA*, IEEE Control Systems Letters 2021). With one batch it
    /// is the sample.
    Saga,
    /// Recursive momentum: `g⁺ = d(v⁺; ξ) + (1 − β)(g − d(v; ξ))` with one sample ξ at both points
    /// (Cutkosky, Orabona: *Momentum-based variance reduction in non-convex SGD*, NeurIPS 2019).
    /// With β = 1 it is the sample.
    Recursive {
        /// The weight β of the new sample, in (0, 1].
        momentum: f64,
    },
}

impl Estimator {
    /// Scalars that the tables of all agents together may have: some gigabytes.
    const LARGEST_TABLES: usize = 500_000_000;

    /// Whether an agent can keep what it needs.
    pub(super) fn check<T: Scalar>(self, problem: &dyn Problem<T>, width: usize) -> Result<(), StepsError> {
        let batches = problem.most_batches();
        let small = self != Self::Saga
            || batches.saturating_mul(width).saturating_mul(problem.agents()) <= Self::LARGEST_TABLES;
        if small { Ok(()) } else { Err(StepsError::Table { batches, width }) }
    }

    /// The number of scalars kept, for directions of this width and this number of mini-batches.
    pub(super) fn keep(self, width: usize, batches: usize) -> usize {
        match self {
            Self::Sample => 0,
            Self::Saga => (batches + 2) * width, // the table, its mean, the sample
            Self::Recursive { .. } => 3 * width, // the last point, the sample there, the new one
        }
    }

    /// Writes the estimate at a point over the last one; the private part is always the sample.
    pub(super) fn eval<T: Scalar>(
        self,
        direction: &dyn Direction<T>,
        at: Parts<'_, T>,
        oracle: &mut Oracle<'_, T>,
        d: PartsMut<'_, T>,
        keep: &mut [T],
    ) {
        let width = at.shared.len();
        match self {
            Self::Sample => direction.eval(at, oracle, d),
            Self::Saga => {
                let (sample, table) = keep.split_at_mut(width);
                let (mean, table) = table.split_at_mut(width);
                let share = T::of(1.0 / oracle.problem.batches(oracle.agent) as f64);
                let entry = &mut table[oracle.problem.batch(oracle.agent, oracle.round) * width..][..width];
                direction.eval(at, oracle, PartsMut { shared: sample, own: d.own });
                for (((d, mean), entry), &sample) in d.shared.iter_mut().zip(mean).zip(entry).zip(&*sample) {
                    let change = sample - *entry;
                    *d = change + *mean;
                    *mean += share * change;
                    *entry = sample;
                }
            }
            Self::Recursive { momentum } => {
                let (before, samples) = keep.split_at_mut(width);
                let (there, here) = samples.split_at_mut(width);
                let last = Parts { shared: before, own: at.own };
                direction.eval(last, oracle, PartsMut { shared: there, own: &mut *d.own });
                direction.eval(at, oracle, PartsMut { shared: here, own: &mut *d.own });
                let kept = T::of(1.0 - momentum);
                for ((d, &here), &there) in d.shared.iter_mut().zip(&*here).zip(&*there) {
                    *d = here + kept * (*d - there);
                }
                before.copy_from_slice(at.shared);
            }
        }
    }

    /// Writes the first estimate of an epoch.
    pub(super) fn begin<T: Scalar>(
        self,
        direction: &dyn Direction<T>,
        at: Parts<'_, T>,
        oracle: &mut Oracle<'_, T>,
        d: PartsMut<'_, T>,
        keep: &mut [T],
    ) {
        keep.fill(T::zero());
        if let Self::Recursive { .. } = self {
            keep[..at.shared.len()].copy_from_slice(at.shared);
            direction.eval(at, oracle, d);
        } else {
            self.eval(direction, at, oracle, d, keep);
        }
    }
}
