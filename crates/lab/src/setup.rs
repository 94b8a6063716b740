//! Setting up a run: from a group of the plan and a seed to a shard that is ready to go.

use std::path::Path;
use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Method, Steps, methods};
use fabnet_core::peer::{Policy, Schedule, Task, Unit};
use fabnet_core::settings::Keys;
use fabnet_core::topology::{Complete, Reach, topologies};
use fabnet_core::weights::weights;
use fabnet_core::{Algorithm, Network, Problem, Scalar, Shard, Topology, Weights};

use fabnet_sim::{Crowd, Plain};

use crate::check::Displaced;
use crate::engine::{Delivery, Engine, Faults};
use crate::estimate::Needs;
use crate::experiment::{Wire, fault_settings, network_settings};
use crate::plan::{Group, Part, Precision};
use crate::problem::problems;
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
    needs: Needs,
    faults: Option<Faults>,
    group: Group,
    seed: u64,
}

/// What a program brings itself, in place of what the plan names.
pub struct Brings<T: Scalar> {
    /// What is solved.
    pub problem: Option<Arc<dyn Problem<T>>>,
    /// Who hears whom.
    pub topology: Option<Arc<dyn Topology>>,
    /// By which method, made for a problem.
    pub algorithm: Option<BringsAlgorithm<T>>,
}

/// Makes a method for a problem, or says why it does not fit.
pub type BringsAlgorithm<T> = Box<dyn FnOnce(&dyn Problem<T>) -> Result<Arc<dyn Algorithm<T>>, String> + Send>;

impl<T: Scalar> Default for Brings<T> {
    fn default() -> Self {
        Self { problem: None, topology: None, algorithm: None }
    }
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

/// Agents from which on memory is estimated before the problem is made, and those that it is
/// estimated with.
const MANY: usize = 10_000;
const FEW: usize = 64;

/// Rounds by which a network without a period is judged.
pub(crate) const WINDOW: u64 = 100;

/// What to do where agents are not connected.
pub(crate) const CONNECT: &str =
    "Add links between them, or set topology.allow_disconnected = true to go ahead all the same";

/// What it means that agents are never jointly strongly connected.
pub(crate) fn disconnected(group: &Group, reach: &Reach<'_>) -> String {
    format!(
        "the {} agents on `{}` are never jointly strongly connected, which leaves {}. Information from some agents never reaches \
         others, and the answer would be wrong",
        group.agents,
        group.topology.kind,
        reach.components()
    )
}

impl<T: Scalar> Setup<T> {
    /// Sets up one run.
    pub fn new(group: &Group, seed: u64) -> Result<Self, SetupError> {
        Self::with_steps(group, seed, None)
    }

    /// Sets up one run, with other steps than its group has.
    pub(crate) fn with_steps(group: &Group, seed: u64, steps: Option<Steps>) -> Result<Self, SetupError> {
        Self::put_together(group, seed, steps, Brings::default())
    }

    /// Sets up one run, with what a program brings.
    pub fn of(group: &Group, seed: u64, brings: Brings<T>) -> Result<Self, SetupError> {
        Self::put_together(group, seed, None, brings)
    }

    fn put_together(
        group: &Group,
        seed: u64,
        steps: Option<Steps>,
        Brings { problem, topology: own_topology, algorithm: own_algorithm }: Brings<T>,
    ) -> Result<Self, SetupError> {
        let problem = problem.map_or_else(|| make_problem(group, seed), Ok)?;
        let method = read_method::<T>(group)?;
        let problem = method.place.problem(problem).ok_or_else(|| {
            let message = "has private coordinates, which nobody else can hold: take `fab` or `dfab`";
            SetupError::Invalid(format!("`{}` {message} instead of `{}`", group.problem.kind, method.name))
        })?;
        let Wiring { topology, weights, may_be_disconnected } = read_network(group, seed)?;
        let topology = own_topology.unwrap_or(topology);
        let network = Needs::of_network(&*topology);
        network.refuse_impossible(group.agents, &group.topology.kind)?;
        let reach = Reach::new(&*topology, WINDOW);
        if !may_be_disconnected && reach.window().is_none() {
            return Err(SetupError::Impossible(format!("{}. {CONNECT}", disconnected(group, &reach))));
        }
        let algorithm = match own_algorithm {
            Some(bring) => bring(&*problem).map_err(SetupError::Invalid)?,
            None => build(&method, group, steps, &*problem, &reach)?,
        };
        let needs = network.with_agents(&*problem, &*algorithm, problem.agents());
        needs.refuse_impossible(group.agents, &group.topology.kind)?;
        let faults = group.faults.as_ref().map(|faults| fault_settings(&mut Keys::new(faults)));
        Ok(Self { problem, topology, weights, algorithm, needs, faults, group: group.clone(), seed })
    }

    /// The memory that a run needs.
    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }

