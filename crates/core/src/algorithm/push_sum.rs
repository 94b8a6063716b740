//! The push-sum pattern with tracking.

use super::pace::Pace;
use super::{Agent, Algorithm, Fresh, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Kind, Oracle, Problem, Scalar, Segment, Segments, linalg};

/// Push-sum with gradient tracking: everything is pushed, and the weight w that travels along undoes the bias of B (Nedić, Olshevsky, Shi: *Achieving
/// geometric convergence for distributed optimization over time-varying graphs*, SIAM J. Optim. 2017; the paper's Algorithm 3).
///
/// ```text
/// u⁺ = B (u − η t)      w⁺ = B w      v⁺ = u⁺/w⁺      t⁺ = B t + d⁺ − d,  d⁺ the direction at v⁺
/// ```
/// With [`crate::direction::Penalty`] this is PushSum-FAB, with [`crate::direction::Gradient`] Push-DIGing. It needs no A; graphs must be jointly strongly connected.
///
/// What is sent is u − η t: its level is the start plus the sum of the agent's own steps.
pub struct PushSum<T> {
    direction: Box<dyn Direction<T>>,
    pace: Pace,
}

impl<T: Scalar> PushSum<T> {
    /// This direction with these steps, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let pace = Pace::new(problem, &direction, steps)?;
        Ok(Self { direction: Box::new(direction), pace })
    }
}

impl<T: Scalar> Algorithm<T> for PushSum<T> {
    fn direction(&self) -> &dyn Direction<T> {
        &*self.direction
    }

    fn blocks(&self) -> &Blocks {
        self.pace.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        let width = self.blocks().width();
        let pushed = [width, width, 1].map(|len| Segment::new(Kind::Push, len)); // t, u, w
        Segments::new(pushed.into_iter().chain(self.pace.segments()).chain([Segment::new(Kind::Own, own)]))
    }

    /// The de-biased point v (u as sent is a step ahead of it), the private direction, and the pace's.
    fn keep(&self, own: usize) -> usize {
        let width = self.blocks().width();
        width + own + self.pace.keep(width + own)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let width = self.blocks().width();
        let (shared, own) = point.split_at(width);
        let at = Parts { shared, own };
        let (agreed, row_own) = row[2 * width + 1..].split_at_mut(self.pace.agreed());
        row_own.copy_from_slice(own);
        let (v, keep) = keep.split_at_mut(width);
        v.copy_from_slice(shared);
        let (d_own, keep) = keep.split_at_mut(own.len());
        let (d, level) = input.split_at_mut(width);
        let (u, w) = level.split_at_mut(width);
        self.pace.begin(&*self.direction, at, agreed, keep, oracle);
        self.direction.eval(at, oracle, PartsMut { shared: d, own: d_own });
        u.copy_from_slice(shared);
        w[0] = T::one();
        let t = Parts { shared: d, own: d_own };
        self.pace.descend(oracle.round, &*self.direction, t, &mut PartsMut { shared: u, own: row_own }, agreed, keep);
    }

    fn step(&self, Agent { now, next, keep, input }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let width = self.blocks().width();
        let (t, rest) = next.split_at_mut(width); // = B t − d
        let (u, rest) = rest.split_at_mut(width); // = B (u − η t) − level
        let (w, rest) = rest.split_at_mut(1); // = B w − 1
        let (agreed, own) = rest.split_at_mut(self.pace.agreed());
        let (v, keep) = keep.split_at_mut(width);
        let (d_own, keep) = keep.split_at_mut(own.len());
        let (d, level) = input.split_at_mut(width);
        let level = &mut level[..width];

        let before = Parts { shared: v, own: &now[now.len() - own.len()..] };
        if let Some(best) = self.pace.guard(Parts { shared: &now[..width], own: d_own }, before, agreed, keep) {
            v.copy_from_slice(best.shared);
            own.copy_from_slice(best.own);
            return Request::Restart;
        }
        let weight = w[0] + T::one();
        for ((v, &u), &level) in v.iter_mut().zip(&*u).zip(&*level) {
            *v = (u + level) / weight; // v⁺ = u⁺/w⁺
        }
        self.direction.eval(Parts { shared: v, own }, oracle, PartsMut { shared: d, own: d_own });
        // t⁺ = B t + d⁺ − d is wanted now, for the step that is sent with u; the engine adds the same d⁺ once the level is booked.
        linalg::add(t, d);
        self.pace.descend(
            oracle.round + 1,
            &*self.direction,
            Parts { shared: t, own: d_own },
            &mut PartsMut { shared: level, own },
            agreed,
            keep,
        );
        linalg::add_scaled(t, -T::one(), d);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.blocks().width()], row, out);
    }

    fn recovers_within(&self) -> u64 {
        self.pace.recovers_within()
    }
}
