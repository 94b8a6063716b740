//! Running a cell with one setting, and judging how it went.

use std::sync::Arc;

use fabnet_core::algorithm::Request;
use fabnet_core::hypergradient::Solver;
use fabnet_core::weights::Uniform;
use fabnet_core::{Network, Optimum, Problem, ProblemExt, Shard, View, linalg};

use super::setting::smoothness;
use super::{Cell, Setting};

/// How a run went.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The round from which on the worst agent's error is below the target; none if it never is.
    pub rounds: Option<u64>,
    /// The largest error in the run, relative to the initial one.
    pub peak: f64,
    /// The mean error over the last tenth of the rounds.
    pub tail: f64,
}

/// Rounds between two looks at the errors.
const EVERY: u64 = 10;
/// The error, relative to the initial one, at which a run is given up.
const HOPELESS: f64 = 1e8;

/// Runs a cell with a setting for at most `cap` rounds; without noise, until it is solved.
pub fn run(cell: &Cell, setting: Setting, seed: u64, cap: u64) -> Outcome {
    let (problem, topology) = (cell.make_problem(seed), cell.make_topology(seed));
    let smoothness = smoothness(&*problem);
    let steps = setting.steps(cell, &*problem, &topology, &smoothness).expect("the step sizes are usable");
    let method = cell.make_method(&*problem, steps).expect("the step sizes fit the method");
    let network = Network::new(topology, Arc::new(Uniform));
    let mut shard = Shard::new(method, problem.clone(), network, seed).expect("all have the same agents");
    let mut meter = Meter::new(&*problem);
    let mut record = Record::new(meter.worst(&shard.view()));
    while shard.view().round < cap && !record.is_over(cell) {
        for _ in 0..EVERY {
            if shard.round().expect("a whole shard misses nobody") == Request::Restart {
                shard.restart();
            }
        }
        record.note(cell, shard.view().round, cap, meter.worst(&shard.view()));
    }
    record.outcome()
}

/// The errors of a run so far.
struct Record {
    first: f64,
    last: f64,
    peak: f64,
    solved: Option<u64>,
    tail: Vec<f64>,
}

impl Record {
    fn new(first: f64) -> Self {
        Self { first, last: first, peak: 1.0, solved: None, tail: Vec::new() }
    }

    fn note(&mut self, cell: &Cell, round: u64, cap: u64, error: f64) {
        self.last = error;
        self.peak = self.peak.max(error / self.first);
        self.solved = if error < cell.target() { self.solved.or(Some(round)) } else { None };
        if 10 * round >= 9 * cap {
            self.tail.push(error);
        }
    }

    /// Without noise a run is over when it is well below the target, so that it will not come back.
    fn is_over(&self, cell: &Cell) -> bool {
        let solved = !cell.noisy && cell.method != "fab" && self.last < 0.5 * cell.target();
        solved || self.last.is_nan() || self.last >= HOPELESS * self.first
    }

    fn outcome(self) -> Outcome {
        let tail = self.tail.iter().sum::<f64>() / self.tail.len() as f64;
        Outcome { rounds: self.solved, peak: self.peak, tail }
    }
}

/// Measures errors: of every agent from the known optimum, or, where none is known, of the
/// hypergradient at the mean and of the agents from the mean.
struct Meter<'a> {
    problem: &'a dyn Problem<f64>,
    optimum: Option<Optimum<f64>>,
    solver: Solver<f64>,
    first_gradient: Option<f64>,
}

impl<'a> Meter<'a> {
    fn new(problem: &'a dyn Problem<f64>) -> Self {
        let solver = Solver::near(vec![0.0; problem.dim().inner]);
        Self { problem, optimum: problem.optimum(), solver, first_gradient: None }
    }

    /// The worst agent's error; infinite if a point is not finite.
    fn worst(&mut self, view: &View<'_, f64>) -> f64 {
        let dim = self.problem.dim();
        let points = (0..self.problem.agents()).map(|agent| view.point(agent));
        match &self.optimum {
            Some(optimum) => {
                let error = |point: Vec<f64>| {
                    let (x, y) = view.algorithm.direction().solution(dim, &point);
                    let (found, known) = if optimum.x.is_empty() { (y, &optimum.y) } else { (x, &optimum.x) };
                    (linalg::distance_squared(found, known) / linalg::norm_squared(known)).sqrt()
                };
                points
                    .map(error)
                    .fold(0.0, |worst, error| if error.is_nan() { f64::INFINITY } else { error.max(worst) })
            }
            None => self.stationarity(view),
        }
    }

    fn stationarity(&mut self, view: &View<'_, f64>) -> f64 {
        let (dim, mean) = (self.problem.dim(), view.mean());
        let (x, y) = view.algorithm.direction().solution(dim, &mean);
        if !x.iter().chain(y).all(|value| value.abs() < 1e6) {
            return f64::INFINITY;
        }
        let apart = |agent| {
            let point = view.point(agent);
            linalg::distance_squared(view.algorithm.direction().solution(dim, &point).0, x).sqrt()
        };
        let apart = (0..self.problem.agents()).map(apart).fold(0.0, f64::max);
        let gradient = linalg::norm(&self.solver.hypergradient(self.problem, x));
        (gradient / *self.first_gradient.get_or_insert(gradient)).max(apart)
    }
}
