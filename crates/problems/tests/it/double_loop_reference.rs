//! Double loops beside an independent dense version that shares no code with the engine.
//!
//! Rounds take turns: `inner_rounds` of them exchange and move y and its sensitivity S, and one
//! exchanges and moves x. A round computes the whole direction, whatever it moves.

use std::sync::Arc;

use fabnet_core::algorithm::{StepDecay, Steps};
use fabnet_core::settings::Value;
use fabnet_core::weights::Uniform;
use fabnet_core::{GradientMut, Level, Network, Point, Problem, ProblemExt, Scratch, Shard};

use crate::common;
use crate::common::small_quadratics::{DIM, SCALE, SmallQuadratics};
use crate::dense_reference::Rows;
use crate::single_level_reference::{AGENTS, POWER, STEP, eta, graph, matrices, plus, times};

/// x, y and the columns of S.
const WIDTH: usize = DIM.outer + DIM.inner + DIM.outer * DIM.inner;
const INNER_ROUNDS: u64 = 4;
const BETA: f64 = 0.02;

/// How points travel.
#[derive(Clone, Copy, PartialEq)]
enum Exchange {
    /// v⁺ = A v − η t.
    PushPull,
    /// u⁺ = B (u − η d).
    Untracked,
    /// u⁺ = B (u − η t).
    StepThenMix,
    /// u⁺ = B u − η t.
    MixThenStep,
}

/// How samples become a direction.
#[derive(Clone, Copy, PartialEq)]
enum Sample {
    Plain,
    Saga,
    Recursive,
}

/// All agents, row by row.
struct Dense {
    problem: SmallQuadratics,
    sample: Sample,
    v: Rows,
    d: Rows,
    t: Rows,
    /// Push-sum's mass, and its weights for x and for the rest.
    u: Rows,
    w: Rows,
    /// SAGA's table, agent by agent and batch by batch.
    table: Vec<Rows>,
}

impl Dense {
    fn new(batches: usize, sample: Sample) -> Self {
        let problem = SmallQuadratics::new(AGENTS, batches);
        let v = vec![vec![0.0; WIDTH]; AGENTS];
        let d: Rows = (0..AGENTS).map(|i| direction(&problem, i, 0, &v[i])).collect();
        let mut table = vec![vec![vec![0.0; WIDTH]; batches]; AGENTS];
        for (i, entries) in table.iter_mut().enumerate() {
            entries[problem.batch(i, 0)].clone_from(&d[i]);
        }
        Self { problem, sample, t: d.clone(), d, u: v.clone(), v, w: vec![vec![1.0; 2]; AGENTS], table }
    }

    /// The next estimate of agent i, which moves from `before` to where it is.
    fn estimate(&mut self, i: usize, k: u64, before: &[f64]) -> Vec<f64> {
        let here = direction(&self.problem, i, k, &self.v[i]);
        match self.sample {
            Sample::Plain => here,
            Sample::Saga => {
                let (entries, batch) = (&mut self.table[i], self.problem.batch(i, k));
                let mean = |c: usize| entries.iter().map(|entry| entry[c]).sum::<f64>() / entries.len() as f64;
                let estimate = (0..WIDTH).map(|c| here[c] - entries[batch][c] + mean(c)).collect();
                entries[batch] = here;
                estimate
            }
            Sample::Recursive => {
                let there = direction(&self.problem, i, k, before);
                (0..WIDTH).map(|c| here[c] + (1.0 - BETA) * (self.d[i][c] - there[c])).collect()
            }
        }
    }

    fn round(&mut self, exchange: Exchange, a: &Rows, b: &Rows, k: u64) {
        let moves = if k % (INNER_ROUNDS + 1) < INNER_ROUNDS { DIM.outer..WIDTH } else { 0..DIM.outer };
        let step = |rows: &Rows, along: &Rows| {
            let mut rows = rows.clone();
            for (row, along) in rows.iter_mut().zip(along) {
                moves.clone().for_each(|c| row[c] -= eta(k) * along[c]);
            }
            rows
        };
        let mix = |matrix: &Rows, rows: &Rows, range: std::ops::Range<usize>| {
            let mut mixed = rows.clone();
            for (i, c) in (0..AGENTS).flat_map(|i| range.clone().map(move |c| (i, c))) {
                mixed[i][c] = (0..AGENTS).map(|j| matrix[i][j] * rows[j][c]).sum();
            }
            mixed
        };
        let before = self.v.clone();
        match exchange {
            Exchange::PushPull => self.v = step(&mix(a, &self.v, moves.clone()), &self.t),
            Exchange::Untracked => self.u = mix(b, &step(&self.u, &self.d), moves.clone()),
            Exchange::StepThenMix => self.u = mix(b, &step(&self.u, &self.t), moves.clone()),
            Exchange::MixThenStep => self.u = step(&mix(b, &self.u, moves.clone()), &self.t),
        }
        if exchange != Exchange::PushPull {
            let part = usize::from(moves.start > 0);
            self.w = mix(b, &self.w, part..part + 1);
            let unbiased =
                |i: usize| (0..WIDTH).map(|c| self.u[i][c] / self.w[i][usize::from(c >= DIM.outer)]).collect();
            self.v = (0..AGENTS).map(unbiased).collect();
        }
        let fresh: Rows = (0..AGENTS).map(|i| self.estimate(i, k, &before[i])).collect();
        let change = plus(&fresh, -1.0, &self.d);
        self.t = plus(&mix(b, &self.t, moves), 1.0, &change);
        self.d = fresh;
    }
}

