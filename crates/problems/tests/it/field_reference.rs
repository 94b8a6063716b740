//! Methods of the field beside independent dense versions that share no code with the engine, each
//! written as its paper has it.

use std::sync::Arc;

use fabnet_core::algorithm::{StepDecay, Steps, methods};
use fabnet_core::settings::Value;
use fabnet_core::{GradientMut, Level, Network, Point, Problem, Scratch, Shard, Venue};
use fabnet_problems::{BilevelQuadratic, Quadratic};

use crate::common;
use crate::common::small_quadratics::{DIM, SmallQuadratics};
use crate::dense_reference::Rows;
use crate::single_level_reference::{AGENTS, POWER, STEP, eta, graph, matrices, plus, times};

const LOCAL_STEPS: u64 = 3;

/// The direction of an agent in a round, at a point.
type DirectionOf = Box<dyn Fn(usize, u64, &[f64]) -> Vec<f64>>;

/// What all agents have, row by row, and how they compute their directions.
struct Dense {
    direction: DirectionOf,
    v: Rows,
    d: Rows,
    /// What methods remember, by the order in which their papers name it.
    memory: [Rows; 3],
}

impl Dense {
    fn new(width: usize, direction: impl Fn(usize, u64, &[f64]) -> Vec<f64> + 'static) -> Self {
        let v = vec![vec![0.0; width]; AGENTS];
        let d: Rows = (0..AGENTS).map(|i| direction(i, 0, &v[i])).collect();
        let memory = std::array::from_fn(|_| v.clone());
        Self { direction: Box::new(direction), v, d, memory }
    }

    /// The directions of all agents at their points, with the samples of round k.
    fn directions(&self, k: u64) -> Rows {
        (0..AGENTS).map(|i| (self.direction)(i, k, &self.v[i])).collect()
    }
}

fn scaled(rows: &Rows, s: f64) -> Rows {
    rows.iter().map(|row| row.iter().map(|value| s * value).collect()).collect()
}

/// v⁺ = W (v − η d).
fn gossip(dense: &mut Dense, w: &Rows, _: &Rows, k: u64) {
    dense.v = times(w, &plus(&dense.v, -eta(k), &dense.d));
    dense.d = dense.directions(k);
}

/// v⁺ = A v − η t, t⁺ = B t + d⁺ − d.
fn push_pull(dense: &mut Dense, a: &Rows, b: &Rows, k: u64) {
    if k == 0 {
        dense.memory[0].clone_from(&dense.d);
    }
    dense.v = plus(&times(a, &dense.v), -eta(k), &dense.memory[0]);
    let d = dense.directions(k);
    dense.memory[0] = plus(&plus(&times(b, &dense.memory[0]), 1.0, &d), -1.0, &dense.d);
    dense.d = d;
}

/// v⁺ = W̃ (2v − v⁻) − (ηd − η⁻d⁻), or with the last part inside of the brackets.
fn two_step(mixed: bool) -> impl Fn(&mut Dense, &Rows, &Rows, u64) {
    move |dense, w, _, k| {
        let lazy = |rows: &Rows| scaled(&plus(rows, 1.0, &times(w, rows)), 0.5);
        let step = scaled(&dense.d, eta(k));
        let [before, last, _] = &dense.memory;
        let (before, last) = if k == 0 { (&dense.v, scaled(&step, 0.0)) } else { (before, last.clone()) };
        let ahead = plus(&scaled(&dense.v, 2.0), -1.0, before);
        let change = plus(&step, -1.0, &last);
        let next = if mixed { lazy(&plus(&ahead, -1.0, &change)) } else { plus(&lazy(&ahead), -1.0, &change) };
        dense.memory = [std::mem::replace(&mut dense.v, next), step, Rows::new()];
        dense.d = dense.directions(k);
    }
}

