//! The rates that the paper proves, measured: slopes of min ‖∇F*‖² over the number of rounds K.
//! `cargo test --release -p fabnet-problems --test it rates -- --nocapture` prints them.
#![allow(clippy::print_stdout)]

use std::ops::ControlFlow;
use std::sync::Arc;

use fabnet_core::algorithm::Steps;
use fabnet_core::hypergradient::Solver;
use fabnet_core::observe::{Observer, View, run};
use fabnet_core::settings::Value;
use fabnet_core::{Problem, Shard, Stop, linalg};
use fabnet_problems::{Nonconvex, SmoothBilevel};
use rayon::prelude::*;

use crate::common;

/// Keeps the smallest squared gradient of the mean point, looked at every `every` rounds.
struct Smallest {
    solver: Solver<f64>,
    every: u64,
    /// (round, smallest so far), at each power of two.
    found: Vec<(u64, f64)>,
    least: f64,
}

impl Observer<f64> for Smallest {
    fn round(&mut self, view: &View<'_, f64>) -> ControlFlow<Stop> {
        if view.round.is_multiple_of(self.every) {
            let mean = view.mean();
            let (x, y) = view.algorithm.direction().solution(view.problem.dim(), &mean);
            let gradient = self.solver.hypergradient(view.problem, if x.is_empty() { y } else { x });
            self.least = self.least.min(linalg::norm_squared(&gradient));
        }
        if view.round.is_power_of_two() {
            self.found.push((view.round, self.least));
        }
        ControlFlow::Continue(())
    }
}

fn smallest(
    method: &str,
    given: &[(&str, Value)],
    steps: Steps,
    problem: Arc<dyn Problem<f64>>,
    seed: u64,
    rounds: u64,
    every: u64,
) -> Smallest {
    let mut watch = Smallest { solver: Solver::new(&*problem), every, found: Vec::new(), least: f64::INFINITY };
    let algorithm = common::build_with(method, given, &*problem, steps);
    let mut shard = Shard::new(algorithm, problem, common::phases(seed), seed).unwrap();
    run(&mut shard, rounds, &mut watch).unwrap();
    watch
}

/// The slope of the least-squares line through (ln k, ln value).
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = || points.iter().map(|(k, value)| (k.ln(), value.ln()));
    let (mean_k, mean_v) = (logs().map(|(k, _)| k).sum::<f64>() / n, logs().map(|(_, v)| v).sum::<f64>() / n);
    logs().map(|(k, v)| (k - mean_k) * (v - mean_v)).sum::<f64>()
        / logs().map(|(k, _)| (k - mean_k).powi(2)).sum::<f64>()
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Theorem 1: K^(-2/3) with λ = K^(1/3) and η ∝ K^(-1/3). That is the rate of the tail: up to K =
/// 16,000 most instances are still on their way to a stationary point, so the last two octaves end
/// at 256,000.
#[test]
fn fab_has_the_rate_of_its_theorem() {
    let one = |seed: u64| {
        let value = |k: u64| {
            let third = (k as f64).cbrt();
            let eta = 0.6 / third;
            let steps = Steps::each([("x", 0.3 * eta), ("y", 0.5 * eta), ("z", 0.5 * eta)]);
            let given = [("penalty", third.into()), ("normalised", false.into())];
            smallest("fab", &given, steps, Arc::new(SmoothBilevel::new(10, seed)), seed, k, (k / 1000).max(1)).least
        };
        [64_000, 128_000, 256_000].map(|k| (k as f64, value(k)))
    };
    let slopes: Vec<f64> = (0..5).into_par_iter().map(|seed| slope(&one(seed))).collect();
    println!("FAB: slopes {slopes:.3?}, median {:.3} (theory -0.667)", middle(slopes.clone()));
    assert!((middle(slopes) + 2.0 / 3.0).abs() <= 0.1);
}

/// Theorem 2: K^(-1) for single-level push-pull, nonconvex.
#[test]
fn push_pull_has_the_rate_of_its_theorem() {
    let one = |seed: u64| {
        smallest("push-pull", &[], Steps::same(0.5), Arc::new(Nonconvex::new(10, seed)), seed, 1 << 17, 1).found
    };
    let slopes: Vec<f64> = (0..5)
        .into_par_iter()
        .map(|seed| slope(&one(seed)[8..].iter().map(|&(k, v)| (k as f64, v)).collect::<Vec<_>>()))
        .collect();
    println!("Push-Pull: slopes {slopes:.3?}, median {:.3} (bound -1, prototype -1.08)", middle(slopes.clone()));
    assert!((middle(slopes) + 1.08).abs() <= 0.15);
}
