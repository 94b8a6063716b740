//! The AB/Push-Pull pattern.

use super::step_rule::StepRule;
use super::{Acceleration, Agent, Algorithm, Fresh, Request, StepPlan, Steps, StepsError, Tracker, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Mask, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, Smoothness, linalg};

/// AB/Push-Pull: points are pulled, trackers are pushed (Saadatniaki, Xin, Khan: *Decentralized
/// optimization over time-varying directed graphs with row and column-stochastic matrices*, IEEE
/// TAC 2020; Nedić, Nguyen, Nguyen 2025).
///
/// ```text
/// v⁺ = A v − η t          t⁺ = B t + d⁺ − d,  d⁺ the direction at v⁺
/// ```
/// With `exchange_every`, each agent goes on alone in a round: `v⁺ = v − η t`, `t⁺ = t + d⁺ − d`.
/// With [`crate::direction::Penalty`] this is FAB, with [`crate::direction::Difference`] dFAB, with
/// [`crate::direction::Soba`] PushPull-SOBA, with [`crate::direction::Gradient`] single-level
/// Push-Pull. Needs graphs that are jointly strongly connected.
pub struct PushPull<T> {
    direction: Box<dyn Direction<T>>,
    rule: StepRule,
}

impl<T: Scalar> PushPull<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let rule = StepRule::new(problem, &direction, steps)?;
        Ok(Self { direction: Box::new(direction), rule })
    }

    /// Takes the gradient steps of a round that follow the first one: with the agent's own tracker,
    /// which nobody has mixed since, and with samples of their own.
    fn step_alone(&self, agent: Alone<'_, T>, oracle: &mut Oracle<'_, T>) {
        let Alone { mut v, mixed, agreed, keep, d, d_own } = agent;
        let (round, steps) = (oracle.round, self.rule.exchange_every());
        for step in 1..steps {
            // t⁺ = B t + d⁺ − d; the level that was taken out goes in and out again.
            linalg::add(mixed, d);
            let t = Parts { shared: mixed, own: d_own };
            self.rule.descend(round, &*self.direction, t, &mut v, agreed, keep);
            linalg::add_scaled(mixed, -T::one(), d);
            oracle.round = round * steps + step;
            self.direction.eval(v.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        }
        oracle.round = round;
    }
}

/// What an agent has after the first step of a round.
struct Alone<'a, T> {
    v: PartsMut<'a, T>,
    /// B t − d.
    mixed: &'a mut [T],
    agreed: &'a [T],
    keep: &'a mut [T],
    d: &'a mut [T],
    d_own: &'a mut [T],
}

impl<T: Scalar> Algorithm<T> for PushPull<T> {
    fn direction(&self) -> &dyn Direction<T> {
        &*self.direction
    }

    fn blocks(&self) -> &Blocks {
        self.rule.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        let of = |kind| self.rule.spans().iter().map(move |span| Segment::new(kind, span.len()));
        Segments::new(
            of(SegmentKind::Pull)
                .chain(of(SegmentKind::Push))
                .chain(self.rule.segments())
                .chain([Segment::new(SegmentKind::Private, own)]),
        )
    }

    fn keep(&self, own: usize) -> usize {
        own + self.rule.keep(self.blocks().width() + own)
    }

    fn sends(&self, round: u64) -> Mask {
        self.rule.sends(round, 2)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input: d }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(d.len());
        let at = Parts { shared, own };
        let (v, rest) = row.split_at_mut(d.len());
        let (agreed, row_own) = rest[d.len()..].split_at_mut(self.rule.agreed());
        v.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        let (d_own, keep) = keep.split_at_mut(own.len());
        self.rule.begin(&*self.direction, at, agreed, keep, oracle);
        self.direction.eval(at, oracle, PartsMut { shared: d, own: d_own });
    }

    fn step(&self, Agent { now, next, keep, input: d }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let width = d.len();
        let (v, rest) = next.split_at_mut(width); // = A v
        let (mixed, rest) = rest.split_at_mut(width); // = B t − d
        let (agreed, own) = rest.split_at_mut(self.rule.agreed());
        let (d_own, keep) = keep.split_at_mut(own.len());
        let sent = Parts { shared: &now[width..][..width], own: d_own };
        let before = Parts { shared: &now[..width], own: &now[now.len() - own.len()..] };
        let mut v = PartsMut { shared: v, own };
        if let Some(best) = self.rule.guard(oracle.round, &*self.direction, sent, before, agreed, keep) {
            v.copy_from(best);
            return Request::Restart;
        }
        let mixing = self.rule.mixing(keep);
        if mixing.acceleration != Acceleration::Plain {
            // The level that was taken out goes in and out again.
            linalg::add(mixed, d);
            let point = v.shared.len() + v.own.len();
            self.rule.accelerate(oracle.round, [before.shared, sent.shared], [v.shared, mixed], point, keep);
            linalg::add_scaled(mixed, -T::one(), d);
        }
        if !self.rule.moves(oracle.round, &mixing) {
            return Request::Go;
        }
        // v⁺ = A v − η t
        match mixing.order {
            Tracker::MixThenAdd => self.rule.descend(oracle.round, &*self.direction, sent, &mut v, agreed, keep),
            Tracker::AddThenMix => {
                // What was sent is t + d⁺ − d: mixed, it is the tracker. The level that was taken
                // out goes in and out again.
                linalg::add(mixed, d);
                let t = Parts { shared: mixed, own: d_own };
                self.rule.descend(oracle.round, &*self.direction, t, &mut v, agreed, keep);
                linalg::add_scaled(mixed, -T::one(), d);
            }
        }
        // d⁺; the engine completes t⁺ = B t + d⁺ − d.
        let round = oracle.round;
        oracle.round *= self.rule.exchange_every();
        self.direction.eval(v.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        oracle.round = round;
        self.step_alone(Alone { v, mixed, agreed, keep, d, d_own }, oracle);
        Request::Go
    }

    fn point(&self, row: &[T], _keep: &[T], out: &mut [T]) {
        write_point(&row[..self.blocks().width()], row, out);
    }

    fn step_plan(&self, smoothness: &Smoothness) -> Option<StepPlan> {
        self.rule.decide(&*self.direction, smoothness)
    }

    fn step_size(&self, round: u64, agreed: &[T], keep: &[T]) -> Option<f64> {
        self.rule.step_size(round, &*self.direction, agreed, keep)
    }

    fn recovers_within(&self) -> u64 {
        self.rule.recovers_within()
    }
}