/// K steps along d + c, then v⁺ = W (v − s K η z), c⁺ = c + W z − z with z = (v − u)/(K η).
fn k_gt(outer_step: f64) -> impl Fn(&mut Dense, &Rows, &Rows, u64) {
    move |dense, w, _, k| {
        let start = dense.v.clone();
        for step in 0..LOCAL_STEPS {
            let d = dense.directions(k.saturating_sub(1) * LOCAL_STEPS + step);
            dense.v = plus(&dense.v, -eta(k), &plus(&d, 1.0, &dense.memory[0]));
        }
        let length = LOCAL_STEPS as f64 * eta(k);
        let z = scaled(&plus(&start, -1.0, &dense.v), 1.0 / length);
        dense.memory[0] = plus(&plus(&dense.memory[0], 1.0, &times(w, &z)), -1.0, &z);
        dense.v = times(w, &plus(&start, -outer_step * length, &z));
    }
}

/// The two largest coordinates of each row.
fn top_two(rows: &Rows) -> Rows {
    let of = |row: &Vec<f64>| {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&i, &j| row[j].abs().total_cmp(&row[i].abs()));
        (0..row.len()).map(|i| if order[..2].contains(&i) { row[i] } else { 0.0 }).collect()
    };
    rows.iter().map(of).collect()
}

/// v⁺ = v + γ (A h − h) − η t, t⁺ = t + γ (B g − g) + d⁺ − d,
/// h⁺ = h + C(v⁺ − h), g⁺ = g + C(t⁺ − g).
fn compressed(gamma: f64, sends_start: bool) -> impl Fn(&mut Dense, &Rows, &Rows, u64) {
    move |dense, a, b, k| {
        if k == 0 {
            dense.memory[2].clone_from(&dense.d);
            if sends_start {
                dense.memory[1] = top_two(&dense.d);
            }
        }
        let [h, g, t] = &mut dense.memory;
        let pull = plus(&times(a, h), -1.0, h);
        dense.v = plus(&plus(&dense.v, gamma, &pull), -eta(k), t);
        *h = plus(h, 1.0, &top_two(&plus(&dense.v, -1.0, h)));
        let push = plus(&times(b, g), -1.0, g);
        let change = plus(&(0..AGENTS).map(|i| (dense.direction)(i, k, &dense.v[i])).collect(), -1.0, &dense.d);
        *t = plus(&plus(t, gamma, &push), 1.0, &change);
        *g = plus(g, 1.0, &top_two(&plus(t, -1.0, g)));
        dense.d = plus(&dense.d, 1.0, &change);
    }
}

/// The squared norms of the blocks of d are added to W times those before, from 1.
fn adaptive(dense: &mut Dense, w: &Rows, _: &Rows, k: u64) {
    let before = if k == 0 { vec![vec![1.0; 3]; AGENTS] } else { dense.memory[0].clone() };
    let ranges = [0..DIM.outer, DIM.outer..DIM.outer + DIM.inner, DIM.outer + DIM.inner..DIM.outer + 2 * DIM.inner];
    let norm = |d: &[f64], block: usize| d[ranges[block].clone()].iter().map(|d| d * d).sum::<f64>();
    let norms: Rows = (0..AGENTS).map(|i| (0..3).map(|b| before[i][b] + norm(&dense.d[i], b)).collect()).collect();
    let step = |i: usize| {
        let [alpha, beta, gamma] = [0, 1, 2].map(|block| norms[i][block].sqrt());
        let phi = beta.max(gamma);
        let sizes = [1.0 / (alpha * phi), 1.0 / beta, 1.0 / phi];
        (0..3).flat_map(|b| dense.d[i][ranges[b].clone()].iter().map(move |d| sizes[b] * d)).collect::<Vec<_>>()
    };
    let steps: Rows = (0..AGENTS).map(step).collect();
    dense.v = times(w, &plus(&dense.v, -eta(k), &steps));
    dense.memory[0] = times(w, &norms);
    dense.d = dense.directions(k);
}

/// The gradients of one level in x and y.
fn gradient(problem: &dyn Problem<f64>, level: Level, agent: usize, round: u64, x: &[f64], y: &[f64]) -> [Vec<f64>; 2] {
    let (mut gx, mut gy) = (vec![0.0; x.len()], vec![0.0; y.len()]);
    let to = GradientMut { scale: (1.0, 1.0), own: &mut [], x: &mut gx, y: &mut gy };
    problem.add_gradient(level, Point { agent, round, own: &[], x, y }, to, &mut Scratch::default());
    [gx, gy]
}

fn sum(terms: &[(f64, &Vec<f64>)]) -> Vec<f64> {
    (0..terms[0].1.len()).map(|c| terms.iter().map(|(s, term)| s * term[c]).sum()).collect()
}

