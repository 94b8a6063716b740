//! The step rule: how far an agent moves along its direction, in each round and block.

use std::ops::Range;

use super::auto::WatchedAgent;
use super::rest::Rest;
use super::step_plan::{Acceleration, MixingPlan, StepPlan};
use super::steps::StepChoice;
use super::{Auto, StepDecay, Steps, StepsError};
use crate::direction::{Direction, MOST_BLOCKS, Parts, PartsMut, StepSizes};
use crate::{Blocks, Mask, Oracle, Problem, Scalar, Segment, SegmentKind, Smoothness, linalg};

/// Step sizes resolved against the blocks of a direction: the part of a method that moves points.
#[derive(Clone, Debug)]
pub(super) struct StepRule {
    blocks: Blocks,
    ranges: Vec<Range<usize>>,
    /// The step size of each block, as given; zeros if the agents find them.
    sizes: Vec<f64>,
    schedule: StepDecay,
    momentum: f64,
    mixing: MixingPlan,
    /// The rounds at the end in which agents mix only.
    rest: Option<Rest>,
    auto: Option<Auto>,
    /// The number of inner rounds of a double loop.
    inner_rounds: Option<u64>,
    /// The number of gradient steps for each exchange.
    exchange_every: u64,
    spans: Vec<Range<usize>>,
}

impl StepRule {
    pub(super) fn new<T: Scalar>(
        problem: &dyn Problem<T>,
        direction: &dyn Direction<T>,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        steps.check_alone()?;
        let blocks = direction.blocks(problem.dim());
        let count = blocks.names().count();
        let (sizes, auto) = match steps.sizes {
            StepChoice::Same(size) => (vec![size; count], None),
            StepChoice::Each(each) => (resolve(&blocks, &each)?, None),
            StepChoice::Auto(auto) => {
                let auto = auto.for_problem(problem);
                (vec![0.0; count], Some(steps.momentum.into_iter().fold(auto, Auto::with_momentum)))
            }
        };
        if auto.is_some() && count > MOST_BLOCKS {
            return Err(StepsError::Blocks { count, most: MOST_BLOCKS });
        }
        if let Some(&value) = sizes.iter().find(|size| !size.is_finite() || **size < 0.0) {
            return Err(StepsError::Value { value });
        }
        if auto.is_some() && steps.inner_rounds.is_some() {
            return Err(StepsError::NotAutomatic);
        }
        let momentum = steps.momentum.unwrap_or_default();
        if !(0.0..1.0).contains(&momentum) {
            return Err(StepsError::Momentum { value: momentum });
        }
        let ranges: Vec<Range<usize>> = blocks.ranges().collect();
        let (outer, width) = (ranges[0].end, blocks.width());
        Ok(Self {
            spans: if steps.inner_rounds.is_some() { vec![0..outer, outer..width] } else { vec![0..width] },
            ranges,
            blocks,
            sizes,
            schedule: steps.schedule,
            momentum,
            mixing: steps.mixing,
            rest: steps.rest_from.map(Rest::from),
            auto,
            inner_rounds: steps.inner_rounds,
            exchange_every: steps.exchange_every,
        })
    }

    /// The same for methods whose recursion is not that of the trials: agents mix once a step.
    pub(super) fn without_trials(self) -> Self {
        Self { auto: self.auto.map(Auto::without_trials), mixing: MixingPlan::default(), ..self }
    }

    /// Whether the agents find step sizes themselves.
    pub(super) fn is_automatic(&self) -> bool {
        self.auto.is_some()
    }

    /// The number of gradient steps for each exchange.
    pub(super) fn exchange_every(&self) -> u64 {
        self.exchange_every
    }

    /// How agents mix between two gradient steps, as far as it is decided.
    pub(super) fn mixing<T: Scalar>(&self, keep: &[T]) -> MixingPlan {
        match self.auto {
            Some(_) => Auto::plan(keep).map_or(MixingPlan::default(), |plan| plan.mixing),
            None => self.mixing,
        }
    }

    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The parts of a point that are exchanged at different times: one, or in a double loop the
    /// first block and the others.
    pub(super) fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// What a round exchanges, for rows that begin with the segments of
    /// [`StepRule::spans`], `times` times.
    pub(super) fn sends(&self, round: u64, times: usize) -> Mask {
        match self.is_inner(round) {
            None => Mask::ALL,
            Some(inner) => Mask::of((0..times).map(|time| 2 * time + usize::from(inner))),
        }
    }

