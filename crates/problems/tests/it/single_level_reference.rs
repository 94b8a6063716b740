//! Every single-level method beside an independent dense version that shares no code with the
//! engine, written as its paper has it, on a problem with mini-batches.

use std::sync::Arc;

use fabnet_core::algorithm::{StepDecay, Steps};
use fabnet_core::settings::Value;
use fabnet_core::topology::{ErdosRenyi, Redraw, Topology, Undirected};
use fabnet_core::weights::{Metropolis, Uniform, Weights};
use fabnet_core::{Digraph, GradientMut, Level, Network, Point, Problem, ProblemExt, Scratch, Shard};
use fabnet_problems::Quadratic;

use crate::common;
use crate::dense_reference::Rows;

pub(crate) const AGENTS: usize = 7;
const INNER: usize = 4;
pub(crate) const STEP: f64 = 0.05;
/// Step sizes fall, so that a step taken in the wrong round shows.
pub(crate) const POWER: f64 = 0.5;
const BETA: f64 = 0.02;

/// One method with dense matrices.
struct DenseSingleLevel {
    problem: Quadratic<f64>,
    x: Rows,
    /// Push-sum's mass and weights.
    u: Rows,
    w: Vec<f64>,
    g: Rows,
    t: Rows,
    /// SAGA's table, agent by agent and batch by batch.
    table: Vec<Rows>,
}

#[derive(Clone, Copy, PartialEq)]
enum Sample {
    Plain,
    Saga,
    Recursive,
}

impl DenseSingleLevel {
    fn new(problem: Quadratic<f64>, sample: Sample) -> Self {
        let zeros = vec![vec![0.0; INNER]; AGENTS];
        let table = vec![vec![vec![0.0; INNER]; problem.batches(0)]; AGENTS];
        let mut dense = Self {
            problem,
            x: zeros.clone(),
            u: zeros.clone(),
            w: vec![1.0; AGENTS],
            g: zeros.clone(),
            t: zeros,
            table,
        };
        dense.g = (0..AGENTS).map(|i| dense.gradient(i, 0, &dense.x[i])).collect();
        if sample == Sample::Saga {
            for i in 0..AGENTS {
                let batch = dense.problem.batch(i, 0);
                dense.table[i][batch].clone_from(&dense.g[i]);
            }
        }
        dense.t = dense.g.clone();
        dense
    }

    fn gradient(&self, agent: usize, round: u64, y: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; INNER];
        let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut [], y: &mut out };
        let at = Point { agent, round, own: &[], x: &[], y };
        self.problem.add_gradient(Level::Lower, at, to, &mut Scratch::default());
        out
    }

    /// The next estimate of agent i, which moves from `before` to x.
    fn estimate(&mut self, sample: Sample, i: usize, k: u64, before: &[f64]) -> Vec<f64> {
        let here = self.gradient(i, k, &self.x[i]);
        match sample {
            Sample::Plain => here,
            Sample::Saga => {
                let batches = self.problem.batches(0);
                let mean = |s: usize| self.table[i].iter().map(|entry| entry[s]).sum::<f64>() / batches as f64;
                let batch = self.problem.batch(i, k);
                let g = (0..INNER).map(|s| here[s] - self.table[i][batch][s] + mean(s)).collect();
                self.table[i][batch] = here;
                g
            }
            Sample::Recursive => {
                let there = self.gradient(i, k, before);
                (0..INNER).map(|s| here[s] + (1.0 - BETA) * (self.g[i][s] - there[s])).collect()
            }
        }
    }

    /// All agents' next estimates; returns how they changed.
    fn sample(&mut self, sample: Sample, k: u64, before: &Rows) -> Rows {
        let fresh: Rows = (0..AGENTS).map(|i| self.estimate(sample, i, k, &before[i])).collect();
        let change = plus(&fresh, -1.0, &self.g);
        self.g = fresh;
        change
    }

    fn unbias(&mut self, b: &Rows) -> Rows {
        self.w = (0..AGENTS).map(|i| (0..AGENTS).map(|j| b[i][j] * self.w[j]).sum()).collect();
        let fresh = (0..AGENTS).map(|i| self.u[i].iter().map(|u| u / self.w[i]).collect()).collect();
        std::mem::replace(&mut self.x, fresh)
    }
}

