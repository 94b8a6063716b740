//! FAB, over push-pull and over push-sum, beside an independent dense version that shares no code
//! with the engine.

use std::sync::Arc;

use fabnet_core::algorithm::{Steps, methods};
use fabnet_core::topology::{Phases, Topology};
use fabnet_core::weights::Uniform;
use fabnet_core::{Digraph, GradientMut, Level, Network, Point, Problem, Scratch, Shard, Venue};
use fabnet_problems::PolicyEvaluation;

use crate::common;

pub(crate) type Rows = Vec<Vec<f64>>;

const AGENTS: usize = 10;
const PENALTY: f64 = 60.0;
const STEPS: [f64; 3] = [0.1, 0.09, 0.11];

#[derive(Clone, Copy)]
enum Pattern {
    PushPull,
    PushSum,
}

/// FAB with dense matrices, as the paper writes it.
struct Dense<'a> {
    problem: &'a PolicyEvaluation<f64>,
    topology: Phases,
    v: Rows,
    d: Rows,
    t: Rows,
    /// Push-sum's mass and weight.
    u: Rows,
    w: Rows,
}

impl<'a> Dense<'a> {
    fn new(problem: &'a PolicyEvaluation<f64>, topology: Phases) -> Self {
        let v = vec![vec![0.0; 45]; AGENTS];
        let d: Rows = (0..AGENTS).map(|i| direction(problem, i, &v[i])).collect();
        Self { problem, topology, u: v.clone(), v, t: d.clone(), d, w: vec![vec![1.0]; AGENTS] }
    }

    /// A and B of a round.
    fn matrices(&self, k: u64) -> (Rows, Rows) {
        let mut graph = Digraph::new(AGENTS);
        self.topology.draw(self.topology.graph_of(k), &mut graph);
        let (mut a, mut b) = (vec![vec![0.0; AGENTS]; AGENTS], vec![vec![0.0; AGENTS]; AGENTS]);
        for (j, i) in graph.links().chain((0..AGENTS).map(|i| (i, i))) {
            a[i][j] = 1.0 / (1 + graph.in_degree(i)) as f64;
            b[i][j] = 1.0 / (1 + graph.out_degree(j)) as f64;
        }
        (a, b)
    }

    /// `v⁺ = A v − η t`.
    fn push_pull(&mut self, k: u64) {
        let (a, b) = self.matrices(k);
        let mixed = product(&a, &self.v);
        self.v = combine(&mixed, &self.t, |c, v, t| v - step(c) * t);
        self.track(&b);
    }

    /// `u⁺ = B (u − η t)`, `w⁺ = B w`, `v⁺ = u⁺/w⁺`.
    fn push_sum(&mut self, k: u64) {
        let (_, b) = self.matrices(k);
        self.u = product(&b, &combine(&self.u, &self.t, |c, u, t| u - step(c) * t));
        self.w = product(&b, &self.w);
        self.v = (0..AGENTS).map(|i| self.u[i].iter().map(|u| u / self.w[i][0]).collect()).collect();
        self.track(&b);
    }

    /// `t⁺ = B t + d⁺ − d`.
    fn track(&mut self, b: &Rows) {
        let d: Rows = (0..AGENTS).map(|i| direction(self.problem, i, &self.v[i])).collect();
        let change = combine(&d, &self.d, |_, new, old| new - old);
        self.t = combine(&product(b, &self.t), &change, |_, t, change| t + change);
        self.d = d;
    }
}

fn direction(problem: &PolicyEvaluation<f64>, agent: usize, v: &[f64]) -> Vec<f64> {
    let (x, y, z) = (&v[..5], &v[5..25], &v[25..]);
    let gradient = |level, y| {
        let (mut gx, mut gy) = (vec![0.0; 5], vec![0.0; 20]);
        let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut gx, y: &mut gy };
        problem.add_gradient(level, Point { agent, round: 0, own: &[], x, y }, to, &mut Scratch::default());
        (gx, gy)
    };
    let ((fx, fy), (gx, gy), (hx, hy)) =
        (gradient(Level::Upper, y), gradient(Level::Lower, y), gradient(Level::Lower, z));
    let dx = (0..5).map(|k| fx[k] / PENALTY + gx[k] - hx[k]);
    let dy = (0..20).map(|s| fy[s] / PENALTY + gy[s]);
    dx.chain(dy).chain(hy).collect()
}

