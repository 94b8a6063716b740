//! Setting up a run: from a group of the plan and a seed to everything that the run consists of.

use std::sync::Arc;

use fabnet_core::algorithm::Steps;
use fabnet_core::network::Reach;
use fabnet_core::peer::WordLength;
use fabnet_core::settings::SettingsReader;
use fabnet_core::{Algorithm, Network, Problem, ProblemExt, Scalar, Shard, Topology, Weights};
use fabnet_sim::{LossyPeers, LossyUnledgered};

use super::algorithm_setup::make_algorithm;
use super::custom_parts::CustomParts;
use super::problem_setup::make_problem;
use super::setup_error::{Disconnected, SetupError};
use super::simulator::Simulator;
use crate::estimate::MemoryNeeds;
use crate::plan::{Group, PlanEntry};
use crate::registry::{GroupNetwork, find_method, make_network};
use crate::settings::{Delivery, Faults, NetworkSettings, fault_settings, network_settings, wire_settings};

/// The number of rounds by which a network without a period is judged.
pub(crate) const WINDOW: u64 = 100;

/// Everything that a run consists of.
#[derive(Clone)]
pub struct Setup<T: Scalar> {
    /// The problem that is solved.
    pub problem: Arc<dyn Problem<T>>,
    /// The topology: which agents receive from which.
    pub topology: Arc<dyn Topology>,
    /// The mixing weights of the links.
    pub weights: Arc<dyn Weights>,
    /// The method that solves the problem.
    pub algorithm: Arc<dyn Algorithm<T>>,
    needs: MemoryNeeds,
    faults: Option<Faults>,
    group: Group,
    seed: u64,
}

impl<T: Scalar> Setup<T> {
    /// Sets up one run of a group.
    pub fn new(group: &Group, seed: u64) -> Result<Self, SetupError> {
        Self::build(group, seed, None, CustomParts::default())
    }

    /// Sets up one run of a group, with other step sizes than the group has.
    pub(crate) fn with_steps(group: &Group, seed: u64, steps: Steps) -> Result<Self, SetupError> {
        Self::build(group, seed, Some(steps), CustomParts::default())
    }

    /// Sets up one run of a group, with the parts that a program brings.
    pub fn of(group: &Group, seed: u64, parts: CustomParts<T>) -> Result<Self, SetupError> {
        Self::build(group, seed, None, parts)
    }

    fn build(group: &Group, seed: u64, steps: Option<Steps>, parts: CustomParts<T>) -> Result<Self, SetupError> {
        let problem = parts.problem.map_or_else(|| make_problem(group, seed), Ok)?;
        let method = find_method::<T>(group)?;
        let problem = method.venue.problem(problem).ok_or_else(|| SetupError::PrivateCoordinates {
            problem: group.problem.kind.clone(),
            algorithm: method.name.to_owned(),
        })?;
        let GroupNetwork { topology, weights, may_be_disconnected } = make_network(group, seed)?;
        let topology = parts.topology.unwrap_or(topology);
        let network = MemoryNeeds::of_network(&*topology);
        network.refuse_impossible(group.agents, &group.topology.kind)?;
        let reach = Reach::new(&*topology, WINDOW);
        if !may_be_disconnected && !reach.connected() {
            return Err(SetupError::Disconnected(Disconnected::new(group, &reach)));
        }
        let algorithm = if let Some(make) = parts.algorithm {
            make(&*problem)?
        } else {
            let network = Network::new(topology.clone(), weights.clone());
            make_algorithm(&method, group, steps, &*problem, (&reach, network))?
        };
        let needs = network.with_agents(&*problem, &*algorithm, problem.agents());
        needs.refuse_impossible(group.agents, &group.topology.kind)?;
        let faults = group.faults.as_ref().map(|faults| fault_settings(&mut SettingsReader::new(faults)));
        Ok(Self { problem, topology, weights, algorithm, needs, faults, group: group.clone(), seed })
    }

    /// The same run with another algorithm.
    pub(crate) fn with_algorithm(&self, algorithm: Arc<dyn Algorithm<T>>) -> Self {
        Self { algorithm, ..self.clone() }
    }

    /// The memory that the run needs.
    pub(crate) fn needs(&self) -> MemoryNeeds {
        self.needs
    }

    /// The group of the run.
    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How the nodes of a real network make rounds.
    pub fn network(&self) -> NetworkSettings {
        let nothing = PlanEntry::default();
        network_settings(&mut SettingsReader::new(self.group.network.as_ref().unwrap_or(&nothing)))
    }

    /// The length of the words in which scalars and mass travel, as the plan has it.
    pub fn words(&self) -> WordLength {
        let nothing = PlanEntry::default();
        wire_settings(&mut SettingsReader::new(self.group.wire.as_ref().unwrap_or(&nothing)))
    }

    /// Makes the simulator that the plan asks for, with all agents at their start.
    pub fn simulator(&self) -> Result<Simulator<T>, SetupError> {
        let Some(Faults { lossy, delivery }) = self.faults else { return Ok(Simulator::Shard(self.shard()?)) };
        self.refuse_missing_data()?;
        let (algorithm, problem) = (self.algorithm.clone(), self.problem.clone());
        let (topology, weights) = (self.topology.clone(), self.weights.clone());
        Ok(match delivery {
            Delivery::Ledger => {
                let links = (lossy, self.words());
                Simulator::LossyPeers(LossyPeers::new(algorithm, problem, topology, weights, self.seed, links))
            }
            Delivery::Plain => Simulator::LossyUnledgered(LossyUnledgered::new(
                algorithm, problem, topology, weights, self.seed, lossy,
            )),
        })
    }

    /// Makes a shard of all agents at their start, which mixes exactly.
    pub fn shard(&self) -> Result<Shard<T>, SetupError> {
        self.refuse_missing_data()?;
        let network = Network::new(self.topology.clone(), self.weights.clone());
        Ok(Shard::new(self.algorithm.clone(), self.problem.clone(), network, self.seed)?)
    }

    /// Refuses to simulate agents whose data is not on this machine.
    fn refuse_missing_data(&self) -> Result<(), SetupError> {
        let missing = (0..self.problem.agents()).find_map(|agent| self.problem.missing(agent));
        missing.map_or(Ok(()), |reason| Err(SetupError::MissingData { reason }))
    }
}
