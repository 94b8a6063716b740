//! What moves a point: a direction, and the step rule that says how far.

use std::ops::Range;

use super::auto::WatchedAgent;
use super::step_rule::StepRule;
use super::{StepPlan, Steps, StepsError};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, Smoothness};

/// A direction with its step rule, as every pattern has one.
pub struct Mover<T> {
    direction: Box<dyn Direction<T>>,
    pub(super) rule: StepRule,
}

impl<T: Scalar> Mover<T> {
    /// This direction with these step sizes, for this problem.
    pub(super) fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let rule = StepRule::new(problem, &direction, steps)?;
        Ok(Self { direction: Box::new(direction), rule })
    }

    /// The same for patterns whose recursion is not that of the trials: agents mix once a step.
    pub(super) fn without_trials(self) -> Self {
        Self { rule: self.rule.without_trials(), ..self }
    }

    /// The same for patterns whose step sizes must not change on the way.
    pub(super) fn with_given_sizes(self) -> Result<Self, StepsError> {
        if self.rule.is_automatic() { Err(StepsError::NotAutomatic) } else { Ok(self.without_trials()) }
    }

    /// The same for patterns in which agents take no step alone.
    pub(super) fn with_every_exchange(self) -> Result<Self, StepsError> {
        if self.rule.exchange_every() > 1 { Err(StepsError::AloneMethod) } else { Ok(self) }
    }

    /// The direction along which it moves.
    pub(super) fn direction(&self) -> &dyn Direction<T> {
        &*self.direction
    }

    /// The parts of the shared point.
    pub(super) fn blocks(&self) -> &Blocks {
        self.rule.blocks()
    }

    /// The number of scalars of the shared point.
    pub(super) fn width(&self) -> usize {
        self.rule.blocks().width()
    }

    /// The row of an agent: what its pattern exchanges, what agents agree on, and this many private
    /// coordinates.
    pub(super) fn row(&self, exchanged: impl IntoIterator<Item = Segment>, own: usize) -> Segments {
        let private = Segment::new(SegmentKind::Private, own);
        Segments::new(exchanged.into_iter().chain(self.rule.segments()).chain([private]))
    }

    /// What an agent keeps if its pattern needs this many vectors as wide as a point.
    pub(super) fn keep(&self, vectors: usize, own: usize) -> usize {
        vectors * self.width() + own + self.rule.keep(self.width() + own)
    }

    /// Divides what an agent keeps: the pattern's vectors, the private direction, the step rule's.
    pub(super) fn kept<'k, const N: usize>(&self, keep: &'k mut [T], own: usize) -> Kept<'k, T, N> {
        let (mut vectors, rest) = keep.split_at_mut(N * self.width());
        let (d_own, rule) = rest.split_at_mut(own);
        let vectors = std::array::from_fn(|_| {
            let (first, others) = std::mem::take(&mut vectors).split_at_mut(self.width());
            vectors = others;
            first
        });
        Kept { vectors, d_own, rule }
    }

    /// Starts an epoch at a point.
    pub(super) fn begin(&self, at: Parts<'_, T>, agreed: &mut [T], keep: &mut [T], oracle: &mut Oracle<'_, T>) {
        self.rule.begin(&*self.direction, at, agreed, keep, oracle);
    }

    /// Watches over a run with automatic step sizes: the point to go back to, if that is due.
    pub(super) fn guard<'k>(
        &self,
        agent: WatchedAgent<'_, T>,
        agreed: &mut [T],
        keep: &'k mut [T],
    ) -> Option<Parts<'k, T>> {
        self.rule.guard(agent, &*self.direction, agreed, keep)
    }

    /// Whether it is time to go back, and if so, moves the point to where that leads. The agent is
    /// told by its tracker t and its own direction d.
    pub(super) fn goes_back(
        &self,
        round: u64,
        (t, d): (Parts<'_, T>, &[T]),
        v: &mut PartsMut<'_, T>,
        agreed: &mut [T],
        keep: &mut [T],
    ) -> bool {
        match self.guard(WatchedAgent { round, t, d, now: v.as_ref() }, agreed, keep) {
            Some(best) => v.copy_from(best),
            None => return false,
        }
        true
    }

    /// `v −= η t`, block by block.
    pub(super) fn descend(&self, round: u64, t: Parts<'_, T>, v: &mut PartsMut<'_, T>, agreed: &[T], keep: &mut [T]) {
        self.rule.descend(round, &*self.direction, t, v, agreed, keep);
    }

    /// Carries out these gradient steps of a round, of which there are as many as an exchange has:
    /// each sees samples of its own.
    pub(super) fn take_steps(
        &self,
        steps: Range<u64>,
        oracle: &mut Oracle<'_, T>,
        mut step: impl FnMut(&mut Oracle<'_, T>),
    ) {
        let round = oracle.round;
        for number in steps {
            oracle.round = round * self.rule.exchange_every() + number;
            step(oracle);
        }
        oracle.round = round;
    }

    /// Writes the direction at a point.
    pub(super) fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, d: PartsMut<'_, T>) {
        self.direction.eval(at, oracle, d);
    }

    /// What agents with automatic step sizes decide for these norms.
    pub(super) fn step_plan(&self, smoothness: &Smoothness) -> Option<StepPlan> {
        self.rule.decide(&*self.direction, smoothness)
    }

    /// The step size of the first block that moves in a round; none before it is decided.
    pub(super) fn step_size(&self, round: u64, agreed: &[T], keep: &[T]) -> Option<f64> {
        self.rule.step_size(round, &*self.direction, agreed, keep)
    }

    /// The number of rounds within which a divergence is undone.
    pub(super) fn recovers_within(&self) -> u64 {
        self.rule.recovers_within()
    }
}

/// What an agent keeps, divided.
pub(super) struct Kept<'k, T, const N: usize> {
    /// The vectors of the pattern.
    pub(super) vectors: [&'k mut [T]; N],
    /// The private part of the direction.
    pub(super) d_own: &'k mut [T],
    /// What the step rule keeps.
    pub(super) rule: &'k mut [T],
}
