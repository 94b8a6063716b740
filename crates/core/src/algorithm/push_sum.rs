//! The push-sum pattern.

use super::{Agent, Algorithm, Estimator, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Mask, Oracle, Problem, ProblemExt, Scalar, Segment, SegmentKind, Segments, linalg};

/// Push-sum: everything is pushed, and the weight w that travels along undoes the bias of B. It
/// needs no A; graphs must be jointly strongly connected.
///
/// ```text
/// u⁺ = B (u − η s)      w⁺ = B w      v⁺ = u⁺/w⁺      t⁺ = B t + d⁺ − d,  d⁺ the direction at v⁺
/// ```
/// | tracking | s | with the gradient |
/// |---|---|---|
/// | [`Tracking::None`] | d | subgradient-push \[1\]; SGP, Push-SGD \[2\] |
/// | [`Tracking::StepThenMix`] | t | Push-DIGing \[3\]; the paper's Algorithm 3 |
/// | [`Tracking::MixThenStep`] | t, and `u⁺ = B u − η t` | ADD-OPT \[4\] |
///
/// 1. Nedić, Olshevsky: *Distributed optimization over time-varying directed graphs*, IEEE TAC
///    2015.
/// 2. Assran, Loizou, Ballas, Rabbat: *Stochastic gradient push*, ICML 2019.
/// 3. Nedić, Olshevsky, Shi: *Achieving geometric convergence for distributed optimization over
///    time-varying graphs*, SIAM J. Optim. 2017.
/// 4. Xi, Xin, Khan: *ADD-OPT*, IEEE TAC 2018.
///
/// With [`crate::direction::Penalty`] Push-DIGing becomes PushSum-FAB; with an [`Estimator`]
/// ADD-OPT becomes Push-SAGA and Push-DIGing Push-ASGD.
///
/// What is sent may be ahead of u: the contribution is the start plus all that the agent has
/// stepped.
pub struct PushSum<T> {
    mover: Mover<T>,
    tracking: Tracking,
    estimator: Estimator,
    batches: usize,
}

/// What an agent steps along, and whether before or after mixing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracking {
    /// The agent's own direction, before mixing: there is no tracker.
    None,
    /// The tracker, before mixing.
    #[default]
    StepThenMix,
    /// The tracker, after mixing.
    MixThenStep,
}

impl<T: Scalar> PushSum<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let mover = Mover::new(problem, direction, steps)?.without_trials().with_every_exchange()?;
        let (tracking, estimator) = (Tracking::default(), Estimator::default());
        Ok(Self { mover, tracking, estimator, batches: problem.most_batches() })
    }

    /// The same method with another way to step.
    pub fn with_tracking(self, tracking: Tracking) -> Self {
        Self { tracking, ..self }
    }

    /// The same method with gradients that are estimated from samples.
    pub fn with_estimator(self, problem: &dyn Problem<T>, estimator: Estimator) -> Result<Self, StepsError> {
        estimator.check(problem, self.blocks().width())?;
        Ok(Self { estimator, ..self })
    }

    /// The number of scalars of the tracker.
    fn tracked(&self) -> usize {
        if self.tracking == Tracking::None { 0 } else { self.blocks().width() }
    }

    /// Divides what an agent keeps: the de-biased point v (u as sent may be a step ahead), the
    /// direction where there is no tracker whose level it is, the private direction, the
    /// estimator's and the step rule's.
    fn kept<'k>(&self, keep: &'k mut [T], own: usize) -> [&'k mut [T]; 5] {
        let width = self.blocks().width();
        let (v, rest) = keep.split_at_mut(width);
        let (d, rest) = rest.split_at_mut(width - self.tracked());
        let (d_own, rest) = rest.split_at_mut(own);
        let (estimator, rule) = rest.split_at_mut(self.estimator.keep(width, self.batches));
        [v, d, d_own, estimator, rule]
    }
}

