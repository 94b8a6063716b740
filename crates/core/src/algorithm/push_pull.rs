//! The AB/Push-Pull pattern.

use super::auto::WatchedAgent;
use super::{Acceleration, Agent, Algorithm, Fresh, Mover, Request, Steps, StepsError, Tracker, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Mask, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, linalg};

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
    mover: Mover<T>,
}

impl<T: Scalar> PushPull<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        Ok(Self { mover: Mover::new(problem, direction, steps)? })
    }

    /// Takes the gradient steps of a round that follow the first one: with the agent's own tracker,
    /// which nobody has mixed since, and with samples of their own.
    fn step_alone(&self, agent: Alone<'_, T>, oracle: &mut Oracle<'_, T>) {
        let Alone { mut v, mixed, agreed, keep, d, d_own } = agent;
        let round = oracle.round;
        self.mover.take_steps(1..self.mover.rule.exchange_every(), oracle, |oracle| {
            // t⁺ = B t + d⁺ − d; the level that was taken out goes in and out again.
            linalg::add(mixed, d);
            let t = Parts { shared: mixed, own: d_own };
            self.mover.descend(round, t, &mut v, agreed, keep);
            linalg::add_scaled(mixed, -T::one(), d);
            self.mover.eval(v.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        });
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
        self.mover.direction()
    }

    fn mover(&self) -> Option<&Mover<T>> {
        Some(&self.mover)
    }

    fn blocks(&self) -> &Blocks {
        self.mover.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        let of = |kind| self.mover.rule.spans().iter().map(move |span| Segment::new(kind, span.len()));
        self.mover.row(of(SegmentKind::Pull).chain(of(SegmentKind::Push)), own)
    }

    fn keep(&self, own: usize) -> usize {
        own + self.mover.rule.keep(self.blocks().width() + own)
    }

    fn sends(&self, round: u64) -> Mask {
        self.mover.rule.sends(round, 2)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input: d }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(d.len());
        let at = Parts { shared, own };
        let (v, rest) = row.split_at_mut(d.len());
        let (agreed, row_own) = rest[d.len()..].split_at_mut(self.mover.rule.agreed());
        v.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        let (d_own, keep) = keep.split_at_mut(own.len());
        self.mover.begin(at, agreed, keep, oracle);
        self.mover.eval(at, oracle, PartsMut { shared: d, own: d_own });
    }

    fn step(&self, Agent { now, next, keep, input: d }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let width = d.len();
        let (v, rest) = next.split_at_mut(width); // = A v
        let (mixed, rest) = rest.split_at_mut(width); // = B t − d
        let (agreed, own) = rest.split_at_mut(self.mover.rule.agreed());
        let (d_own, keep) = keep.split_at_mut(own.len());
        let sent = Parts { shared: &now[width..][..width], own: d_own };
        let before = Parts { shared: &now[..width], own: &now[now.len() - own.len()..] };
        let mut v = PartsMut { shared: v, own };
        let agent = WatchedAgent { round: oracle.round, t: sent, d, now: before };
        if let Some(best) = self.mover.guard(agent, agreed, keep) {
            v.copy_from(best);
            return Request::Restart;
        }
        let mixing = self.mover.rule.mixing(keep);
        if mixing.acceleration != Acceleration::Plain {
            // The level that was taken out goes in and out again.
            linalg::add(mixed, d);
            let point = v.shared.len() + v.own.len();
            self.mover.rule.accelerate(oracle.round, [before.shared, sent.shared], [v.shared, mixed], point, keep);
            linalg::add_scaled(mixed, -T::one(), d);
        }
        if !self.mover.rule.moves(oracle.round, &mixing) {
            return Request::Go;
        }
        // v⁺ = A v − η t
        match mixing.order {
            Tracker::MixThenAdd => self.mover.descend(oracle.round, sent, &mut v, agreed, keep),
            Tracker::AddThenMix => {
                // What was sent is t + d⁺ − d: mixed, it is the tracker. The level that was taken
                // out goes in and out again.
                linalg::add(mixed, d);
                let t = Parts { shared: mixed, own: d_own };
                self.mover.descend(oracle.round, t, &mut v, agreed, keep);
                linalg::add_scaled(mixed, -T::one(), d);
            }
        }
        // d⁺; the engine completes t⁺ = B t + d⁺ − d.
        self.mover.take_steps(0..1, oracle, |oracle| {
            self.mover.eval(v.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        });
        self.step_alone(Alone { v, mixed, agreed, keep, d, d_own }, oracle);
        Request::Go
    }

    fn point(&self, row: &[T], _keep: &[T], out: &mut [T]) {
        write_point(&row[..self.blocks().width()], row, out);
    }
}