/// The gradients of one level in x and y.
fn gradient(problem: &SmallQuadratics, level: Level, agent: usize, round: u64, [x, y]: [&[f64]; 2]) -> [Vec<f64>; 2] {
    let (mut gx, mut gy) = (vec![0.0; x.len()], vec![0.0; y.len()]);
    let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut gx, y: &mut gy };
    problem.add_gradient(level, Point { agent, round, own: &[], x, y }, to, &mut Scratch::default());
    [gx, gy]
}

/// ∇ₓf + Sᵀ∇ᵧf, ∇ᵧg, and ∇²ᵧₓg + ∇²ᵧᵧg S, whose columns are differences: ∇g is affine.
fn direction(problem: &SmallQuadratics, agent: usize, round: u64, v: &[f64]) -> Vec<f64> {
    let (x, rest) = v.split_at(DIM.outer);
    let (y, s) = rest.split_at(DIM.inner);
    let [mut dx, fy] = gradient(problem, Level::Upper, agent, round, [x, y]);
    let [_, dy] = gradient(problem, Level::Lower, agent, round, [x, y]);
    let mut ds = Vec::new();
    for (j, column) in s.chunks(DIM.inner).enumerate() {
        dx[j] += column.iter().zip(&fy).map(|(s, f)| s * f).sum::<f64>();
        let mut ahead = x.to_vec();
        ahead[j] += SCALE;
        let along: Vec<f64> = y.iter().zip(column).map(|(y, s)| y + SCALE * s).collect();
        let [_, there] = gradient(problem, Level::Lower, agent, round, [&ahead, &along]);
        ds.extend(there.iter().zip(&dy).map(|(there, here)| (there - here) / SCALE));
    }
    [dx, dy, ds].concat()
}

