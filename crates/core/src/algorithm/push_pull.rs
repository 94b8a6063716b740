//! The AB/Push-Pull pattern.

use super::step_rule::StepRule;
use super::{Agent, Algorithm, Fresh, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Mask, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, linalg};

/// AB/Push-Pull: points are pulled, trackers are pushed (Saadatniaki, Xin, Khan: *Decentralized
/// optimization over time-varying directed graphs with row and column-stochastic matrices*, IEEE
/// TAC 2020; Nedić, Nguyen, Nguyen 2025).
///
/// ```text
/// v⁺ = A v − η t          t⁺ = B t + d⁺ − d,  d⁺ the direction at v⁺
/// ```
/// With [`crate::direction::Penalty`] this is FAB, with [`crate::direction::Difference`] dFAB, with
/// [`crate::direction::Soba`] PushPull-SOBA, with [`crate::direction::Gradient`] single-level
/// Push-Pull. Needs graphs that are jointly strongly connected.
pub struct PushPull<T> {
    direction: Box<dyn Direction<T>>,
    pace: StepRule,
    every: u64,
    tracker: Tracker,
}

/// When a change of the direction is mixed: both are found in practice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracker {
    /// `t⁺ = B t + d⁺ − d`: in the round after it is made.
    #[default]
    MixThenAdd,
    /// `t⁺ = B (t + d⁺ − d)`: at once.
    AddThenMix,
}

impl<T: Scalar> PushPull<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let pace = StepRule::new(problem, &direction, steps)?;
        Ok(Self { direction: Box::new(direction), pace, every: 1, tracker: Tracker::default() })
    }

    /// The same method with another tracker.
    pub fn with_tracker(self, tracker: Tracker) -> Self {
        Self { tracker, ..self }
    }

    /// Exchanges in every `every`-th round only; the others are local steps.
    pub fn exchange_every(mut self, every: u64) -> Self {
        self.every = every.max(1);
        self
    }
}

impl<T: Scalar> Algorithm<T> for PushPull<T> {
    fn direction(&self) -> &dyn Direction<T> {
        &*self.direction
    }

    fn blocks(&self) -> &Blocks {
        self.pace.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        let of = |kind| self.pace.spans().iter().map(move |span| Segment::new(kind, span.len()));
        Segments::new(
            of(SegmentKind::Pull)
                .chain(of(SegmentKind::Push))
                .chain(self.pace.segments())
                .chain([Segment::new(SegmentKind::Private, own)]),
        )
    }

    fn keep(&self, own: usize) -> usize {
        own + self.pace.keep(self.blocks().width() + own)
    }

    fn sends(&self, round: u64) -> Mask {
        if round.is_multiple_of(self.every) { self.pace.sends(round, 2) } else { Mask::NONE }
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input: d }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(d.len());
        let at = Parts { shared, own };
        let (v, rest) = row.split_at_mut(d.len());
        let (agreed, row_own) = rest[d.len()..].split_at_mut(self.pace.agreed());
        v.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        let (d_own, keep) = keep.split_at_mut(own.len());
        self.pace.begin(&*self.direction, at, agreed, keep, oracle);
        self.direction.eval(at, oracle, PartsMut { shared: d, own: d_own });
    }

    fn step(&self, Agent { now, next, keep, input: d }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let width = d.len();
        let (v, rest) = next.split_at_mut(width); // = A v
        let (mixed, rest) = rest.split_at_mut(width); // = B t − d
        let (agreed, own) = rest.split_at_mut(self.pace.agreed());
        let (d_own, keep) = keep.split_at_mut(own.len());
        let t = match self.tracker {
            Tracker::MixThenAdd => &now[width..][..width],
            Tracker::AddThenMix => {
                // What was sent is t + d⁺ − d: mixed, it is the tracker. The level that was taken
                // out goes in and out again.
                linalg::add(mixed, d);
                &*mixed
            }
        };
        let t = Parts { shared: t, own: d_own };

        let before = Parts { shared: &now[..width], own: &now[now.len() - own.len()..] };
        let mut v = PartsMut { shared: v, own };
        if let Some(best) = self.pace.guard(t, before, agreed, keep) {
            v.copy_from(best);
            return Request::Restart;
        }
        // v⁺ = A v − η t
        self.pace.descend(oracle.round, &*self.direction, t, &mut v, agreed, keep);
        if self.tracker == Tracker::AddThenMix {
            linalg::add_scaled(mixed, -T::one(), d);
        }
        // d⁺; the engine completes t⁺ = B t + d⁺ − d.
        self.direction.eval(v.as_ref(), oracle, PartsMut { shared: d, own: d_own });
        Request::Go
    }

    fn point(&self, row: &[T], _keep: &[T], out: &mut [T]) {
        write_point(&row[..self.blocks().width()], row, out);
    }

    fn recovers_within(&self) -> u64 {
        self.pace.recovers_within()
    }
}