/// SOBA's direction. The gradients of g are affine, so its products are differences of two.
fn soba(problem: &dyn Problem<f64>, agent: usize, round: u64, v: &[f64]) -> Vec<f64> {
    let (x, rest) = v.split_at(DIM.outer);
    let (y, z) = rest.split_at(DIM.inner);
    let beyond: Vec<f64> = y.iter().zip(z).map(|(y, z)| y + z).collect();
    let [fx, fy] = gradient(problem, Level::Upper, agent, round, x, y);
    let [gx, gy] = gradient(problem, Level::Lower, agent, round, x, y);
    let [hx, hy] = gradient(problem, Level::Lower, agent, round, x, &beyond);
    let dx = sum(&[(1.0, &fx), (-1.0, &hx), (1.0, &gx)]);
    let dv = sum(&[(1.0, &hy), (-1.0, &gy), (-1.0, &fy)]);
    [dx, gy, dv].concat()
}

/// dFAB's direction, with x, u and z in this order and u = −v.
fn difference(problem: &dyn Problem<f64>, agent: usize, round: u64, v: &[f64]) -> Vec<f64> {
    let (x, rest) = v.split_at(DIM.outer);
    let (u, z) = rest.split_at(DIM.inner);
    let beyond: Vec<f64> = z.iter().zip(u).map(|(z, u)| z + u).collect();
    let [fx, fy] = gradient(problem, Level::Upper, agent, round, x, z);
    let [gx, gy] = gradient(problem, Level::Lower, agent, round, x, z);
    let [hx, hy] = gradient(problem, Level::Lower, agent, round, x, &beyond);
    let dx = sum(&[(1.0, &fx), (1.0, &hx), (-1.0, &gx)]);
    let du = sum(&[(1.0, &fy), (1.0, &hy), (-1.0, &gy)]);
    [dx, du, gy].concat()
}

/// MEHA's direction with c₀ = 10 and γ = 1.
fn moreau(problem: &dyn Problem<f64>, agent: usize, round: u64, v: &[f64]) -> Vec<f64> {
    let (x, rest) = v.split_at(DIM.outer);
    let (y, theta) = rest.split_at(DIM.inner);
    let c = 10.0 * (round as f64 + 1.0).powf(0.25);
    let [fx, fy] = gradient(problem, Level::Upper, agent, round, x, y);
    let [gx, gy] = gradient(problem, Level::Lower, agent, round, x, y);
    let [hx, hy] = gradient(problem, Level::Lower, agent, round, x, theta);
    let apart: Vec<f64> = y.iter().zip(theta).map(|(y, theta)| y - theta).collect();
    let dx = sum(&[(1.0 / c, &fx), (1.0, &gx), (-1.0, &hx)]);
    let dy = sum(&[(1.0 / c, &fy), (1.0, &gy), (-1.0, &apart)]);
    [dx, dy, sum(&[(1.0, &hy), (-1.0, &apart)])].concat()
}

/// Compares a method with its dense version, which carries out one round at a time.
fn agrees(
    method: &str,
    given: &[(&str, Value)],
    problem: Arc<dyn Problem<f64>>,
    mut dense: Dense,
    (steps, round): (Steps, impl Fn(&mut Dense, &Rows, &Rows, u64)),
) {
    let venue = methods::<f64>().into_iter().find(|known| known.name == method).unwrap().venue;
    let weights = Box::new(fabnet_core::weights::Uniform);
    let (topology, weights) = venue.network(Box::new(graph()), weights);
    let algorithm = common::build_with(method, given, &*problem, steps.schedule(StepDecay::Power(POWER)));
    let mut shard = Shard::new(algorithm, problem, Network::new(topology.clone(), weights), 0).unwrap();
    for k in 0..50 {
        let (a, b) = matrices(&*topology, venue != Venue::AsAsked, k);
        let b = if venue == Venue::AsAsked { b } else { a.clone() };
        round(&mut dense, &a, &b, k);
        shard.round().unwrap();
        for agent in 0..AGENTS {
            let point = shard.view().point(agent);
            let gap = point.iter().zip(&dense.v[agent]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-12, "{method} {given:?}: agent {agent} is {gap:e} apart after {} rounds", k + 1);
        }
    }
    assert!(dense.v.iter().flatten().all(|x| x.abs() > 1e-6), "{method}: something has moved");
}

