//! Pace: how far an agent moves along its direction, in each round and block.

use std::ops::Range;

use super::steps::Given;
use super::{Auto, Schedule, Steps, StepsError};
use crate::direction::{Direction, Parts, PartsMut, Sizes};
use crate::{Blocks, Kind, Mask, Oracle, Problem, Scalar, Segment, linalg};

/// Steps resolved against the blocks of a direction: the part of a method that moves points.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    blocks: Blocks,
    ranges: Vec<Range<usize>>,
    sizes: Sizes,
    schedule: Schedule,
    momentum: f64,
    auto: Option<Auto>,
    /// Rounds of a double loop's inner loop.
    inner_rounds: Option<u64>,
    spans: Vec<Range<usize>>,
}

impl Pace {
    pub(super) fn new<T: Scalar>(
        problem: &dyn Problem<T>,
        direction: &dyn Direction<T>,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let blocks = direction.blocks(problem.dim());
        let (sizes, auto) = match steps.sizes {
            Given::Same(size) => ([size; 3], None),
            Given::Each(each) => (resolve(&blocks, &each)?, None),
            Given::Auto(auto) => ([0.0; 3], Some(auto.with_noise(problem.noisy()))),
        };
        if let Some(&value) = sizes.iter().find(|size| !size.is_finite() || **size < 0.0) {
            return Err(StepsError::Value { value });
        }
        if auto.is_some() && steps.inner_rounds.is_some() {
            return Err(StepsError::NotAutomatic);
        }
        let unless_given = if auto.is_some() && !problem.noisy() { Auto::MOMENTUM } else { 0.0 };
        let momentum = steps.momentum.unwrap_or(unless_given);
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
            auto,
            inner_rounds: steps.inner_rounds,
        })
    }

    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The parts of a point that are exchanged at different times: one, or in a double loop the first block and the others.
    pub(super) fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// What a round exchanges, for rows whose first segments are so many times the [`Pace::spans`].
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

    /// What agents must agree on to keep the same pace.
    pub(super) fn segments(&self) -> impl Iterator<Item = Segment> {
        let lengths = self.auto.map_or(&[][..], |_| &Auto::AGREED);
        lengths.iter().map(|&len| Segment::new(Kind::Max, len))
    }

    /// The scalars of [`Pace::segments`].
    pub(super) fn agreed(&self) -> usize {
        self.segments().map(|segment| segment.len).sum()
    }

    /// What is kept for points of this width, private coordinates included.
    pub(super) fn keep(&self, point: usize) -> usize {
        self.velocity(point) + self.auto.map_or(0, |_| Auto::keep(point))
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
        let (velocity, guard) = keep.split_at_mut(self.velocity(at.shared.len() + at.own.len()));
        velocity.fill(T::zero());
        if self.auto.is_some() {
            Auto::begin(direction, at, agreed, guard, oracle);
        }
    }

    /// Watches over a run with automatic steps: the point to go back to, if that is due.
    pub(super) fn guard<'k, T: Scalar>(
        &self,
        t: Parts<'_, T>,
        now: Parts<'_, T>,
        agreed: &mut [T],
        keep: &'k mut [T],
    ) -> Option<Parts<'k, T>> {
        let auto = self.auto.as_ref()?;
        auto.watch(t, now, agreed, &mut keep[self.velocity(now.shared.len() + now.own.len())..])
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
        let sizes = self.sizes(round, direction, agreed, guard);
        if self.momentum > 0.0 {
            let (m, m_own) = velocity.split_at_mut(v.shared.len());
            accelerate(T::of(self.momentum), t.shared, m);
            accelerate(T::of(self.momentum), t.own, m_own);
            self.advance(sizes, Parts { shared: m, own: m_own }, v);
        } else {
            self.advance(sizes, t, v);
        }
    }

    fn advance<T: Scalar>(&self, sizes: Sizes, t: Parts<'_, T>, v: &mut PartsMut<'_, T>) {
        for (range, size) in self.ranges.iter().zip(sizes) {
            linalg::add_scaled(&mut v.shared[range.clone()], T::of(-size), &t.shared[range.clone()]);
        }
        linalg::add_scaled(v.own, T::of(-sizes[0]), t.own);
    }

    /// Rounds within which a runaway is undone.
    pub(super) fn recovers_within(&self) -> u64 {
        self.auto.map_or(0, Auto::recovers_within)
    }

    fn sizes<T: Scalar>(&self, round: u64, direction: &dyn Direction<T>, agreed: &[T], guard: &[T]) -> Sizes {
        let mut sizes = match &self.auto {
            Some(auto) => auto.sizes(direction, 1.0 - self.momentum, agreed, guard),
            None => self.sizes,
        };
        match self.is_inner(round) {
            Some(true) => sizes[0] = 0.0,
            Some(false) => sizes[1..].fill(0.0),
            None => {}
        }
        match self.schedule {
            Schedule::Constant => sizes,
            changing => sizes.map(|size| size * changing.factor(round)),
        }
    }

    fn velocity(&self, point: usize) -> usize {
        if self.momentum > 0.0 { point } else { 0 }
    }
}

/// `m = β m + t`.
fn accelerate<T: Scalar>(beta: T, t: &[T], m: &mut [T]) {
    for (m, &t) in m.iter_mut().zip(t) {
        *m = beta * *m + t;
    }
}

fn resolve(blocks: &Blocks, each: &[(String, f64)]) -> Result<Sizes, StepsError> {
    let known = || blocks.names().collect::<Vec<_>>().join(", ");
    if let Some((name, _)) = each.iter().find(|(name, _)| blocks.range(name).is_none()) {
        return Err(StepsError::Unknown { name: name.clone(), known: known() });
    }
    let size = |name| each.iter().find(|(given, _)| given == name).map(|&(_, size)| size);
    let mut sizes = [0.0; 3];
    for (slot, name) in sizes.iter_mut().zip(blocks.names()) {
        *slot = size(name).ok_or_else(|| StepsError::Missing { name, known: known() })?;
    }
    Ok(sizes)
}
