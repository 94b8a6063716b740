//! AdaSDBO: step sizes from accumulated norms.

use super::mover::Kept;
use super::steps::StepChoice;
use super::{Agent, Algorithm, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut, Soba};
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, linalg};

/// SOBA's directions, each divided by the norm of all that came before it, which agents average:
/// our reading of AdaSDBO (arXiv 2510.24288), from the recursion of one agent as public code has it
/// (S-TFBO); how agents average is as recalled.
///
/// ```text
/// α² = W α² + ‖d_x‖²      β² = W β² + ‖d_y‖²      γ² = W γ² + ‖d_v‖²      φ = max(β, γ)
/// x⁺ = W (x − d_x/(αφ))      y⁺ = W (y − d_y/β)      v⁺ = W (v − d_v/φ)
/// ```
/// Nothing needs to be tuned; given step sizes are factors, 1 if none are given. Agents have no
/// tracker: where their data differ, the norms go on growing, and convergence is as slow as with
/// step sizes that fall as 1/√k. Needs links both ways with symmetric weights.
pub struct Adaptive<T> {
    mover: Mover<T>,
    /// The square of what every norm starts at.
    start: T,
}

/// The accumulated norms, of x, y and v.
const NORMS: usize = 3;

impl<T: Scalar> Adaptive<T> {
    /// SOBA with these factors of its step sizes, for this problem.
    pub fn new(problem: &dyn Problem<T>, direction: Soba, steps: Steps, start: f64) -> Result<Self, StepsError> {
        let sizes = match steps.sizes {
            StepChoice::Auto(_) => StepChoice::Same(1.0),
            given => given,
        };
        let mover = Mover::new(problem, direction, Steps { sizes, ..steps })?.without_trials().with_every_exchange()?;
        Ok(Self { mover, start: T::of(start * start) })
    }

    /// Reads what every norm starts at.
    pub(super) fn read_start(keys: &mut SettingsReader<'_>) -> f64 {
        keys.number("norm_start", 1.0, POSITIVE, "what every accumulated norm starts at")
    }

    /// Evaluates the direction at v, adds its norms, and goes ahead along what they make of it.
    fn go_ahead(
        &self,
        round: u64,
        mut ahead: PartsMut<'_, T>,
        norms: &mut [T],
        (d, d_own, rule): (&mut [T], &mut [T], &mut [T]),
        oracle: &mut Oracle<'_, T>,
    ) {
        self.mover.eval(ahead.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        for (norm, range) in norms.iter_mut().zip(self.mover.blocks().ranges()) {
            *norm += linalg::norm_squared(&d[range]);
        }
        norms[0] += linalg::norm_squared(d_own);
        let [alpha, beta, gamma] = [0, 1, 2].map(|block| norms[block].sqrt());
        let phi = beta.largest(gamma);
        for (size, range) in [alpha * phi, beta, phi].into_iter().zip(self.mover.blocks().ranges()) {
            linalg::scale(&mut d[range], T::one() / size);
        }
        linalg::scale(d_own, T::one() / (alpha * phi));
        self.mover.descend(round, Parts { shared: d, own: d_own }, &mut ahead, &[], rule);
    }
}

impl<T: Scalar> Algorithm<T> for Adaptive<T> {
    fn direction(&self) -> &dyn Direction<T> {
        self.mover.direction()
    }

    fn mover(&self) -> Option<&Mover<T>> {
        Some(&self.mover)
    }

    fn blocks(&self) -> &Blocks {
        self.mover.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        self.mover.row([self.mover.width(), NORMS].map(|len| Segment::new(SegmentKind::Pull, len)), own)
    }

    fn keep(&self, own: usize) -> usize {
        self.mover.keep(2, own)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, .. }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.mover.width());
        let (ahead, rest) = row.split_at_mut(shared.len());
        let (norms, row_own) = rest.split_at_mut(NORMS);
        let Kept { vectors: [v, d], d_own, rule } = self.mover.kept(keep, own.len());
        v.copy_from_slice(shared);
        ahead.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        norms.fill(self.start);
        self.mover.begin(Parts { shared, own }, &mut [], rule, oracle);
        self.go_ahead(oracle.round, PartsMut { shared: ahead, own: row_own }, norms, (d, d_own, rule), oracle);
    }

    fn step(&self, Agent { next, keep, .. }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let (mixed, rest) = next.split_at_mut(self.mover.width()); // = v⁺
        let (norms, own) = rest.split_at_mut(NORMS);
        let Kept { vectors: [v, d], d_own, rule } = self.mover.kept(keep, own.len());
        v.copy_from_slice(mixed);
        self.go_ahead(oracle.round + 1, PartsMut { shared: mixed, own }, norms, (d, d_own, rule), oracle);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.mover.width()], row, out);
    }
}
