//! The metrics by name: what can be recorded of a run.

use fabnet_core::hypergradient::Solver;
use fabnet_core::{Level, Optimum, Point, Problem, ProblemExt, QueryBatch, Scalar, View, linalg};

use crate::problems::problems;

/// The metrics that are recorded if the file names none.
pub(crate) const DEFAULT_METRICS: [&str; 4] = ["relative_error", "upper", "lower", "consensus"];

/// A metric that is not a problem's own.
pub struct Metric<T: Scalar> {
    /// The name that users write in a file.
    pub name: &'static str,
    /// What the metric measures, in one line.
    pub about: &'static str,
    /// Measures a run; `None` where the metric means nothing for the method or the problem.
    pub(crate) measure: fn(&Snapshot<'_, T>) -> Option<f64>,
}

/// Every metric that is not a problem's own. A new one is a line here.
pub fn metrics<T: Scalar>() -> Vec<Metric<T>> {
    let metric = |name, about, measure| Metric { name, about, measure };
    vec![
        metric(
            "relative_error",
            "‖x̄ − x*‖/‖x*‖ of the mean over agents, where the optimum is known",
            |at| at.optimum.map(|optimum| at.view.relative_error_of(&at.mean, optimum).f64()),
        ),
        metric("worst_error", "the same of the agent that is furthest off: no disagreement hides in it", |at| {
            let (optimum, mut point) = (at.optimum?, Vec::new());
            let error = |agent| {
                at.view.write_point(agent, &mut point);
                at.view.relative_error_of(&point[..at.mean.len()], optimum).f64()
            };
            // `largest` keeps NaN whatever its sign, so the absolute value is taken first.
            Some(at.view.agents.range().map(error).map(f64::abs).fold(0.0, Scalar::largest))
        }),
        metric("upper", "f at the mean point, averaged over agents", |at| Some(at.value(Level::Upper))),
        metric("lower", "g at the mean point, averaged over agents", |at| Some(at.value(Level::Lower))),
        metric("hypergradient", "‖∇F*(x̄)‖, solved for; without private coordinates", |at| {
            let problem = at.shared_problem()?;
            let (x, y) = at.solution();
            let x = if problem.dim().outer > 0 { x } else { y.clone() };
            Some(linalg::norm(&Solver::near(y).hypergradient(problem, &x)).f64())
        }),
        metric("consensus", "root-mean-square distance of agents' x from their mean (of y, single level)", |at| {
            Some(at.view.consensus(&at.mean))
        }),
        metric("consensus_y", "the same for y", |at| Some(at.view.spread(&at.mean, Level::Lower))),
        metric(
            "lower_gap",
            "‖z̄ − y*(x̄)‖: how far the lower level is behind; bilevel, without private coordinates",
            |at| {
                let problem = at.shared_problem().filter(|problem| problem.dim().outer > 0)?;
                let (x, y) = at.solution();
                let z = at.block("z").unwrap_or(y);
                Some(linalg::distance_squared(Solver::near(z.clone()).response(problem, &x), &z).sqrt().f64())
            },
        ),
        metric(
            "penalty_bias",
            "‖ȳ − z̄‖: how far the penalty holds y off; falls as 1/λ, methods with y and z",
            |at| Some(linalg::distance_squared(&at.block("y")?, &at.block("z")?).sqrt().f64()),
        ),
        metric("gradients", "gradients of both levels that an agent has computed so far, on average", |at| {
            Some(at.view.per_agent(at.view.costs.evaluations.gradients()))
        }),
        metric("products", "products with second derivatives that an agent has computed so far, on average", |at| {
            Some(at.view.per_agent(at.view.costs.evaluations.products))
        }),
        metric("scalar_bytes", "bytes of scalars and mass that an agent has sent so far, on average", |at| {
            Some(at.view.per_agent(at.view.costs.scalar_bytes))
        }),
        metric("mass_residual", "largest scalar of Σt − Σd: 0 up to rounding, or mass was lost", |at| {
            Some(at.view.mass_residual().f64())
        }),
    ]
}

/// The names of all metrics that runs on problems of these kinds have.
pub(crate) fn known_for<'k>(kinds: impl IntoIterator<Item = &'k str>) -> Vec<&'static str> {
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let own = problems::<f64>().into_iter().filter(|problem| kinds.contains(&problem.name));
    let own = own.flat_map(|problem| problem.metrics.iter().map(|(name, _)| *name));
    metrics::<f64>().iter().map(|metric| metric.name).chain(own).collect()
}

/// Whether larger values of a metric are better.
pub(crate) fn is_better_larger(name: &str) -> bool {
    name.starts_with("accuracy") || ["auc", "weight_clean"].contains(&name)
}

/// The state of a run that metrics are computed from.
pub(crate) struct Snapshot<'a, T: Scalar> {
    /// All agents of the run.
    pub(crate) view: &'a View<'a, T>,
    /// The mean over the points of all agents.
    pub(crate) mean: Vec<T>,
    /// The optimum of the problem, where it is known.
    pub(crate) optimum: Option<&'a Optimum<T>>,
}

impl<T: Scalar> Snapshot<'_, T> {
    /// The variables x and y of the mean point.
    fn solution(&self) -> (Vec<T>, Vec<T>) {
        let (x, y) = self.view.algorithm.direction().solution(self.view.problem.dim(), &self.mean);
        (x.to_vec(), y.to_vec())
    }

    /// A block of the mean point by name, if the method has it.
    fn block(&self, name: &str) -> Option<Vec<T>> {
        Some(self.mean[self.view.algorithm.blocks().range(name)?].to_vec())
    }

    /// The problem, if it has no private coordinates: with them, the mean point is not the whole
    /// solution.
    fn shared_problem(&self) -> Option<&'_ dyn Problem<T>> {
        Some(self.view.problem).filter(|problem| !problem.has_private())
    }

    /// The objective of a level at the mean point, averaged over agents.
    fn value(&self, level: Level) -> f64 {
        let (x, y) = self.solution();
        let (problem, round, agents) = (self.view.problem, self.view.round, self.view.agents.range());
        let shared = self.view.algorithm.blocks().width();
        let own: Vec<Vec<T>> = agents.clone().map(|agent| self.view.point(agent)[shared..].to_vec()).collect();
        let points = || {
            let owned = agents.clone().zip(&own);
            owned.map(|(agent, own)| Point { agent, round, own, x: &x, y: &y })
        };
        let sum: f64 = match problem.capabilities().batched {
            Some(batched) => {
                let mut batch = QueryBatch::new(problem.dim(), agents.clone(), |agent| problem.private(agent));
                points().for_each(|point| batch.ask(point));
                batched.answer(level, round, &mut [&mut batch]);
                batch.values().iter().map(|value| value.f64()).sum()
            }
            None => points().map(|point| problem.value(level, point).f64()).sum(),
        };
        sum / agents.len() as f64
    }
}