fn agrees_on_one_level(
    method: &str,
    given: &[(&str, Value)],
    steps: Steps,
    round: impl Fn(&mut Dense, &Rows, &Rows, u64),
) {
    for batches in [1, 3] {
        let problem = Arc::new(Quadratic::new(AGENTS, 4, 3.0, 1.0, 9).with_batches(batches, 0.5));
        let shared = problem.clone();
        let direction = move |agent, round, y: &[f64]| {
            let [_, gy] = gradient(&*shared, Level::Lower, agent, round, &[], y);
            gy
        };
        let dense = Dense::new(4, direction);
        agrees(method, given, problem, dense, (steps.clone(), &round));
    }
}

/// A direction of two levels, for an agent in a round, at a point.
type BilevelDirection = fn(&dyn Problem<f64>, usize, u64, &[f64]) -> Vec<f64>;

fn agrees_on_two_levels(
    method: &str,
    direction: BilevelDirection,
    steps: Steps,
    round: impl Fn(&mut Dense, &Rows, &Rows, u64),
) {
    let problem = Arc::new(BilevelQuadratic::new(AGENTS, DIM, 3.0, 0.3, 7));
    let shared = problem.clone();
    let dense = Dense::new(DIM.outer + 2 * DIM.inner, move |agent, round, v| direction(&*shared, agent, round, v));
    agrees(method, &[], problem, dense, (steps, round));
}

#[test]
fn single_level_methods_equal_their_dense_versions() {
    let steps = Steps::same(STEP);
    agrees_on_one_level("extra", &[], steps.clone(), two_step(false));
    agrees_on_one_level("exact-diffusion", &[], steps.clone(), two_step(true));
    let local = steps.clone().exchange_every(LOCAL_STEPS);
    agrees_on_one_level("k-gt", &[], local.clone(), k_gt(1.0));
    agrees_on_one_level("k-gt", &[("outer_step", 0.7.into())], local, k_gt(0.7));
    let given = [("share", 0.5.into()), ("mixing_step", 0.4.into())];
    agrees_on_one_level("cpp", &given, steps.clone(), compressed(0.4, true));
    agrees_on_one_level("beer", &given, steps, compressed(0.4, false));
}

#[test]
fn bilevel_methods_equal_their_dense_versions() {
    let steps = Steps::same(STEP);
    agrees_on_two_levels("d-soba", soba, steps.clone(), gossip);
    agrees_on_two_levels("sparkle-extra", soba, steps.clone(), two_step(false));
    agrees_on_two_levels("sparkle-ed", soba, steps.clone(), two_step(true));
    agrees_on_two_levels("ada-sdbo", soba, steps.clone(), adaptive);
    agrees_on_two_levels("sun-dsbo-se", moreau, steps.clone(), gossip);
    agrees_on_two_levels("sun-dsbo-gt", moreau, steps.clone(), push_pull);
    agrees_on_two_levels("push-pull-meha", moreau, steps.clone(), push_pull);
    agrees_on_two_levels("push-pull-soba", soba, steps, push_pull);
}

/// Where products are quotients of differences, gradients have to be small.
#[test]
fn dfab_equals_its_dense_version() {
    let problem = Arc::new(SmallQuadratics::new(AGENTS, 1));
    let shared = problem.clone();
    let dense = Dense::new(DIM.outer + 2 * DIM.inner, move |agent, round, v| difference(&*shared, agent, round, v));
    agrees("dfab", &[], problem, dense, (Steps::same(STEP), push_pull));
}

/// A method without a dense version to compare it with is one whose arithmetic nobody has checked.
#[test]
fn every_method_is_compared_with_a_dense_version() {
    let references = [
        include_str!("dense_reference.rs"),
        include_str!("double_loop_reference.rs"),
        include_str!("field_reference.rs"),
        include_str!("single_level_reference.rs"),
    ];
    for method in methods::<f64>() {
        let quoted = format!("\"{}\"", method.name);
        assert!(references.iter().any(|file| file.contains(&quoted)), "{} has no dense version", method.name);
    }
}