pub(crate) fn eta(k: u64) -> f64 {
    STEP * (1.0 + k as f64).powf(-POWER)
}

pub(crate) fn plus(a: &Rows, s: f64, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + s * b).collect()).collect()
}

pub(crate) fn times(matrix: &Rows, rows: &Rows) -> Rows {
    let entry = |i: usize, c: usize| (0..AGENTS).map(|j| matrix[i][j] * rows[j][c]).sum();
    (0..AGENTS).map(|i| (0..rows[0].len()).map(|c| entry(i, c)).collect()).collect()
}

pub(crate) fn graph() -> ErdosRenyi {
    ErdosRenyi::new(AGENTS, 0.3, 5, Redraw::EveryRound).with_ring()
}

/// A and B of a round.
pub(crate) fn matrices(topology: &dyn Topology, metropolis: bool, k: u64) -> (Rows, Rows) {
    let mut graph = Digraph::new(AGENTS);
    topology.draw(topology.graph_of(k), &mut graph);
    let (mut a, mut b) = (vec![vec![0.0; AGENTS]; AGENTS], vec![vec![0.0; AGENTS]; AGENTS]);
    for (j, i) in graph.links() {
        let larger = graph.in_degree(i).max(graph.in_degree(j));
        a[i][j] = 1.0 / (1 + if metropolis { larger } else { graph.in_degree(i) }) as f64;
        b[i][j] = 1.0 / (1 + graph.out_degree(j)) as f64;
    }
    for i in 0..AGENTS {
        a[i][i] = 1.0 - a[i].iter().sum::<f64>();
        b[i][i] = 1.0 - (0..AGENTS).map(|j| b[j][i]).sum::<f64>();
    }
    (a, b)
}

/// Compares a method with its dense version, which carries out one round at a time.
fn agrees(
    method: &str,
    given: &[(&str, Value)],
    sample: Sample,
    batches: usize,
    undirected: bool,
    round: impl Fn(&mut DenseSingleLevel, &Rows, &Rows, u64),
) {
    let problem = || Quadratic::new(AGENTS, INNER, 3.0, 1.0, 9).with_batches(batches, 0.5);
    let (topology, weights): (Arc<dyn Topology>, Arc<dyn Weights>) = if undirected {
        (Arc::new(Undirected::new(Box::new(graph()))), Arc::new(Metropolis))
    } else {
        (Arc::new(graph()), Arc::new(Uniform))
    };
    let shared = Arc::new(problem());
    let algorithm = common::build_with(method, given, &*shared, Steps::same(STEP).schedule(StepDecay::Power(POWER)));
    let mut shard = Shard::new(algorithm, shared, Network::new(topology.clone(), weights), 0).unwrap();
    let mut dense = DenseSingleLevel::new(problem(), sample);
    for k in 0..50 {
        let (a, b) = matrices(&*topology, undirected, k);
        round(&mut dense, &a, &b, k);
        shard.round().unwrap();
        for agent in 0..AGENTS {
            let gap =
                shard.view().point(agent).iter().zip(&dense.x[agent]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-12, "{method} {given:?}: agent {agent} is {gap:e} apart after {} rounds", k + 1);
        }
    }
    assert!(dense.x.iter().flatten().all(|x| x.abs() > 1e-6), "something has moved");
}

/// u⁺ = B (u − η g), w⁺ = B w, x⁺ = u⁺/w⁺.
fn push_sgd(sample: Sample) -> impl Fn(&mut DenseSingleLevel, &Rows, &Rows, u64) {
    move |dense, _, b, k| {
        dense.u = times(b, &plus(&dense.u, -eta(k), &dense.g));
        let before = dense.unbias(b);
        dense.sample(sample, k, &before);
    }
}

/// u⁺ = B (u − η t), or B u − η t, and t⁺ = B t + g⁺ − g.
fn tracked(sample: Sample, step_first: bool) -> impl Fn(&mut DenseSingleLevel, &Rows, &Rows, u64) {
    move |dense, _, b, k| {
        dense.u = if step_first {
            times(b, &plus(&dense.u, -eta(k), &dense.t))
        } else {
            plus(&times(b, &dense.u), -eta(k), &dense.t)
        };
        let before = dense.unbias(b);
        let change = dense.sample(sample, k, &before);
        dense.t = plus(&times(b, &dense.t), 1.0, &change);
    }
}