fn step(column: usize) -> f64 {
    STEPS[if column < 5 { 0 } else { 1 + (column - 5) / 20 }]
}

fn product(matrix: &Rows, rows: &Rows) -> Rows {
    let entry = |i: usize, c: usize| (0..AGENTS).map(|j| matrix[i][j] * rows[j][c]).sum();
    (0..AGENTS).map(|i| (0..rows[0].len()).map(|c| entry(i, c)).collect()).collect()
}

fn combine(a: &Rows, b: &Rows, f: impl Fn(usize, f64, f64) -> f64) -> Rows {
    (0..AGENTS).map(|i| (0..a[i].len()).map(|c| f(c, a[i][c], b[i][c])).collect()).collect()
}

fn equals_the_dense_version(method: &str, pattern: Pattern) {
    let problem = Arc::new(PolicyEvaluation::new(AGENTS, 4));
    let mut dense = Dense::new(&problem, Phases::new(AGENTS, 0.3, 4));
    let steps = Steps::each(["x", "y", "z"].into_iter().zip(STEPS));
    let algorithm = common::build_with(method, &[("penalty", PENALTY.into())], &*problem, steps);
    let venue = methods::<f64>().into_iter().find(|known| known.name == method).unwrap().venue;
    let (topology, weights) = venue.network(Box::new(Phases::new(AGENTS, 0.3, 4)), Box::new(Uniform));
    let mut shard = Shard::new(algorithm, problem.clone(), Network::new(topology, weights), 0).unwrap();
    for k in 0..200 {
        let drawn = if venue == Venue::Static { 0 } else { k };
        match pattern {
            Pattern::PushPull => dense.push_pull(drawn),
            Pattern::PushSum => dense.push_sum(drawn),
        }
        shard.round().unwrap();
        for agent in 0..AGENTS {
            let (ours, theirs) = (shard.view().point(agent), &dense.v[agent]);
            let gap = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-12, "{method}: agent {agent} is {gap:e} apart after {} rounds", k + 1);
        }
    }
}

#[test]
fn fab_equals_the_dense_version() {
    equals_the_dense_version("fab", Pattern::PushPull);
}

#[test]
fn static_fab_equals_the_dense_version() {
    equals_the_dense_version("static-fab", Pattern::PushPull);
}

/// One agent that holds everything descends along the mean of all directions.
#[test]
fn centralized_fab_equals_the_dense_version() {
    let problem = Arc::new(PolicyEvaluation::<f64>::new(AGENTS, 4));
    let method = methods::<f64>().into_iter().find(|known| known.name == "centralized-fab").unwrap();
    let (topology, weights) = method.venue.network(Box::new(Phases::new(AGENTS, 0.3, 4)), Box::new(Uniform));
    let average = method.venue.problem::<f64>(problem.clone()).unwrap();
    let steps = Steps::each(["x", "y", "z"].into_iter().zip(STEPS));
    let algorithm = common::build_with("centralized-fab", &[("penalty", PENALTY.into())], &*average, steps);
    let mut shard = Shard::new(algorithm, average, Network::new(topology, weights), 0).unwrap();
    let mut v = vec![0.0; 45];
    for k in 0..200 {
        let directions: Rows = (0..AGENTS).map(|agent| direction(&problem, agent, &v)).collect();
        for (c, v) in v.iter_mut().enumerate() {
            *v -= step(c) * directions.iter().map(|d| d[c]).sum::<f64>() / AGENTS as f64;
        }
        shard.round().unwrap();
        let gap = shard.view().point(0).iter().zip(&v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-12, "{gap:e} apart after {} rounds", k + 1);
    }
    assert!(v.iter().all(|v| v.abs() > 1e-6), "something has moved");
}

#[test]
fn push_sum_fab_equals_the_dense_version() {
    equals_the_dense_version("push-sum-fab", Pattern::PushSum);
}