    /// The same run from another starting point.
    pub(crate) fn displaced(&self) -> Self {
        let (problem, topology, weights) = (self.problem.clone(), self.topology.clone(), self.weights.clone());
        let algorithm = Arc::new(Displaced { inner: self.algorithm.clone(), seed: self.seed });
        let (needs, faults, group, seed) = (self.needs, self.faults, self.group.clone(), self.seed);
        Self { problem, topology, weights, algorithm, needs, faults, group, seed }
    }

    /// The group of the run.
    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How real nodes make rounds.
    pub fn wire(&self) -> Wire {
        let nothing = Part::default();
        network_settings(&mut Keys::new(self.group.network.as_ref().unwrap_or(&nothing)))
    }

    /// What the node of an agent is to do in a real run of this number, with checkpoints after every so many rounds.
    pub fn task(&self, node: u32, run: u64, every: u64) -> Task<T> {
        let Wire { pace, tick, exact, .. } = self.wire();
        let usual = Policy::new(pace, self.group.agents);
        // Processes that wait for a core are silent for seconds, however short ticks are.
        let ticks = |seconds: f64| (seconds / tick.as_secs_f64()) as u64;
        let policy = Policy {
            evict_after: usual.evict_after.max(ticks(6.0)),
            unreachable_after: usual.unreachable_after.max(ticks(4.0)),
            close_after: usual.close_after.max(ticks(12.0)),
            checkpoint_every: every,
            exact,
            rounds: self.group.rounds,
            ..usual
        };
        let schedule = if self.group.topology.kind == "contact-plan" {
            Schedule::Contacts(self.topology.clone())
        } else {
            let (group, seed) = (self.group.clone(), self.seed);
            Schedule::Living(Arc::new(move |agents| {
                let group = Group { agents, ..group.clone() };
                // Where a topology means nothing for so few, everybody hears everybody.
                read_network(&group, seed)
                    .map_or_else(|_| Arc::new(Complete::new(agents)) as _, |wiring| wiring.topology)
            }))
        };
        Task {
            algorithm: self.algorithm.clone(),
            problem: self.problem.clone(),
            seed: self.seed,
            node,
            run,
            unit: Unit::default(),
            schedule,
            weights: self.weights.clone(),
            policy,
        }
    }

    /// All agents at their start, as the plan lets them exchange.
    pub fn engine(&self) -> Result<Engine<T>, SetupError> {
        let Some(Faults { lossy, delivery }) = self.faults else { return Ok(Engine::Shard(self.shard()?)) };
        self.all_are_here()?;
        let (algorithm, problem) = (self.algorithm.clone(), self.problem.clone());
        let (topology, weights) = (self.topology.clone(), self.weights.clone());
        Ok(match delivery {
            Delivery::Ledger => Engine::Crowd(Crowd::new(algorithm, problem, topology, weights, self.seed, lossy)),
            Delivery::Plain => Engine::Plain(Plain::new(algorithm, problem, topology, weights, self.seed, lossy)),
        })
    }

    /// Who simulates everybody needs everybody's data.
    fn all_are_here(&self) -> Result<(), SetupError> {
        let missing = (0..self.problem.agents()).find_map(|agent| self.problem.missing(agent));
        missing.map_or(Ok(()), |missing| Err(SetupError::Impossible(missing)))
    }

    /// All agents at their start, mixing exactly.
    pub fn shard(&self) -> Result<Shard<T>, SetupError> {
        self.all_are_here()?;
        let network = Network::new(self.topology.clone(), self.weights.clone());
        Shard::new(self.algorithm.clone(), self.problem.clone(), network, self.seed)
            .map_err(|error| SetupError::Invalid(error.to_string()))
    }
}

fn unknown(section: &str, kind: &str) -> SetupError {
    SetupError::Invalid(format!("there is no {section} `{kind}`"))
}

fn find_problem<T: Scalar>(group: &Group) -> Result<fabnet_problems::Kind<T>, SetupError> {
    let kind = problems().into_iter().find(|kind| kind.name == group.problem.kind);
    kind.ok_or_else(|| unknown("problem", &group.problem.kind))
}

fn read_problem<T: Scalar>(group: &Group) -> Result<fabnet_problems::Recipe<T>, SetupError> {
    Ok((find_problem(group)?.read)(&mut Keys::new(&group.problem)))
}

/// The problem of a run. What cannot fit in memory is refused before it is made.
pub(crate) fn make_problem<T: Scalar>(group: &Group, seed: u64) -> Result<Arc<dyn Problem<T>>, SetupError> {
    let recipe = read_problem::<T>(group)?;
    if group.agents > MANY {
        refuse_many(group, seed, &recipe)?;
    }
    recipe(group.agents, seed).map_err(SetupError::Invalid)
}