impl<T: Scalar> Algorithm<T> for PushSum<T> {
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
        let spans = self.mover.rule.spans();
        let lengths = |times: usize| spans.iter().cycle().take(times * spans.len()).map(ExactSizeIterator::len);
        // The tracker t if there is one, the mass u, and a weight w for each part.
        let pushed = lengths(if self.tracked() > 0 { 2 } else { 1 }).chain(spans.iter().map(|_| 1));
        self.mover.row(pushed.map(|len| Segment::new(SegmentKind::Push, len)), own)
    }

    fn keep(&self, own: usize) -> usize {
        let width = self.blocks().width();
        2 * width - self.tracked() + own + self.estimator.keep(width, self.batches) + self.mover.rule.keep(width + own)
    }

    fn sends(&self, round: u64) -> Mask {
        self.mover.rule.sends(round, if self.tracked() > 0 { 3 } else { 2 })
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (width, spans) = (self.blocks().width(), self.mover.rule.spans().len());
        let (shared, own) = point.split_at(width);
        let at = Parts { shared, own };
        let (agreed, row_own) = row[self.tracked() + width + spans..].split_at_mut(self.mover.rule.agreed());
        row_own.copy_from_slice(own);
        let [v, untracked, d_own, estimates, keep] = self.kept(keep, own.len());
        v.copy_from_slice(shared);
        let (d, level) = input.split_at_mut(self.tracked());
        let d = if self.tracked() > 0 { d } else { untracked };
        let (u, w) = level.split_at_mut(width);
        self.mover.begin(at, agreed, keep, oracle);
        self.estimator.begin(
            self.mover.direction(),
            at,
            oracle,
            PartsMut { shared: &mut *d, own: &mut *d_own },
            estimates,
        );
        u.copy_from_slice(shared);
        w.fill(T::one());
        if self.tracking != Tracking::MixThenStep {
            let s = Parts { shared: d, own: d_own };
            let mut ahead = PartsMut { shared: u, own: row_own };
            self.mover.descend(oracle.round, s, &mut ahead, agreed, keep);
        }
    }

    fn step(&self, Agent { now, next, keep, input }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let (width, spans) = (self.blocks().width(), self.mover.rule.spans());
        let (t, rest) = next.split_at_mut(self.tracked()); // = B t − d
        let (u, rest) = rest.split_at_mut(width); // = B u − level, where u as sent may be u − η s
        let (w, rest) = rest.split_at_mut(spans.len()); // = B w − 1
        let (agreed, own) = rest.split_at_mut(self.mover.rule.agreed());
        let [v, untracked, d_own, estimates, keep] = self.kept(keep, own.len());
        let (d, level) = input.split_at_mut(self.tracked());
        let d = if self.tracked() > 0 { d } else { untracked };
        let level = &mut level[..width];

        let s = if self.tracked() > 0 { &now[..width] } else { &*d };
        let before = &mut PartsMut { shared: &mut *v, own: &mut *own };
        if self.mover.goes_back(oracle.round, (Parts { shared: s, own: d_own }, d), before, agreed, keep) {
            return Request::Restart;
        }
        if self.tracking == Tracking::MixThenStep {
            let (s, mut to) =
                (Parts { shared: &now[..width], own: d_own }, PartsMut { shared: &mut *level, own: &mut *own });
            self.mover.descend(oracle.round, s, &mut to, agreed, keep);
        }
        for (span, w) in spans.iter().zip(&*w) {
            let weight = *w + T::one();
            for ((v, &u), &level) in v[span.clone()].iter_mut().zip(&u[span.clone()]).zip(&level[span.clone()]) {
                *v = (u + level) / weight; // v⁺ = u⁺/w⁺
            }
        }
        let at = Parts { shared: v, own };
        self.estimator.eval(
            self.mover.direction(),
            at,
            oracle,
            PartsMut { shared: &mut *d, own: &mut *d_own },
            estimates,
        );
        if self.tracking == Tracking::MixThenStep {
            return Request::Go;
        }
        // t⁺ = B t + d⁺ − d is wanted now, for the step that is sent with u; the engine adds the
        // same d⁺ once the level is booked.
        t.iter_mut().zip(&*d).for_each(|(t, &d)| *t += d);
        let s = if self.tracked() > 0 { &*t } else { &*d };
        let mut ahead = PartsMut { shared: level, own };
        self.mover.descend(oracle.round + 1, Parts { shared: s, own: d_own }, &mut ahead, agreed, keep);
        if self.tracked() > 0 {
            linalg::add_scaled(t, -T::one(), d);
        }
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.blocks().width()], row, out);
    }

    fn bears_reversals(&self) -> bool {
        false
    }
}