    /// Whether a round of a double loop belongs to the inner loop.
    fn is_inner(&self, round: u64) -> Option<bool> {
        self.inner_rounds.map(|inner| round % (inner + 1) < inner)
    }

    /// What agents must agree on to move in the same way.
    pub(super) fn segments(&self) -> impl Iterator<Item = Segment> {
        let lengths = self.auto.as_ref().map_or(&[][..], Auto::agreed);
        lengths.iter().map(|&len| Segment::new(SegmentKind::Max, len))
    }

    /// The number of scalars of [`StepRule::segments`].
    pub(super) fn agreed(&self) -> usize {
        self.segments().map(|segment| segment.len).sum()
    }

    /// What is kept for points of this width, private coordinates included.
    pub(super) fn keep(&self, point: usize) -> usize {
        self.velocity(point) + self.accelerated() + self.auto.as_ref().map_or(0, |auto| auto.keep(point))
    }

    /// Starts an epoch at a point.
    pub(super) fn begin<T: Scalar>(
        &self,
        direction: &dyn Direction<T>,
        at: Parts<'_, T>,
        agreed: &mut [T],
        keep: &mut [T],
        oracle: &mut Oracle<'_, T>,
    ) {
        let (velocity, rest) = keep.split_at_mut(self.velocity(at.shared.len() + at.own.len()));
        let (accelerated, guard) = rest.split_at_mut(self.accelerated());
        velocity.fill(T::zero());
        accelerated.fill(T::zero());
        if self.auto.is_some() {
            Auto::begin(direction, at, agreed, guard, oracle);
        }
    }

