//! Whether a setback halves step sizes, and when they are doubled again.

use crate::Scalar;

/// Decides whether a setback halves step sizes, and when they are doubled again.
///
/// A sudden setback after a quiet time is taken for a disturbance: agents go back, and try the same
/// step sizes once more. Step sizes that were halved are doubled again when there is a new best
/// after such a time, which is a try as well. If the next setback comes before the time is over,
/// the step sizes are too long: they are halved, and the quiet time becomes twice as long. If it
/// does not, the quiet time becomes half as long.
pub(super) struct Recovery<'k, T> {
    /// Periods since the last setback or try.
    quiet: &'k mut T,
    /// The binary logarithm of the quiet time, beyond that of [`Recovery::FIRST`].
    patience: &'k mut T,
    /// Whether the last change was a try.
    tries: &'k mut T,
}

impl<'k, T: Scalar> Recovery<'k, T> {
    /// The scalars that are kept.
    pub(super) const LEN: usize = 3;
    /// The first quiet time, in periods.
    const FIRST: f64 = 4.0;
    /// The shortest one.
    const SHORTEST: f64 = 2.0;

    pub(super) fn new(keep: &'k mut [T]) -> Self {
        let [quiet, patience, tries] = keep else { unreachable!("a recovery keeps three scalars") };
        Self { quiet, patience, tries }
    }

    /// Counts a period without a setback.
    pub(super) fn go_on(&mut self) {
        *self.quiet += T::one();
    }

    /// Whether there was a quiet time.
    pub(super) fn is_quiet(&self) -> bool {
        *self.quiet >= T::of(self.quiet_time())
    }

    /// Begins a try, after a quiet time.
    pub(super) fn begin_try(&mut self) {
        if !self.tries.is_zero() && self.quiet_time() > Self::SHORTEST {
            *self.patience -= T::one();
        }
        *self.quiet = T::zero();
        *self.tries = T::one();
    }

    /// Takes note of a setback; returns whether step sizes are too long.
    pub(super) fn set_back(&mut self, sudden: bool) -> bool {
        if sudden && self.is_quiet() {
            self.begin_try();
            return false;
        }
        *self.patience += *self.tries;
        *self.quiet = T::zero();
        *self.tries = T::zero();
        true
    }

    fn quiet_time(&self) -> f64 {
        Self::FIRST * self.patience.f64().exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of periods until the next try, which is begun.
    fn periods_until_try(keep: &mut [f64]) -> usize {
        let mut recovery = Recovery::new(keep);
        let periods = (0..1000)
            .take_while(|_| {
                let quiet = recovery.is_quiet();
                recovery.go_on();
                !quiet
            })
            .count();
        recovery.begin_try();
        periods
    }

    #[test]
    fn tries_come_sooner_while_they_succeed_and_later_after_each_that_fails() {
        let mut keep = [0.0; 3];
        assert!(Recovery::new(&mut keep).set_back(true));
        assert_eq!(std::array::from_fn(|_| periods_until_try(&mut keep)), [4, 4, 2, 2]);
        assert!(Recovery::new(&mut keep).set_back(true));
        assert_eq!(periods_until_try(&mut keep), 4);
        assert!(Recovery::new(&mut keep).set_back(true));
        assert_eq!(periods_until_try(&mut keep), 8);
    }

    #[test]
    fn a_sudden_setback_after_a_quiet_time_is_a_disturbance_unless_another_follows() {
        let mut keep = [0.0; 3];
        let mut recovery = Recovery::new(&mut keep);
        (0..4).for_each(|_| recovery.go_on());
        assert!(!recovery.set_back(true));
        assert!(recovery.set_back(true));
        assert_eq!(periods_until_try(&mut keep), 8);
    }

    #[test]
    fn a_setback_that_comes_slowly_is_no_disturbance() {
        let mut keep = [0.0; 3];
        let mut recovery = Recovery::new(&mut keep);
        (0..10).for_each(|_| recovery.go_on());
        assert!(recovery.set_back(false));
    }

    #[test]
    fn only_a_setback_right_after_a_try_makes_the_quiet_time_longer() {
        let mut keep = [0.0; 3];
        (0..5).for_each(|_| assert!(Recovery::new(&mut keep).set_back(true)));
        assert_eq!(periods_until_try(&mut keep), 4);
    }
}
