//! Gossip descent without tracking.

use super::step_rule::StepRule;
use super::{Agent, Algorithm, Fresh, Request, StepPlan, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, Smoothness};

/// D-PSGD: each steps along its own direction, then averages with its neighbours (Lian, Zhang,
/// Zhang, Hsieh, Zhang, Liu: *Can decentralized algorithms outperform centralized algorithms?*,
/// NeurIPS 2017).
///
/// ```text
/// v⁺ = W (v − η d),  d the direction at v
/// ```
/// It converges to the right point only if W is doubly stochastic, as Metropolis weights on
/// undirected graphs are, and only as η falls: the undirected reference.
pub struct Gossip<T> {
    direction: Box<dyn Direction<T>>,
    rule: StepRule,
}

impl<T: Scalar> Gossip<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let rule = StepRule::new(problem, &direction, steps)?.without_trials()?;
        Ok(Self { direction: Box::new(direction), rule })
    }

    /// Divides what an agent keeps: the point (what is sent is a step ahead of it), the direction,
    /// the private direction, the step rule's.
    fn kept<'k>(&self, keep: &'k mut [T], own: usize) -> [&'k mut [T]; 4] {
        let width = self.blocks().width();
        let (v, rest) = keep.split_at_mut(width);
        let (d, rest) = rest.split_at_mut(width);
        let (d_own, rule) = rest.split_at_mut(own);
        [v, d, d_own, rule]
    }
}

impl<T: Scalar> Algorithm<T> for Gossip<T> {
    fn direction(&self) -> &dyn Direction<T> {
        &*self.direction
    }

    fn blocks(&self) -> &Blocks {
        self.rule.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        let pulled = [Segment::new(SegmentKind::Pull, self.blocks().width())];
        Segments::new(pulled.into_iter().chain(self.rule.segments()).chain([Segment::new(SegmentKind::Private, own)]))
    }

    fn keep(&self, own: usize) -> usize {
        let width = self.blocks().width();
        2 * width + own + self.rule.keep(width + own)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, .. }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.blocks().width());
        let (ahead, rest) = row.split_at_mut(shared.len());
        let (agreed, row_own) = rest.split_at_mut(self.rule.agreed());
        let [v, d, d_own, keep] = self.kept(keep, own.len());
        v.copy_from_slice(shared);
        ahead.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        let at = Parts { shared, own };
        self.rule.begin(&*self.direction, at, agreed, keep, oracle);
        self.direction.eval(at, oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        let d = Parts { shared: d, own: d_own };
        self.rule.descend(
            oracle.round,
            &*self.direction,
            d,
            &mut PartsMut { shared: ahead, own: row_own },
            agreed,
            keep,
        );
    }

    fn step(&self, Agent { now, next, keep, .. }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let (mixed, rest) = next.split_at_mut(self.blocks().width()); // = W (v − η d) = v⁺
        let (agreed, own) = rest.split_at_mut(self.rule.agreed());
        let [v, d, d_own, keep] = self.kept(keep, own.len());
        let before = Parts { shared: v, own: &now[now.len() - own.len()..] };
        if let Some(best) =
            self.rule.guard(oracle.round, &*self.direction, Parts { shared: d, own: d_own }, before, agreed, keep)
        {
            v.copy_from_slice(best.shared);
            own.copy_from_slice(best.own);
            return Request::Restart;
        }
        v.copy_from_slice(mixed);
        self.direction.eval(Parts { shared: v, own }, oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        let d = Parts { shared: d, own: d_own };
        self.rule.descend(oracle.round + 1, &*self.direction, d, &mut PartsMut { shared: mixed, own }, agreed, keep);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.blocks().width()], row, out);
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