/// x⁺ = A x − η t, and t⁺ = B t + g⁺ − g, or B (t + g⁺ − g).
fn push_pull(add_first: bool) -> impl Fn(&mut DenseSingleLevel, &Rows, &Rows, u64) {
    move |dense, a, b, k| {
        if add_first {
            // t of this round is what was made in the last one, mixed by this round's B.
            dense.t = times(b, &dense.t);
        }
        let before = std::mem::take(&mut dense.x);
        dense.x = plus(&times(a, &before), -eta(k), &dense.t);
        let change = dense.sample(Sample::Plain, k, &before);
        dense.t = plus(&if add_first { dense.t.clone() } else { times(b, &dense.t) }, 1.0, &change);
    }
}

#[test]
fn methods_without_a_tracker_equal_their_dense_versions() {
    for batches in [1, 3] {
        agrees("subgradient-push", &[], Sample::Plain, batches, false, push_sgd(Sample::Plain));
        agrees("push-sgd", &[], Sample::Plain, batches, false, push_sgd(Sample::Plain));
        agrees("push-saga", &[("tracking", false.into())], Sample::Saga, batches, false, push_sgd(Sample::Saga));
        // x⁺ = W (x − η g).
        agrees("d-psgd", &[], Sample::Plain, batches, true, |dense, w, _, k| {
            let before = std::mem::take(&mut dense.x);
            dense.x = times(w, &plus(&before, -eta(k), &dense.g));
            dense.sample(Sample::Plain, k, &before);
        });
    }
}

#[test]
fn methods_with_a_tracker_equal_their_dense_versions() {
    for batches in [1, 3] {
        agrees("push-diging", &[], Sample::Plain, batches, false, tracked(Sample::Plain, true));
        agrees(
            "push-diging",
            &[("order", "add-opt".into())],
            Sample::Plain,
            batches,
            false,
            tracked(Sample::Plain, false),
        );
        agrees("push-saga", &[], Sample::Saga, batches, false, tracked(Sample::Saga, false));
        agrees("push-asgd", &[], Sample::Recursive, batches, false, tracked(Sample::Recursive, true));
        agrees("push-pull", &[], Sample::Plain, batches, false, push_pull(false));
        agrees("push-pull", &[("tracker", "add-then-mix".into())], Sample::Plain, batches, false, push_pull(true));
    }
}

/// With full batches SAGA and recursive momentum are the tracked methods themselves.
#[test]
fn estimators_of_full_batches_are_the_gradient() {
    agrees("push-saga", &[], Sample::Plain, 1, false, tracked(Sample::Plain, false));
    agrees("push-asgd", &[], Sample::Plain, 1, false, tracked(Sample::Plain, true));
}

/// Variance reduction is worth it: with mini-batches and constant step sizes SAGA ends at the
/// optimum, plain samples do not.
#[test]
fn saga_ends_at_the_optimum_where_samples_do_not() {
    let error = |method: &str, given: &[(&str, Value)]| {
        let problem = Arc::new(Quadratic::<f64>::new(AGENTS, INNER, 3.0, 1.0, 9).with_batches(5, 0.5));
        let algorithm = common::build_with(method, given, &*problem, Steps::same(STEP));
        let network = Network::new(Arc::new(graph()), Arc::new(Uniform));
        let mut shard = Shard::new(algorithm, problem.clone(), network, 0).unwrap();
        fabnet_core::observe::run(&mut shard, 4000, &mut ()).unwrap();
        shard.view().relative_error(&problem.optimum().unwrap())
    };
    let (saga, plain) = (error("push-saga", &[]), error("push-diging", &[("order", "add-opt".into())]));
    assert!(saga < 1e-8 && plain > 1e-3, "{saga:e} with SAGA, {plain:e} without");
    let momentum = error("push-asgd", &[]);
    assert!(momentum < plain / 2.0, "{momentum:e} with recursive momentum, {plain:e} without");
}
