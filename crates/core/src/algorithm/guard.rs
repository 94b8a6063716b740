//! What an agent with automatic step sizes keeps, to be able to go back.

use super::progress::Progress;
use super::recovery::Recovery;
use super::step_plan::StepPlan;
use crate::Scalar;
use crate::direction::{Parts, PartsMut};

/// What an agent keeps to be able to go back.
pub(super) struct Guard<'k, T> {
    /// How far it has come, where gradients may be noisy.
    pub(super) progress: Option<Progress<'k, T>>,
    pub(super) best: PartsMut<'k, T>,
    pub(super) candidate: PartsMut<'k, T>,
    /// What was decided, in the form of [`StepPlan::store`].
    pub(super) plan: &'k mut [T],
    /// Rounds since the current window of the agreement began.
    pub(super) age: &'k mut T,
    /// The number of the window, over all epochs.
    pub(super) window: &'k mut T,
    /// The smallest monitor of this epoch so far.
    pub(super) least: &'k mut T,
    /// The first monitor of this epoch.
    pub(super) first: &'k mut T,
    /// Periods since the smallest one was found.
    pub(super) stale: &'k mut T,
    /// How often step sizes were halved when the window began. Agents that run freely hear what
    /// others have decided before they decide themselves, and must not decide it once more.
    pub(super) halvings: &'k mut T,
    /// How many of them were because there was no new best: step sizes are not doubled beyond.
    needed: &'k mut T,
    recovery: Recovery<'k, T>,
}

impl<'k, T: Scalar> Guard<'k, T> {
    /// The number of periods since the last best up to which a setback counts as sudden.
    const SUDDEN: f64 = 2.0;
    /// How much worse than its best the monitor may become.
    const TOLERANCE: f64 = 100.0;
    /// The part of the first monitor up to which it may grow again in any case: where f is not
    /// convex, agents pass saddle points, at which gradients are small for a while.
    const LEFT: f64 = 0.01;
    /// How often step sizes are halved because there is no new best.
    const FRUITLESS: u64 = 3;
    /// The scalars that are kept beside points.
    pub(super) const LEN: usize = StepPlan::LEN + 7 + Recovery::<f64>::LEN;

    pub(super) fn new(like: Parts<'_, T>, keep: &'k mut [T]) -> Self {
        let point = like.shared.len() + like.own.len();
        let (progress, keep) = keep.split_at_mut(keep.len() - 2 * point - Self::LEN);
        let (best, rest) = keep.split_at_mut(point);
        let (candidate, rest) = rest.split_at_mut(best.len());
        let (plan, scalars) = rest.split_at_mut(StepPlan::LEN);
        let [age, window, least, first, stale, halvings, needed, recovery @ ..] = scalars else {
            unreachable!("the guard's scalars are kept last")
        };
        let recovery = Recovery::new(recovery);
        let parts = |point: &'k mut [T]| {
            let (shared, own) = point.split_at_mut(like.shared.len());
            PartsMut { shared, own }
        };
        let progress = (!progress.is_empty()).then(|| Progress::new(like, progress));
        Self {
            progress,
            best: parts(best),
            candidate: parts(candidate),
            plan,
            age,
            window,
            least,
            first,
            stale,
            halvings,
            needed,
            recovery,
        }
    }

    /// The largest monitor that is no setback, given the present one.
    pub(super) fn bearable(&mut self, monitor: T) -> T {
        if self.first.is_infinite() {
            *self.first = monitor;
        }
        (T::of(Self::TOLERANCE) * *self.least).largest(T::of(Self::LEFT) * *self.first)
    }

    /// Takes note of a setback, in the agreement on (window, number of halvings).
    pub(super) fn set_back(&mut self, agreed: &mut [T]) {
        if self.recovery.set_back(*self.stale <= T::of(Self::SUDDEN)) {
            self.halve(T::one(), agreed);
        }
    }

    /// Takes note of a period without a setback, in the same agreement.
    pub(super) fn go_on(&mut self, monitor: T, agreed: &mut [T]) {
        self.recovery.go_on();
        if monitor >= *self.least {
            *self.stale += T::one();
            return;
        }
        *self.stale = T::zero();
        self.best.copy_from(self.candidate.as_ref());
        if monitor.is_zero() {
            return; // The agents have arrived: longer step sizes have nothing to gain.
        }
        *self.least = monitor;
        if self.recovery.is_quiet() && *self.halvings > *self.needed {
            self.recovery.begin_try();
            self.halve(-T::one(), agreed);
        }
    }

    /// Halves step sizes because there was no new best for this number of times the patience of
    /// agents; if that does not help, there is none to be found, and it is undone.
    pub(super) fn get_unstuck(&mut self, times: u64, agreed: &mut [T]) {
        let change = match times {
            ..=Self::FRUITLESS => T::one(),
            times if times == Self::FRUITLESS + 1 => -T::of(Self::FRUITLESS as f64),
            _ => T::zero(),
        };
        *self.needed += change;
        self.halve(change, agreed);
    }

    fn halve(&self, times: T, agreed: &mut [T]) {
        publish(agreed, *self.window, (*self.halvings + times).largest(T::zero()));
    }
}

