//! Automatic step sizes: measured by each agent, agreed on through the largest value seen, and
//! watched over.

use crate::direction::{Direction, Parts, PartsMut, StepSizes};
use crate::{Oracle, Scalar, Smoothness, linalg};

/// Automatic step sizes: agents find them by themselves.
///
/// At the start each agent measures the smoothness of its own functions; the largest over all
/// agents gives the step sizes. From then on, once a period, the largest ‖tᵢ‖² is agreed on. When
/// it exceeds 100 × its best, that is a setback: all agents shorten them, go back to where each was
/// best and restarts the trackers. When there is no new best for five periods the run oscillates:
/// the step sizes are shortened as well, without going back. (Under noise that says nothing, and is
/// not done.) A decision falls due when `agreement` rounds have passed since the values were
/// published, so that all agents take it in the same round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auto {
    agreement: u64,
    period: u64,
    noisy: bool,
}

/// Where [`Auto`] finds its numbers in what agents agree on: the smoothness, then these.
const SETBACKS: usize = Smoothness::LEN;
const WINDOW: usize = SETBACKS + 1;
const LARGEST: usize = SETBACKS + 2;
/// And in what an agent keeps, after two points: the best one and the candidate.
const SCALARS: usize = 4;

impl Auto {
    /// The heavy ball that goes with automatic step sizes, unless gradients are noisy.
    pub const MOMENTUM: f64 = 0.8;
    /// The lengths of the `Max` segments: six norms, the number of setbacks, and (window, largest
    /// ‖tᵢ‖²).
    pub(super) const AGREED: [usize; Smoothness::LEN + 2] = [1, 1, 1, 1, 1, 1, 1, 2];
    const PERIOD: u64 = 60;
    /// How much worse than its best the monitor may become.
    const TOLERANCE: f64 = 100.0;
    /// For how many periods it may fail to find a new best.
    const PATIENCE: f64 = 5.0;

    /// For networks in which information from any agent reaches all within this many rounds (the
    /// connectivity report calls it the spread).
    pub fn new(agreement: u64) -> Self {
        Self { agreement, period: Self::PERIOD.max(3 * agreement), noisy: false }
    }

    pub(super) const fn with_noise(self, noisy: bool) -> Self {
        Self { noisy, ..self }
    }

    pub(super) const fn recovers_within(self) -> u64 {
        2 * self.period
    }

    pub(super) const fn keep(point: usize) -> usize {
        2 * point + SCALARS
    }

    /// Starts an epoch; the first time, that includes measuring.
    pub(super) fn begin<T: Scalar>(
        direction: &dyn Direction<T>,
        at: Parts<'_, T>,
        agreed: &mut [T],
        keep: &mut [T],
        oracle: &mut Oracle<'_, T>,
    ) {
        let guard = Guard::new(at, keep);
        *guard.age = T::zero();
        *guard.window += T::one();
        *guard.least = T::infinity();
        *guard.stale = T::zero();
        if agreed[..SETBACKS].iter().all(num_traits::Zero::is_zero) {
            let (x, y) = direction.solution(oracle.problem.dim(), at.shared);
            let smoothness = Smoothness::measure(oracle, at.own, x, y);
            for (slot, norm) in agreed.iter_mut().zip(smoothness.to_array()) {
                *slot = T::of(norm);
            }
        }
    }

    /// Publishes, decides and counts, each in its round; returns the point to go back to, if that
    /// is due.
    pub(super) fn watch<'k, T: Scalar>(
        self,
        t: Parts<'_, T>,
        now: Parts<'_, T>,
        agreed: &mut [T],
        keep: &'k mut [T],
    ) -> Option<Parts<'k, T>> {
        let mut guard = Guard::new(now, keep);
        if guard.age.is_zero() {
            guard.candidate.copy_from(now);
            let size = linalg::norm_squared(t.shared) + linalg::norm_squared(t.own);
            if agreed[WINDOW] < *guard.window {
                (agreed[WINDOW], agreed[LARGEST]) = (*guard.window, size);
            } else {
                agreed[LARGEST] = agreed[LARGEST].largest(size);
            }
        }
        if *guard.age == T::of(self.agreement as f64) {
            let largest = agreed[LARGEST];
            if !(largest.is_finite() && largest <= T::of(Self::TOLERANCE) * *guard.least) {
                agreed[SETBACKS] += T::one();
                return Some(Parts { shared: guard.best.shared, own: guard.best.own });
            }
            *guard.stale += T::one();
            if largest < *guard.least {
                *guard.least = largest;
                *guard.stale = T::zero();
                guard.best.copy_from(guard.candidate.as_ref());
            } else if !self.noisy && *guard.stale >= T::of(Self::PATIENCE) {
                *guard.stale = T::zero();
                agreed[SETBACKS] += T::one();
            }
        }
        *guard.age += T::one();
        if *guard.age == T::of(self.period as f64) {
            *guard.age = T::zero();
            *guard.window += T::one();
        }
        None
    }

    /// The step sizes of a round: zero before all agents know the largest smoothness.
    pub(super) fn sizes<T: Scalar>(
        self,
        direction: &dyn Direction<T>,
        factor: f64,
        agreed: &[T],
        keep: &[T],
    ) -> StepSizes {
        let [age, window, ..] = keep[keep.len() - SCALARS..] else { unreachable!("the guard's scalars are kept last") };
        if window <= T::one() && age <= T::of(self.agreement as f64) {
            return [0.0; 3];
        }
        let norms = std::array::from_fn(|index| agreed[index].f64());
        let setbacks = agreed[SETBACKS].f64() as i32;
        direction.automatic(&Smoothness::from_array(norms), setbacks).map(|size| size * factor)
    }
}

/// What an agent keeps to be able to go back.
struct Guard<'k, T> {
    best: PartsMut<'k, T>,
    candidate: PartsMut<'k, T>,
    /// Rounds since the current window of the agreement began.
    age: &'k mut T,
    /// The number of the window, over all epochs.
    window: &'k mut T,
    /// The smallest monitor of this epoch so far.
    least: &'k mut T,
    /// Periods since it was found, or since step sizes were shortened.
    stale: &'k mut T,
}

impl<'k, T> Guard<'k, T> {
    fn new(like: Parts<'_, T>, keep: &'k mut [T]) -> Self {
        let (best, rest) = keep.split_at_mut(like.shared.len() + like.own.len());
        let (candidate, scalars) = rest.split_at_mut(best.len());
        let [age, window, least, stale] = scalars else { unreachable!("the guard's scalars are kept last") };
        let parts = |point: &'k mut [T]| {
            let (shared, own) = point.split_at_mut(like.shared.len());
            PartsMut { shared, own }
        };
        Self { best: parts(best), candidate: parts(candidate), age, window, least, stale }
    }
}