    /// Watches over a run with automatic step sizes: the point to go back to, if that is due.
    pub(super) fn guard<'k, T: Scalar>(
        &self,
        agent: WatchedAgent<'_, T>,
        direction: &dyn Direction<T>,
        agreed: &mut [T],
        keep: &'k mut [T],
    ) -> Option<Parts<'k, T>> {
        let auto = self.auto.as_ref()?;
        let point = agent.now.shared.len() + agent.now.own.len();
        let before = self.velocity(point) + self.accelerated();
        auto.watch(agent, (direction, &self.ranges), agreed, &mut keep[before..])
    }

    /// `v −= η t`, block by block; with heavy ball the velocity m = β m + t takes the place of t.
    pub(super) fn descend<T: Scalar>(
        &self,
        round: u64,
        direction: &dyn Direction<T>,
        t: Parts<'_, T>,
        v: &mut PartsMut<'_, T>,
        agreed: &[T],
        keep: &mut [T],
    ) {
        let (velocity, guard) = keep.split_at_mut(self.velocity(v.shared.len() + v.own.len()));
        let automatic = self.auto.as_ref().map(|_| Auto::motion(direction, round, agreed, guard));
        let momentum = automatic.map_or(self.momentum, |(momentum, _)| momentum);
        let size = self.sizes(round, automatic.map(|(_, sizes)| sizes));
        if momentum > 0.0 {
            let (m, m_own) = velocity.split_at_mut(v.shared.len());
            accelerate(T::of(momentum), t.shared, m);
            accelerate(T::of(momentum), t.own, m_own);
            self.advance(size, Parts { shared: m, own: m_own }, v);
        } else {
            self.advance(size, t, v);
        }
    }

    /// The same for one block, with given step sizes: the others keep their places and velocities.
    pub(super) fn descend_block<T: Scalar>(
        &self,
        (round, block): (u64, usize),
        t: Parts<'_, T>,
        v: &mut PartsMut<'_, T>,
        keep: &mut [T],
    ) {
        let (size, beta) = (T::of(-self.sizes(round, None)(block)), T::of(self.momentum));
        let mut advance = |v: &mut [T], t: &[T], place: Range<usize>| {
            let along = if self.momentum > 0.0 {
                accelerate(beta, t, &mut keep[place.clone()]);
                &keep[place]
            } else {
                t
            };
            linalg::add_scaled(v, size, along);
        };
        let (range, shared) = (self.ranges[block].clone(), v.shared.len());
        advance(&mut v.shared[range.clone()], &t.shared[range.clone()], range);
        if block == 0 {
            advance(v.own, t.own, shared..shared + t.own.len());
        }
    }

    /// The step size of a block, as it was given.
    pub(super) fn given_size(&self, block: usize) -> f64 {
        self.sizes[block]
    }

    fn advance<T: Scalar>(&self, size: impl Fn(usize) -> f64, t: Parts<'_, T>, v: &mut PartsMut<'_, T>) {
        for (block, range) in self.ranges.iter().enumerate() {
            linalg::add_scaled(&mut v.shared[range.clone()], T::of(-size(block)), &t.shared[range.clone()]);
        }
        linalg::add_scaled(v.own, T::of(-size(0)), t.own);
    }

    /// What agents with automatic step sizes decide for these norms; none if step sizes are given.
    pub(super) fn decide<T: Scalar>(&self, direction: &dyn Direction<T>, smoothness: &Smoothness) -> Option<StepPlan> {
        self.auto.as_ref().map(|auto| auto.decide(direction, smoothness))
    }

    /// The step size of the first block that moves in a round; none before it is decided.
    pub(super) fn step_size<T: Scalar>(
        &self,
        round: u64,
        direction: &dyn Direction<T>,
        agreed: &[T],
        keep: &[T],
    ) -> Option<f64> {
        let automatic = self.auto.as_ref().map(|_| Auto::motion(direction, round, agreed, keep).1);
        let size = self.sizes(round, automatic);
        (0..self.ranges.len()).map(size).find(|size| *size > 0.0)
    }

    /// The number of rounds within which a divergence is undone.
    pub(super) fn recovers_within(&self) -> u64 {
        self.auto.as_ref().map_or(0, Auto::recovers_within)
    }

    /// Whether agents that mix like this move at the end of a round.
    pub(super) fn moves(&self, round: u64, mixing: &MixingPlan) -> bool {
        mixing.moves(round) && !self.rest.is_some_and(|rest| rest.includes(round))
    }

    /// The step size of each block in a round, from the automatic ones if there are any.
    fn sizes(&self, round: u64, automatic: Option<StepSizes>) -> impl Fn(usize) -> f64 {
        let (inner, falling) = (self.is_inner(round), self.schedule.factor(round));
        let calming = self.rest.map_or(1.0, |rest| rest.factor(round));
        move |block| match inner {
            Some(inner) if inner == (block == 0) => 0.0,
            _ => automatic.map_or(self.sizes[block], |sizes| sizes[block]) * falling * calming,
        }
    }

    /// Accelerates what a mixing has made of points of this width, and of trackers.
    pub(super) fn accelerate<T: Scalar>(
        &self,
        round: u64,
        before: [&[T]; 2],
        mixed: [&mut [T]; 2],
        point: usize,
        keep: &mut [T],
    ) {
        let mixing = self.mixing(keep);
        mixing.accelerate(round, before, mixed, &mut keep[self.velocity(point)..][..self.accelerated()]);
    }

    /// The scalars that acceleration needs: as many as points and trackers have, and whether the
    /// present block of mixings was remembered from its beginning.
    fn accelerated(&self) -> usize {
        let given = self.mixing.acceleration != Acceleration::Plain;
        let wanted = self.auto.as_ref().map_or(given, Auto::may_accelerate);
        if wanted { 1 + 2 * self.blocks.width() } else { 0 }
    }

    fn velocity(&self, point: usize) -> usize {
        let wanted = self.auto.as_ref().map_or(self.momentum > 0.0, Auto::may_have_momentum);
        if wanted { point } else { 0 }
    }
}

/// `m = β m + t`.
fn accelerate<T: Scalar>(beta: T, t: &[T], m: &mut [T]) {
    for (m, &t) in m.iter_mut().zip(t) {
        *m = beta * *m + t;
    }
}

fn resolve(blocks: &Blocks, each: &[(String, f64)]) -> Result<Vec<f64>, StepsError> {
    let known = || blocks.names().collect::<Vec<_>>().join(", ");
    if let Some((name, _)) = each.iter().find(|(name, _)| blocks.range(name).is_none()) {
        return Err(StepsError::Unknown { name: name.clone(), known: known() });
    }
    let size = |name| each.iter().find(|(given, _)| given == name).map(|&(_, size)| size);
    blocks.names().map(|name| size(name).ok_or_else(|| StepsError::Missing { name, known: known() })).collect()
}

#[cfg(test)]
mod tests;