/// Refuses more agents than fit in memory, judged by a few agents with the same settings.
fn refuse_many<T: Scalar>(group: &Group, seed: u64, recipe: &fabnet_problems::Recipe<T>) -> Result<(), SetupError> {
    let Wiring { topology, .. } = read_network(group, seed)?;
    let network = Needs::of_network(&*topology);
    network.refuse_impossible(group.agents, &group.topology.kind)?;
    // What few agents cannot have, such as data for that many, all of them will tell.
    let Ok(few) = recipe(FEW, seed) else { return Ok(()) };
    let method = read_method::<T>(group)?;
    let mut keys = Keys::new(&group.algorithm);
    let build = (method.read)(&mut keys);
    let steps = Steps::read(&mut keys, method.direction.steps).unwrap_or_else(|| Steps::auto(Auto::new(1)));
    let Ok(algorithm) = build(&*few, steps) else { return Ok(()) };
    network.with_agents(&*few, &*algorithm, group.agents).refuse_impossible(group.agents, &group.topology.kind)
}

/// Writes the data that the agents of a run would be dealt as files that each could have brought itself.
pub fn divide(group: &Group, seed: u64, folder: &Path) -> Result<(), SetupError> {
    let divide = match group.precision {
        Precision::F32 => find_problem::<f32>(group)?.divide,
        Precision::F64 => find_problem::<f64>(group)?.divide,
    };
    let divide = divide
        .ok_or_else(|| SetupError::Invalid(format!("`{}` has no data that could be divided", group.problem.kind)))?;
    divide(&mut Keys::new(&group.problem), group.agents, seed, folder).map_err(SetupError::Impossible)
}

/// The topology that a group asks for, and whether it may be disconnected.
pub(crate) fn read_topology(group: &Group, seed: u64) -> Result<(Box<dyn Topology>, bool), SetupError> {
    let kind = topologies().into_iter().find(|kind| kind.name == group.topology.kind);
    let kind = kind.ok_or_else(|| unknown("topology", &group.topology.kind))?;
    let mut keys = Keys::new(&group.topology);
    let topology = kind.read(&mut keys)(group.agents, seed).map_err(SetupError::Invalid)?;
    Ok((topology, allows_disconnected(&mut keys)))
}

/// The network that a method runs on.
pub(crate) struct Wiring {
    pub(crate) topology: Arc<dyn Topology>,
    pub(crate) weights: Arc<dyn Weights>,
    pub(crate) may_be_disconnected: bool,
}

/// The network of a group, in its method's place.
pub(crate) fn read_network(group: &Group, seed: u64) -> Result<Wiring, SetupError> {
    let (topology, may_be_disconnected) = read_topology(group, seed)?;
    let kind = weights().into_iter().find(|kind| kind.name == group.weights.kind);
    let kind = kind.ok_or_else(|| unknown("weights", &group.weights.kind))?;
    let place = read_method::<f64>(group)?.place;
    let (topology, weights) = place.network(topology, (kind.read)(&mut Keys::new(&group.weights)));
    Ok(Wiring { topology, weights, may_be_disconnected })
}

pub(crate) fn read_method<T: Scalar>(group: &Group) -> Result<Method<T>, SetupError> {
    let method = methods().into_iter().find(|method| method.name == group.algorithm.kind);
    method.ok_or_else(|| unknown("algorithm", &group.algorithm.kind))
}

fn build<T: Scalar>(
    method: &Method<T>,
    group: &Group,
    steps: Option<Steps>,
    problem: &dyn Problem<T>,
    reach: &Reach<'_>,
) -> Result<Arc<dyn Algorithm<T>>, SetupError> {
    if method.direction.bilevel && !problem.is_bilevel() {
        return Err(SetupError::Invalid(format!(
            "`{}` solves bilevel problems, but `{}` has one level: take `push-pull` or `push-diging`",
            method.name, group.problem.kind
        )));
    }
    let mut keys = Keys::new(&group.algorithm);
    let recipe = (method.read)(&mut keys);
    let steps = match steps.or_else(|| Steps::read(&mut keys, method.direction.steps)) {
        Some(steps) => steps,
        None if !method.direction.automatic => {
            let message = "does not find its steps by itself: give steps = { outer = …, inner = … }";
            return Err(SetupError::Invalid(format!("`{}` {message}", method.name)));
        }
        None => Steps::auto(automatic(group, reach)?),
    };
    let algorithm = recipe(problem, steps).map_err(|error| SetupError::Invalid(error.to_string()))?;
    Ok(algorithm.into())
}

/// Automatic steps for a network.
fn automatic(group: &Group, reach: &Reach<'_>) -> Result<Auto, SetupError> {
    reach.spread().map(Auto::new).ok_or_else(|| {
        SetupError::Impossible(format!(
            "automatic steps need to know how long news takes to reach everyone, which is not known here ({} agents on `{}`; \
             computed for up to 2,048 that can all reach each other): give steps = {{ … }}",
            group.agents, group.topology.kind
        ))
    })
}
