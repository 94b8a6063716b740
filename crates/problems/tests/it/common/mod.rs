//! What several tests share.
#![allow(dead_code, unreachable_pub)]

pub mod small_quadratics;

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Steps, methods};
use fabnet_core::network::connectivity;
use fabnet_core::observe::{ErrorWatch, run};
use fabnet_core::settings::{SettingsReader, Value};
use fabnet_core::topology::Phases;
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Network, Problem, ProblemExt, Scalar, Shard, Stop};
use fabnet_problems::PolicyEvaluation;

/// A method of the registry, by name, with its defaults.
pub fn build<T: Scalar>(name: &str, problem: &dyn Problem<T>, steps: Steps) -> Arc<dyn Algorithm<T>> {
    build_with(name, &[], problem, steps)
}

/// The same, with settings.
pub fn build_with<T: Scalar>(
    name: &str,
    given: &[(&str, Value)],
    problem: &dyn Problem<T>,
    steps: Steps,
) -> Arc<dyn Algorithm<T>> {
    let method = methods().into_iter().find(|method| method.name == name).unwrap_or_else(|| panic!("no method {name}"));
    let mut keys = SettingsReader::new(&given);
    let recipe = (method.read)(&mut keys);
    assert!(keys.mistakes.is_empty(), "{:?}", keys.mistakes);
    recipe(problem, steps).unwrap().into()
}

/// The paper's network of ten agents.
pub fn phases(seed: u64) -> Network {
    Network::new(Arc::new(Phases::new(10, 0.3, seed)), Arc::new(Uniform))
}

/// Policy evaluation with ten agents on the paper's network, looked at every `every` rounds.
pub fn policy_evaluation(
    name: &str,
    given: &[(&str, Value)],
    steps: Steps,
    seed: u64,
    rounds: u64,
    every: u64,
    until: f64,
) -> (Stop, ErrorWatch<f64>) {
    let problem = Arc::new(PolicyEvaluation::new(10, seed));
    let algorithm = build_with(name, given, &*problem, steps);
    let mut watch = ErrorWatch::new(problem.optimum().unwrap(), every).until(until);
    let mut shard = Shard::new(algorithm, problem, phases(seed), seed).unwrap();
    (run(&mut shard, rounds, &mut watch).unwrap(), watch)
}

/// Automatic step sizes for the paper's network.
pub fn automatic(seed: u64) -> Steps {
    let report = connectivity(&Phases::new(10, 0.3, seed), &Uniform, 30);
    Steps::auto(Auto::new(report.spread.unwrap().bound())).on(phases(seed), false).unwrap()
}

/// The median; what never came counts as infinite, and so does the median of nothing.
pub fn median(values: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    let mut values: Vec<u64> = values.into_iter().map(|value| value.unwrap_or(u64::MAX)).collect();
    values.sort_unstable();
    let (low, high) = (*values.get(values.len().saturating_sub(1) / 2)?, values[values.len() / 2]);
    (high < u64::MAX).then(|| low + (high - low) / 2)
}
