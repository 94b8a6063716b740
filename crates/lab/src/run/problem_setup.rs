//! Making the problem of a run, and dividing its data among agents.

use std::path::Path;
use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Steps};
use fabnet_core::settings::SettingsReader;
use fabnet_core::{Problem, Scalar};
use fabnet_problems::ProblemRecipe;

use super::setup_error::SetupError;
use crate::estimate::MemoryNeeds;
use crate::plan::{Group, Precision};
use crate::registry::{find_method, find_problem, make_network};

/// The number of agents from which on memory is estimated before the problem is made.
const MANY: usize = 10_000;
/// The number of agents that memory is estimated with.
const FEW: usize = 64;

/// Makes the problem of a run. One that cannot fit into memory is refused before it is made.
pub(super) fn make_problem<T: Scalar>(group: &Group, seed: u64) -> Result<Arc<dyn Problem<T>>, SetupError> {
    let recipe = (find_problem(group)?.read)(&mut SettingsReader::new(&group.problem));
    if group.agents > MANY {
        refuse_many(group, seed, &recipe)?;
    }
    recipe(group.agents, seed).map_err(|reason| SetupError::Problem { reason })
}

/// Refuses more agents than fit into memory, extrapolated from a few agents with the same settings.
fn refuse_many<T: Scalar>(group: &Group, seed: u64, recipe: &ProblemRecipe<T>) -> Result<(), SetupError> {
    let (agents, topology) = (group.agents, &group.topology.kind);
    let network = MemoryNeeds::of_network(&*make_network(group, seed)?.topology);
    network.refuse_impossible(agents, topology)?;
    // Settings that do not work for few agents, such as more data than they can hold, are reported
    // when the problem is made for all of them.
    let Ok(few) = recipe(FEW, seed) else { return Ok(()) };
    let method = find_method::<T>(group)?;
    let mut keys = SettingsReader::new(&group.algorithm);
    let build = (method.read)(&mut keys);
    let steps = method.read_steps(&mut keys).unwrap_or_else(|| Steps::auto(Auto::new(1)));
    let Ok(algorithm) = build(&*few, steps) else { return Ok(()) };
    Ok(network.with_agents(&*few, &*algorithm, agents).refuse_impossible(agents, topology)?)
}

/// Writes the data that each agent of a run would get as files that the agent could have brought
/// itself.
pub fn divide(group: &Group, seed: u64, folder: &Path) -> Result<(), SetupError> {
    let divide = match group.precision {
        Precision::F32 => find_problem::<f32>(group)?.divide,
        Precision::F64 => find_problem::<f64>(group)?.divide,
    };
    let divide = divide.ok_or_else(|| SetupError::NoData { problem: group.problem.kind.clone() })?;
    divide(&mut SettingsReader::new(&group.problem), group.agents, seed, folder)
        .map_err(|reason| SetupError::Division { reason })
}
