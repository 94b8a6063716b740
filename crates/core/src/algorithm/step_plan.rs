//! How agents step and mix: what automatic step sizes decide, and what users can give by hand.

use super::tracker::Tracker;
use crate::settings::SettingsReader;
use crate::{Scalar, linalg};

/// How often agents mix between two gradient steps, and in which way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixingPlan {
    /// The number of mixings for each step. A round is one of them.
    pub mixings: u64,
    /// Whether a step uses the tracker from before or after the last mixing.
    pub order: Tracker,
    /// What the mixings between two gradient steps amount to.
    pub acceleration: Acceleration,
}

impl Default for MixingPlan {
    fn default() -> Self {
        Self { mixings: 1, order: Tracker::default(), acceleration: Acceleration::default() }
    }
}

impl MixingPlan {
    /// What users can choose; none if they choose nothing.
    pub(super) fn read(keys: &mut SettingsReader<'_>) -> Option<Self> {
        let mixings = keys.optional_whole("steps.mixings", 1.., "mixings for each step; a round is one of them");
        let about = "a step uses the tracker from before the last mixing, or from after it";
        let order = keys.optional_choice("steps.order", &Tracker::NAMES, about);
        let kinds = [
            ("plain", Acceleration::Plain),
            ("window", Acceleration::Window),
            ("chebyshev", Acceleration::Chebyshev { second: 0.0 }),
        ];
        let about = "what the mixings of a step amount to: the last of them, their mean, or on a graph that \
                     does not change their Chebyshev polynomial";
        let acceleration = keys.optional_choice("steps.gossip", &kinds, about);
        let chosen = mixings.is_some() || order.is_some() || acceleration.is_some();
        chosen.then(|| Self {
            mixings: mixings.unwrap_or(1),
            order: order.unwrap_or_default(),
            acceleration: acceleration.unwrap_or_default(),
        })
    }

    /// The place of a round in its block of mixings, from 0; the step is at the end of the last.
    pub(super) fn place(&self, round: u64) -> u64 {
        round % self.mixings
    }

    /// Changes what a mixing has made of points and trackers, where that is accelerated. `memory`
    /// stays with the agent: whether it has seen the block from its beginning, and as many scalars
    /// as points and trackers have.
    pub(super) fn accelerate<T: Scalar>(&self, round: u64, before: [&[T]; 2], mixed: [&mut [T]; 2], memory: &mut [T]) {
        let Some((whole, memories)) = memory.split_first_mut() else { return };
        if self.place(round) == 0 {
            *whole = T::one();
        } else if whole.is_zero() {
            // The block began before the epoch: nothing is remembered of it.
            return;
        }
        let memories = memories.chunks_mut(before[0].len().max(1));
        for ((before, mixed), memory) in before.into_iter().zip(mixed).zip(memories) {
            self.acceleration.apply(self.place(round), self.mixings, before, mixed, memory);
        }
    }

    /// Whether agents move at the end of this round.
    pub(super) fn moves(&self, round: u64) -> bool {
        self.place(round) + 1 == self.mixings
    }
}

/// What becomes of the mixed values between two gradient steps. Exchanges are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Acceleration {
    /// The last mixing counts: `A^K v` and `B^K t`.
    #[default]
    Plain,
    /// The mean of all of them: `(A + A² + … + A^K) v / K`. It damps what rotates.
    Window,
    /// The Chebyshev polynomial of the mixing matrix, for a graph that does not change:
    /// `p₁ = M p₀`, `pⱼ₊₁ = ω(M pⱼ − pⱼ₋₁) + pⱼ₋₁`.
    Chebyshev {
        /// The second largest absolute value of an eigenvalue of the mixing matrix.
        second: f64,
    },
}

impl Acceleration {
    /// The factor ω of each mixing of a block, given that of the one before.
    pub(super) fn factor(self, place: u64, before: f64) -> f64 {
        match (self, place) {
            (Self::Chebyshev { second }, 1) => 1.0 / (1.0 - second * second / 2.0),
            (Self::Chebyshev { second }, 2..) => 1.0 / (1.0 - second * second * before / 4.0),
            _ => 1.0,
        }
    }

    /// The factor ω of a mixing of a block, from the beginning of the block.
    fn factor_at(self, place: u64) -> f64 {
        (1..=place).fold(1.0, |before, place| self.factor(place, before))
    }

    /// Changes what a mixing has made of values; `memory` stays with the agent during a block.
    pub(super) fn apply<T: Scalar>(self, place: u64, mixings: u64, before: &[T], mixed: &mut [T], memory: &mut [T]) {
        match self {
            Self::Plain => {}
            Self::Window if place == 0 => memory.copy_from_slice(mixed),
            Self::Window => linalg::add(memory, mixed),
            Self::Chebyshev { .. } if place == 0 => memory.copy_from_slice(before),
            Self::Chebyshev { .. } => {
                let factor = T::of(self.factor_at(place));
                for ((mixed, memory), &before) in mixed.iter_mut().zip(&mut *memory).zip(before) {
                    *mixed = factor * (*mixed - *memory) + *memory;
                    *memory = before;
                }
            }
        }
        if self == Self::Window && place + 1 == mixings {
            let share = T::of(1.0 / mixings as f64);
            mixed.iter_mut().zip(memory).for_each(|(mixed, sum)| *mixed = share * *sum);
        }
    }
}

