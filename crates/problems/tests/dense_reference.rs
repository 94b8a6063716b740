//! FAB beside an independent dense version that shares no code with the engine.

mod common;

use std::sync::Arc;

use fabnet_core::algorithm::{Options, Steps};
use fabnet_core::topology::{Phases, Topology};
use fabnet_core::{Digraph, Level, Point, Problem, Scratch, Shard, Slopes};
use fabnet_problems::PolicyEvaluation;

type Rows = Vec<Vec<f64>>;

/// FAB with dense matrices, as the paper writes it: `v⁺ = A v − η t`, `t⁺ = B t + d⁺ − d`.
struct DenseFab<'a> {
    problem: &'a PolicyEvaluation<f64>,
    topology: Phases,
    penalty: f64,
    steps: [f64; 3],
    v: Rows,
    d: Rows,
    t: Rows,
}

impl DenseFab<'_> {
    fn direction(problem: &PolicyEvaluation<f64>, penalty: f64, agent: usize, v: &[f64]) -> Vec<f64> {
        let (x, y, z) = (&v[..5], &v[5..25], &v[25..]);
        let gradient = |level, y| {
            let (mut gx, mut gy) = (vec![0.0; 5], vec![0.0; 20]);
            let to = Slopes { scale: (1.0, 1.0), own: &mut [], x: &mut gx, y: &mut gy };
            problem.add_gradient(level, Point { agent, round: 0, own: &[], x, y }, to, &mut Scratch::default());
            (gx, gy)
        };
        let ((fx, fy), (gx, gy), (hx, hy)) =
            (gradient(Level::Upper, y), gradient(Level::Lower, y), gradient(Level::Lower, z));
        let dx = (0..5).map(|k| fx[k] / penalty + gx[k] - hx[k]);
        let dy = (0..20).map(|s| fy[s] / penalty + gy[s]);
        dx.chain(dy).chain(hy).collect()
    }

    fn round(&mut self, k: u64) {
        let n = self.v.len();
        let mut graph = Digraph::new(n);
        self.topology.draw(self.topology.graph_of(k), &mut graph);
        let (mut a, mut b) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
        for (j, i) in graph.links().chain((0..n).map(|i| (i, i))) {
            a[i][j] = 1.0 / (1 + graph.in_degree(i)) as f64;
            b[i][j] = 1.0 / (1 + graph.out_degree(j)) as f64;
        }
        let step = |c: usize| self.steps[if c < 5 { 0 } else { 1 + (c - 5) / 20 }];
        let product = |m: &Rows, r: &Rows, i: usize, c: usize| (0..n).map(|j| m[i][j] * r[j][c]).sum::<f64>();
        let v: Rows =
            (0..n).map(|i| (0..45).map(|c| product(&a, &self.v, i, c) - step(c) * self.t[i][c]).collect()).collect();
        let d: Rows = (0..n).map(|i| Self::direction(self.problem, self.penalty, i, &v[i])).collect();
        self.t =
            (0..n).map(|i| (0..45).map(|c| product(&b, &self.t, i, c) + d[i][c] - self.d[i][c]).collect()).collect();
        (self.v, self.d) = (v, d);
    }
}

#[test]
fn fab_equals_the_dense_version() {
    let problem = Arc::new(PolicyEvaluation::new(10, 4));
    let steps = [0.1, 0.09, 0.11];
    let v = vec![vec![0.0; 45]; 10];
    let d: Rows = (0..10).map(|i| DenseFab::direction(&problem, 60.0, i, &v[i])).collect();
    let mut dense =
        DenseFab { problem: &problem, topology: Phases::new(10, 0.3, 4), penalty: 60.0, steps, v, t: d.clone(), d };
    let options = Options { penalty: 60.0, ..Options::new(Steps::each([("x", 0.1), ("y", 0.09), ("z", 0.11)])) };
    let algorithm = common::build("fab", &*problem, options);
    let mut shard = Shard::new(algorithm, problem.clone(), common::phases(4), 0).unwrap();
    for k in 0..200 {
        dense.round(k);
        shard.round().unwrap();
        for agent in 0..10 {
            let (ours, theirs) = (shard.view().point(agent), &dense.v[agent]);
            let gap = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-12, "agent {agent} is {gap:e} apart after {} rounds", k + 1);
        }
    }
}
