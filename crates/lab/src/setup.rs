//! Setting up a run: from a group of the plan and a seed to a shard that is ready to go.

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Steps, methods};
use fabnet_core::settings::Keys;
use fabnet_core::topology::{joint_window, spread, topologies};
use fabnet_core::weights::weights;
use fabnet_core::{Algorithm, Network, Problem, Scalar, Shard, Topology, Weights};
use fabnet_problems::problems;

use crate::plan::Group;
use crate::section::allows_disconnected;

/// Everything a run consists of.
pub struct Setup<T: Scalar> {
    /// What is solved.
    pub problem: Arc<dyn Problem<T>>,
    /// Who hears whom.
    pub topology: Arc<dyn Topology>,
    /// How much.
    pub weights: Arc<dyn Weights>,
    /// By which method.
    pub algorithm: Arc<dyn Algorithm<T>>,
    seed: u64,
}

/// Why a run cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The file asks for something that does not exist.
    #[error("{0}")]
    Invalid(String),
    /// The file is valid, but what it asks for cannot work.
    #[error("{0}")]
    Impossible(String),
}

/// Rounds by which a network without a period is judged.
pub(crate) const WINDOW: u64 = 100;

impl<T: Scalar> Setup<T> {
    /// Sets up one run.
    pub fn new(group: &Group, seed: u64) -> Result<Self, SetupError> {
        let problem = read_problem(group)?(group.agents, seed).map_err(SetupError::Invalid)?;
        let (topology, may_be_disconnected) = read_topology(group, seed)?;
        if !may_be_disconnected && joint_window(&*topology, WINDOW).is_none() {
            return Err(SetupError::Impossible(format!(
                "the {} agents on `{}` are never jointly strongly connected: some would never hear of others, and the answer would be wrong. \
                 Add links (`fabnet check` says more), or set topology.allow_disconnected = true to go ahead all the same",
                group.agents, group.topology.kind
            )));
        }
        let algorithm = read_algorithm(group, &*problem, &*topology)?;
        Ok(Self { problem, topology, weights: read_weights(group)?, algorithm, seed })
    }

    /// All agents at their start.
    pub fn shard(&self) -> Result<Shard<T>, SetupError> {
        let network = Network::new(self.topology.clone(), self.weights.clone());
        Shard::new(self.algorithm.clone(), self.problem.clone(), network, self.seed)
            .map_err(|error| SetupError::Invalid(error.to_string()))
    }
}

fn unknown(section: &str, kind: &str) -> SetupError {
    SetupError::Invalid(format!("there is no {section} `{kind}`"))
}

fn read_problem<T: Scalar>(group: &Group) -> Result<fabnet_problems::Recipe<T>, SetupError> {
    let kind = problems().into_iter().find(|kind| kind.name == group.problem.kind);
    let kind = kind.ok_or_else(|| unknown("problem", &group.problem.kind))?;
    Ok((kind.read)(&mut Keys::new(&group.problem)))
}

/// The topology of a group, and whether it may be disconnected.
pub(crate) fn read_topology(group: &Group, seed: u64) -> Result<(Arc<dyn Topology>, bool), SetupError> {
    let kind = topologies().into_iter().find(|kind| kind.name == group.topology.kind);
    let kind = kind.ok_or_else(|| unknown("topology", &group.topology.kind))?;
    let mut keys = Keys::new(&group.topology);
    let topology = kind.read(&mut keys)(group.agents, seed).map_err(SetupError::Invalid)?;
    Ok((topology.into(), allows_disconnected(&mut keys)))
}

/// The weights of a group.
pub(crate) fn read_weights(group: &Group) -> Result<Arc<dyn Weights>, SetupError> {
    let kind = weights().into_iter().find(|kind| kind.name == group.weights.kind);
    let kind = kind.ok_or_else(|| unknown("weights", &group.weights.kind))?;
    Ok((kind.read)(&mut Keys::new(&group.weights)).into())
}

fn read_algorithm<T: Scalar>(
    group: &Group,
    problem: &dyn Problem<T>,
    topology: &dyn Topology,
) -> Result<Arc<dyn Algorithm<T>>, SetupError> {
    let kind = &group.algorithm.kind;
    let method = methods().into_iter().find(|method| method.name == kind);
    let method = method.ok_or_else(|| unknown("algorithm", kind))?;
    if method.direction.bilevel && problem.dim().outer == 0 {
        return Err(SetupError::Invalid(format!(
            "`{kind}` solves bilevel problems, but `{}` has one level: take `push-pull` or `push-diging`",
            group.problem.kind
        )));
    }
    let mut keys = Keys::new(&group.algorithm);
    let recipe = (method.read)(&mut keys);
    let steps = match Steps::read(&mut keys, method.direction.steps) {
        Some(steps) => steps,
        None => Steps::auto(automatic(group, topology)?),
    };
    let algorithm = recipe(problem, steps).map_err(|error| SetupError::Invalid(error.to_string()))?;
    Ok(algorithm.into())
}

/// Automatic steps for a network.
fn automatic(group: &Group, topology: &dyn Topology) -> Result<Auto, SetupError> {
    spread(topology, WINDOW).map(Auto::new).ok_or_else(|| {
        SetupError::Impossible(format!(
            "automatic steps need to know how long news takes to reach everyone, which is not known here ({} agents on `{}`; \
             computed for up to 2,048 that can all reach each other): give steps = {{ … }}",
            group.agents, group.topology.kind
        ))
    })
}