/// Publishes a number for a window of the agreement: a newer window counts more, and within one the
/// largest number does.
pub(super) fn publish<T: Scalar>(agreed: &mut [T], window: T, number: T) {
    let [newest, largest] = agreed else { unreachable!("a window and its number are agreed on together") };
    if *newest < window {
        (*newest, *largest) = (window, number);
    } else {
        *largest = largest.largest(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an agent knows after these numbers were agreed on, one a period: the smallest one,
    /// periods since then, and how often step sizes were halved.
    fn after(monitors: &[f64]) -> (f64, f64, f64) {
        let at = Parts { shared: &[1.0], own: &[] };
        let (mut keep, mut agreed) = (vec![0.0; Guard::<f64>::LEN + 2], [0.0; 2]);
        *Guard::new(at, &mut keep).least = f64::INFINITY;
        *Guard::new(at, &mut keep).halvings = 1.0;
        for &monitor in monitors {
            let mut guard = Guard::new(at, &mut keep);
            *guard.window += 1.0;
            guard.go_on(monitor, &mut agreed);
            if agreed[0] == *guard.window {
                *guard.halvings = agreed[1];
            }
        }
        let guard = Guard::new(at, &mut keep);
        (*guard.least, *guard.stale, *guard.halvings)
    }

    #[test]
    fn growth_counts_beyond_a_hundred_times_the_best_and_a_hundredth_of_the_first() {
        let at = Parts { shared: &[1.0], own: &[] };
        let mut keep = vec![0.0; Guard::<f64>::LEN + 2];
        let mut guard = Guard::new(at, &mut keep);
        (*guard.least, *guard.first) = (f64::INFINITY, f64::INFINITY);
        assert_eq!(guard.bearable(4.0), f64::INFINITY, "there is no best before the first");
        for (least, limit) in [(4.0, 400.0), (1e-3, 0.1), (1e-9, 0.04), (0.0, 0.04)] {
            *guard.least = least;
            assert_eq!(guard.bearable(1.0), limit, "after a best of {least}");
        }
    }

    #[test]
    fn agents_that_have_arrived_neither_wait_for_a_new_best_nor_try_longer_step_sizes() {
        assert_eq!(after(&[4.0, 2.0, 0.0, 0.0, 0.0, 0.0]), (2.0, 0.0, 1.0));
        assert_eq!(after(&[4.0, 2.0, 3.0, 3.0]), (2.0, 2.0, 1.0), "no new best");
        assert_eq!(after(&[6.0, 5.0, 4.0, 3.0, 2.0]), (2.0, 0.0, 0.0), "step sizes grow after a quiet time");
    }
}
