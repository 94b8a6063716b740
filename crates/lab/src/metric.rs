//! Metrics: what is recorded of a run.

use fabnet_core::hypergradient::Solver;
use fabnet_core::{Divergence, Level, Optimum, Point, Problem, Scalar, View, linalg};

use crate::problem::problems;

/// What is recorded if nothing is said.
pub(crate) const USUAL: [&str; 4] = ["relative_error", "upper", "lower", "consensus"];

/// A metric.
pub struct Metric<T: Scalar> {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    /// None where it means nothing for a method or problem.
    measure: fn(&Snapshot<'_, T>) -> Option<f64>,
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
            // The sign of what is no number must not hide it.
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
        metric("mass_residual", "largest scalar of Σt − Σd: 0 up to rounding, or mass was lost", |at| {
            Some(at.view.mass_residual().f64())
        }),
    ]
}

/// The names of metrics that runs on these problems have.
pub(crate) fn known_for<'k>(kinds: impl IntoIterator<Item = &'k str>) -> Vec<&'static str> {
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let own = problems::<f64>().into_iter().filter(|problem| kinds.contains(&problem.name));
    let own = own.flat_map(|problem| problem.metrics.iter().map(|(name, _)| *name));
    metrics::<f64>().iter().map(|metric| metric.name).chain(own).collect()
}

/// Whether larger values of a metric are better ones.
pub(crate) fn is_better_larger(name: &str) -> bool {
    name.starts_with("accuracy") || ["auc", "weight_clean"].contains(&name)
}

/// Measures a run, from time to time.
pub(crate) struct Gauge<T: Scalar> {
    metrics: Vec<(String, Option<Metric<T>>)>,
    optimum: Option<Optimum<T>>,
    limits: Divergence<T>,
}

impl<T: Scalar> Gauge<T> {
    /// These metrics, for a run that starts as seen here.
    pub(crate) fn new(names: &[String], start: &View<'_, T>) -> Self {
        let find = |name: &String| metrics().into_iter().find(|metric| metric.name == name);
        let optimum = start.problem.optimum();
        Self {
            metrics: names.iter().map(|name| (name.clone(), find(name))).collect(),
            limits: Divergence::new(optimum.clone(), start),
            optimum,
        }
    }

    /// The metrics, in order, not a number where they mean nothing; and whether the run is seen to have diverged.
    pub(crate) fn measure(&self, view: &View<'_, T>) -> (Vec<f64>, bool) {
        let at = Snapshot { view, mean: view.mean(), optimum: self.optimum.as_ref() };
        let diverged = self.limits.is_seen(view, &at.mean);
        let value = |(name, metric): &(String, Option<Metric<T>>)| match metric {
            Some(metric) => (metric.measure)(&at),
            None => view.problem.measure(name, view),
        };
        (self.metrics.iter().map(value).map(|value| value.unwrap_or(f64::NAN)).collect(), diverged)
    }
}

/// What metrics look at.
struct Snapshot<'a, T: Scalar> {
    view: &'a View<'a, T>,
    mean: Vec<T>,
    optimum: Option<&'a Optimum<T>>,
}

impl<T: Scalar> Snapshot<'_, T> {
    /// x and y of the mean point.
    fn solution(&self) -> (Vec<T>, Vec<T>) {
        let (x, y) = self.view.algorithm.direction().solution(self.view.problem.dim(), &self.mean);
        (x.to_vec(), y.to_vec())
    }

    fn block(&self, name: &str) -> Option<Vec<T>> {
        Some(self.mean[self.view.algorithm.blocks().range(name)?].to_vec())
    }

    /// The problem, if nothing of it is private: only then does the mean point say everything.
    fn shared_problem(&self) -> Option<&'_ dyn Problem<T>> {
        Some(self.view.problem).filter(|problem| !problem.has_private())
    }

    fn value(&self, level: Level) -> f64 {
        let (x, y) = self.solution();
        let shared = self.view.algorithm.blocks().width();
        let mut point = Vec::new();
        let value = |agent: usize| {
            self.view.write_point(agent, &mut point);
            let at = Point { agent, round: self.view.round, own: &point[shared..], x: &x, y: &y };
            self.view.problem.value(level, at).f64()
        };
        let agents = self.view.agents.range();
        agents.clone().map(value).sum::<f64>() / agents.len() as f64
    }
}
