//! Making the method of a run, with its step sizes.

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Method, Steps};
use fabnet_core::network::Reach;
use fabnet_core::settings::SettingsReader;
use fabnet_core::{Algorithm, Problem, ProblemExt, Scalar};

use super::setup_error::SetupError;
use crate::plan::Group;

/// Makes the method of a group for a problem, with the step sizes that are given, those of the
/// group, or automatic ones.
pub(super) fn make_algorithm<T: Scalar>(
    method: &Method<T>,
    group: &Group,
    steps: Option<Steps>,
    problem: &dyn Problem<T>,
    reach: &Reach<'_>,
) -> Result<Arc<dyn Algorithm<T>>, SetupError> {
    if method.direction.bilevel && !problem.is_bilevel() {
        let (algorithm, problem) = (method.name.to_owned(), group.problem.kind.clone());
        return Err(SetupError::SingleLevel { algorithm, problem });
    }
    let mut keys = SettingsReader::new(&group.algorithm);
    let recipe = (method.read)(&mut keys);
    let steps = match steps.or_else(|| Steps::read(&mut keys, method.direction.steps)) {
        Some(steps) => steps,
        None if !method.direction.automatic => {
            return Err(SetupError::StepSizes { algorithm: method.name.to_owned() });
        }
        None => Steps::auto(automatic(group, reach)?),
    };
    Ok(recipe(problem, steps)?.into())
}

/// Automatic step sizes for a network.
fn automatic(group: &Group, reach: &Reach<'_>) -> Result<Auto, SetupError> {
    let (agents, topology) = (group.agents, &group.topology.kind);
    reach.spread().map(Auto::new).ok_or_else(|| SetupError::UnknownSpread { agents, topology: topology.clone() })
}