/// What agents with automatic step sizes have decided, all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepPlan {
    /// How often agents mix for each step.
    pub mixing: MixingPlan,
    /// The heavy ball β.
    pub momentum: f64,
    /// The step sizes of x, u and z in dFAB, with the factor 1 − β; other directions convert them.
    pub sizes: [f64; 3],
    /// The rounds for a factor of e that the trial has shown, for a problem of moderate condition:
    /// infinitely many if no plan converged, 0 if there was no trial.
    pub rounds: f64,
}

impl StepPlan {
    /// Whether this is the fallback after trials in which no plan has converged.
    pub fn is_fallback(&self) -> bool {
        self.rounds.is_infinite()
    }

    /// The same for gradients with this noise, in proportion to their mean. The squared distance at
    /// which noise keeps agents from the solution grows with the step size and the square of the
    /// noise: so shortened, it is no farther than where they start.
    pub(super) fn under_noise(self, noise: f64) -> Self {
        Self { sizes: self.sizes.map(|size| size * noise.powi(-2).min(1.0)), ..self }
    }

    /// The number of scalars in which an agent keeps a plan.
    pub(super) const LEN: usize = 9;

    /// Writes the plan into what an agent keeps.
    pub(super) fn store<T: Scalar>(&self, keep: &mut [T]) {
        let MixingPlan { mixings, order, acceleration } = self.mixing;
        let (kind, second) = match acceleration {
            Acceleration::Plain => (0.0, 0.0),
            Acceleration::Window => (1.0, 0.0),
            Acceleration::Chebyshev { second } => (2.0, second),
        };
        let [x, u, z] = self.sizes;
        let scalars = [
            mixings as f64,
            f64::from(u8::from(order == Tracker::AddThenMix)),
            kind,
            second,
            self.momentum,
            x,
            u,
            z,
            self.rounds,
        ];
        keep.iter_mut().zip(scalars).for_each(|(slot, scalar)| *slot = T::of(scalar));
    }

    /// Reads the plan from what an agent keeps; none before it was written.
    pub(super) fn load<T: Scalar>(keep: &[T]) -> Option<Self> {
        let scalars: [f64; Self::LEN] = std::array::from_fn(|place| keep[place].f64());
        let [mixings, later, kind, second, momentum, x, u, z, rounds] = scalars;
        let acceleration = match kind {
            1.0 => Acceleration::Window,
            2.0 => Acceleration::Chebyshev { second },
            _ => Acceleration::Plain,
        };
        let order = if later == 1.0 { Tracker::AddThenMix } else { Tracker::MixThenAdd };
        let mixing = MixingPlan { mixings: mixings as u64, order, acceleration };
        (mixings >= 1.0).then_some(Self { mixing, momentum, sizes: [x, u, z], rounds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_stored_also_in_single_precision() {
        let chebyshev = Acceleration::Chebyshev { second: 0.75 };
        for acceleration in [Acceleration::Plain, Acceleration::Window, chebyshev] {
            for order in [Tracker::MixThenAdd, Tracker::AddThenMix] {
                let mixing = MixingPlan { mixings: 13, order, acceleration };
                let plan = StepPlan { mixing, momentum: 0.5, sizes: [0.25, 0.125, 2.0], rounds: f64::INFINITY };
                let mut keep = [0.0f32; StepPlan::LEN];
                assert_eq!(StepPlan::load(&keep), None);
                plan.store(&mut keep);
                assert_eq!(StepPlan::load(&keep), Some(plan));
            }
        }
    }

    /// Blocks of the mixing `M = diag(λ)`: the window is the mean of powers, and the Chebyshev
    /// polynomial is at most one within [−σ, σ], divided by its value at 1.
    #[test]
    fn accelerations_are_the_polynomials_that_they_are_named_after() {
        let (mixings, second) = (7u64, 0.9f64);
        let run = |acceleration: Acceleration, eigenvalue: f64| {
            let (mut value, mut memory) = ([1.0], [0.0]);
            for place in 0..mixings {
                let (before, mut mixed) = (value, value.map(|value| eigenvalue * value));
                acceleration.apply(place, mixings, &before, &mut mixed, &mut memory);
                value = mixed;
            }
            value[0]
        };
        for eigenvalue in [-0.9f64, -0.3, 0.2, 0.65, 0.9, 1.0] {
            let powers: f64 = (1..=7).map(|power| eigenvalue.powi(power)).sum::<f64>() / 7.0;
            assert!((run(Acceleration::Window, eigenvalue) - powers).abs() < 1e-14);
            assert!((run(Acceleration::Plain, eigenvalue) - eigenvalue.powi(7)).abs() < 1e-14);
            let polynomial = |x: f64| if x.abs() <= 1.0 { (7.0 * x.acos()).cos() } else { (7.0 * x.acosh()).cosh() };
            let expected = polynomial(eigenvalue / second) / polynomial(1.0 / second);
            let found = run(Acceleration::Chebyshev { second }, eigenvalue);
            assert!((found - expected).abs() < 1e-9, "{eigenvalue}: {found} instead of {expected}");
        }
    }

    #[test]
    fn agents_move_at_the_end_of_every_block() {
        let plan = MixingPlan { mixings: 3, ..MixingPlan::default() };
        let moves: Vec<bool> = (0..7).map(|round| plan.moves(round)).collect();
        assert_eq!(moves, [false, false, true, false, false, true, false]);
    }
}
