//! K-GT: gradient tracking with local steps.

use super::mover::Kept;
use super::{Agent, Algorithm, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, linalg};

/// K-GT: K gradient steps alone between two exchanges, each along the agent's own direction and a
/// correction that points to the average of all (Liu, Lin, Koloskova, Stich: *Decentralized
/// gradient tracking with local steps*, 2023, arXiv 2301.01313).
///
/// ```text
/// K times:  u⁺ = u − η (d + c),  from u = v, d the direction at u
/// z the mean of the K directions d + c
/// v⁺ = W (v − s (v − u))      c⁺ = c + W z − z
/// ```
/// K is `exchange_every`. The corrections start at zero, and Σ c = 0 holds ever after if W is
/// doubly stochastic: at a fixed point all agents are at the optimum. Needs links both ways and
/// every message.
pub struct KGt<T> {
    mover: Mover<T>,
    /// The step s towards where the local steps lead.
    outer_step: T,
}

impl<T: Scalar> KGt<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        Ok(Self { mover: Mover::new(problem, direction, steps)?.without_trials(), outer_step: T::one() })
    }

    /// The same method with another step s.
    pub fn with_outer_step(self, outer_step: f64) -> Self {
        Self { outer_step: T::of(outer_step), ..self }
    }

    /// Reads the step s.
    pub(super) fn read_outer_step(keys: &mut SettingsReader<'_>) -> f64 {
        keys.number("outer_step", 1.0, POSITIVE, "s: how far agents go towards where their local steps lead")
    }

    /// Takes the local steps from v; writes what is sent: the point, and the mean direction z.
    fn go_ahead(
        &self,
        round: u64,
        [sent, z]: [&mut [T]; 2],
        (agreed, own): (&[T], &mut [T]),
        Kept { vectors: [v, c, d], d_own, rule }: Kept<'_, T, 3>,
        oracle: &mut Oracle<'_, T>,
    ) {
        let steps = self.mover.rule.exchange_every();
        let share = T::of(1.0 / steps as f64);
        sent.copy_from_slice(v);
        z.fill(T::zero());
        let mut ahead = PartsMut { shared: &mut *sent, own };
        self.mover.take_steps(0..steps, oracle, |oracle| {
            self.mover.eval(ahead.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
            linalg::add(d, c);
            linalg::add_scaled(z, share, d);
            self.mover.descend(round, Parts { shared: d, own: d_own }, &mut ahead, agreed, rule);
        });
        for (sent, &v) in sent.iter_mut().zip(&*v) {
            *sent = v + self.outer_step * (*sent - v);
        }
    }
}

impl<T: Scalar> Algorithm<T> for KGt<T> {
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
        self.mover.row([Segment::new(SegmentKind::Pull, self.mover.width()); 2], own)
    }

    fn keep(&self, own: usize) -> usize {
        self.mover.keep(3, own)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, .. }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.mover.width());
        let (sent, rest) = row.split_at_mut(shared.len());
        let (z, rest) = rest.split_at_mut(shared.len());
        let (agreed, row_own) = rest.split_at_mut(self.mover.rule.agreed());
        let kept = self.mover.kept::<3>(keep, own.len());
        kept.vectors[0].copy_from_slice(shared);
        kept.vectors[1].fill(T::zero());
        row_own.copy_from_slice(own);
        self.mover.begin(Parts { shared, own }, agreed, kept.rule, oracle);
        self.go_ahead(oracle.round, [sent, z], (agreed, row_own), kept, oracle);
    }

    fn step(&self, Agent { now, next, keep, .. }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let width = self.mover.width();
        let (mixed, rest) = next.split_at_mut(width); // = v⁺
        let (z, rest) = rest.split_at_mut(width); // = W z
        let (agreed, own) = rest.split_at_mut(self.mover.rule.agreed());
        let Kept { vectors: [v, c, d], d_own, rule } = self.mover.kept(keep, own.len());
        let before = &mut PartsMut { shared: &mut *v, own: &mut *own };
        if self.mover.goes_back(oracle.round, (Parts { shared: d, own: d_own }, d), before, agreed, rule) {
            return Request::Restart;
        }
        v.copy_from_slice(mixed);
        linalg::add(c, z);
        linalg::add_scaled(c, -T::one(), &now[width..][..width]);
        let kept = Kept { vectors: [v, c, d], d_own, rule };
        self.go_ahead(oracle.round + 1, [mixed, z], (agreed, own), kept, oracle);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.mover.width()], row, out);
    }
}