fn agrees(method: &str, given: &[(&str, Value)], exchange: Exchange, sample: Sample) {
    for batches in [1, 3] {
        let problem = Arc::new(SmallQuadratics::new(AGENTS, batches));
        let given: Vec<_> =
            given.iter().cloned().chain([("inner_rounds", Value::Whole(INNER_ROUNDS.cast_signed()))]).collect();
        let steps = Steps::same(STEP).schedule(StepDecay::Power(POWER));
        let algorithm = common::build_with(method, &given, &*problem, steps);
        let mut shard = Shard::new(algorithm, problem, Network::new(Arc::new(graph()), Arc::new(Uniform)), 0).unwrap();
        let mut dense = Dense::new(batches, sample);
        for k in 0..50 {
            let (a, b) = matrices(&graph(), false, k);
            dense.round(exchange, &a, &b, k);
            shard.round().unwrap();
            for agent in 0..AGENTS {
                let point = shard.view().point(agent);
                let gap = point.iter().zip(&dense.v[agent]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(gap < 1e-12, "{method}: agent {agent} is {gap:e} apart after {} rounds", k + 1);
            }
        }
        assert!(dense.v.iter().flatten().all(|v| v.abs() > 1e-3 * SCALE), "{method}: something has moved");
    }
}

const TERMS: u64 = 3;
const PUSHES: u64 = 2;
const DAMPING: f64 = 0.2;

/// HGP with dense matrices: push-sum's mass and weights of x and y, and of a term of the series.
struct DenseHgp {
    problem: SmallQuadratics,
    v: Rows,
    u: Rows,
    w: Rows,
    r: Rows,
    s: Rows,
    h: Rows,
}

impl DenseHgp {
    fn new(batches: usize) -> Self {
        let zeros = |width: usize| vec![vec![0.0; width]; AGENTS];
        let (v, w) = (zeros(DIM.outer + DIM.inner), vec![vec![1.0; 2]; AGENTS]);
        let (r, s, h) = (zeros(DIM.inner), zeros(1), zeros(DIM.outer));
        Self { problem: SmallQuadratics::new(AGENTS, batches), u: v.clone(), v, w, r, s, h }
    }

    /// The gradients of agent i at its point, or at some distance in y.
    fn gradient(&self, level: Level, i: usize, round: u64, away: &[f64]) -> [Vec<f64>; 2] {
        let (x, y) = self.v[i].split_at(DIM.outer);
        let y: Vec<f64> = y.iter().zip(away).map(|(y, away)| y + away).collect();
        gradient(&self.problem, level, i, round, [x, &y])
    }

    /// Push-sum of one block, along these directions.
    fn push(&mut self, part: usize, along: &Rows, b: &Rows, k: u64) {
        let range = [0..DIM.outer, DIM.outer..DIM.outer + DIM.inner][part].clone();
        let ahead: Rows = (0..AGENTS)
            .map(|i| range.clone().zip(&along[i]).map(|(c, d)| self.u[i][c] - eta(k) * d).collect())
            .collect();
        let (mass, weight) = (times(b, &ahead), times(b, &self.w));
        for i in 0..AGENTS {
            self.w[i][part] = weight[i][part];
            for (c, &mass) in range.clone().zip(&mass[i]) {
                self.u[i][c] = mass;
                self.v[i][c] = mass / self.w[i][part];
            }
        }
    }

    fn round(&mut self, b: &Rows, k: u64) {
        let (place, last, none) = (k % (INNER_ROUNDS + TERMS * PUSHES + 1), k.saturating_sub(1), [0.0; DIM.inner]);
        if place < INNER_ROUNDS {
            let along = (0..AGENTS).map(|i| self.gradient(Level::Lower, i, last, &none)[1].clone()).collect();
            return self.push(1, &along, b, k);
        }
        if place == INNER_ROUNDS + TERMS * PUSHES {
            return self.push(0, &self.h.clone(), b, k);
        }
        if place == INNER_ROUNDS {
            for i in 0..AGENTS {
                [self.h[i], self.r[i]] = self.gradient(Level::Upper, i, last, &none);
            }
        }
        if (place - INNER_ROUNDS).is_multiple_of(PUSHES) {
            self.s = vec![vec![1.0]; AGENTS];
        }
        (self.r, self.s) = (times(b, &self.r), times(b, &self.s));
        if (place - INNER_ROUNDS) % PUSHES == PUSHES - 1 {
            for i in 0..AGENTS {
                let w: Vec<f64> = self.r[i].iter().map(|r| r / self.s[i][0]).collect();
                let [here, there] = [&none[..], &w].map(|away| self.gradient(Level::Lower, i, k, away));
                let product = |block: usize, c: usize| there[block][c] - here[block][c];
                (0..DIM.outer).for_each(|c| self.h[i][c] -= DAMPING * product(0, c));
                self.r[i] = (0..DIM.inner).map(|c| w[c] - DAMPING * product(1, c)).collect();
            }
        }
    }
}

#[test]
fn hgp_equals_its_dense_version() {
    let settings = [
        ("inner_rounds", Value::Whole(INNER_ROUNDS.cast_signed())),
        ("terms", Value::Whole(TERMS.cast_signed())),
        ("pushes", Value::Whole(PUSHES.cast_signed())),
        ("damping", Value::Number(DAMPING)),
    ];
    for batches in [1, 3] {
        let problem = Arc::new(SmallQuadratics::new(AGENTS, batches));
        let steps = Steps::same(STEP).schedule(StepDecay::Power(POWER));
        let algorithm = common::build_with("hgp", &settings, &*problem, steps);
        let mut shard = Shard::new(algorithm, problem, Network::new(Arc::new(graph()), Arc::new(Uniform)), 0).unwrap();
        let mut dense = DenseHgp::new(batches);
        for k in 0..50 {
            dense.round(&matrices(&graph(), false, k).1, k);
            shard.round().unwrap();
            for agent in 0..AGENTS {
                let point = shard.view().point(agent);
                let gap = point.iter().zip(&dense.v[agent]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(gap < 1e-12, "agent {agent} is {gap:e} apart after {} rounds", k + 1);
            }
        }
        assert!(dense.v.iter().flatten().all(|v| v.abs() > 1e-4 * SCALE), "something has moved");
    }
}

#[test]
fn double_loops_equal_their_dense_versions() {
    agrees("dl-push-pull", &[], Exchange::PushPull, Sample::Plain);
    agrees("dl-push-sgd", &[], Exchange::Untracked, Sample::Plain);
    agrees("dl-push-saga", &[], Exchange::MixThenStep, Sample::Saga);
    agrees("dl-push-asgd", &[], Exchange::StepThenMix, Sample::Recursive);
}
