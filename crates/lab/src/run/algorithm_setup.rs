//! Making the method of a run, with its step sizes.

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Method, Steps};
use fabnet_core::network::Reach;
use fabnet_core::settings::SettingsReader;
use fabnet_core::{Algorithm, Network, Problem, ProblemExt, Scalar};

use super::setup_error::SetupError;
use crate::plan::Group;

/// Makes the method of a group for a problem, with the step sizes that are given, those of the
/// group, or automatic ones.
pub(super) fn make_algorithm<T: Scalar>(
    method: &Method<T>,
    group: &Group,
    steps: Option<Steps>,
    problem: &dyn Problem<T>,
    (reach, network): (&Reach<'_>, Network),
) -> Result<Arc<dyn Algorithm<T>>, SetupError> {
    if method.direction.bilevel && !problem.is_bilevel() {
        let (algorithm, problem) = (method.name.to_owned(), group.problem.kind.clone());
        return Err(SetupError::SingleLevel { algorithm, problem });
    }
    let is_learning = problem.capabilities().model.is_some();
    let mut keys = SettingsReader::new(&group.algorithm);
    let recipe = (method.read)(&mut keys);
    let steps = match steps.or_else(|| method.read_steps(&mut keys)) {
        Some(steps) => steps,
        None if !method.direction.automatic => {
            return Err(SetupError::StepSizes { algorithm: method.name.to_owned() });
        }
        None => Steps::auto(automatic(group, reach)?),
    };
    let lossy = group.faults.is_some() || group.network.is_some();
    if lossy {
        method.check_losses()?;
    }
    let settle = group.settle.unwrap_or_else(|| if is_learning { settling_rounds(&network, group.rounds) } else { 0 });
    let steps = if settle == 0 { steps } else { steps.rest_from(group.rounds.saturating_sub(settle)) };
    Ok(recipe(problem, steps.on(network, lossy)?)?.into())
}

/// The rounds of mixing after which agents differ by a thousandth of what they did: the accuracies
/// of their models cannot be told apart then. They may take a fifth of a run.
fn settling_rounds(network: &Network, rounds: u64) -> u64 {
    network.mixing_time(1e-3, rounds / 5).unwrap_or(rounds / 5)
}

/// Automatic step sizes for a network.
fn automatic(group: &Group, reach: &Reach<'_>) -> Result<Auto, SetupError> {
    let (agents, topology) = (group.agents, &group.topology.kind);
    let spread = reach.spread().ok_or_else(|| SetupError::UnknownSpread { agents, topology: topology.clone() })?;
    Ok(Auto::new(spread.bound()))
}
