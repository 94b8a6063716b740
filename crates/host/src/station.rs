//! One node, with everything that it works with.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use fabnet_core::peer::{self, Task};
use fabnet_core::{DataRange, Peer, Scalar};
use fabnet_files::{Files, FramesError, SystemFiles};
use fabnet_lab::figure::FigureError;
use fabnet_lab::{Plan, Setup, write_findings_of, write_solution_of};
use fabnet_net::{
    Config, Disk, DiskError, Equipment, Faulty, Gate, Inbox, Input, Node, NodeError, OpenError, Refusals, RoundTimes,
    ServerError, Shared, StateFolder, Stop, Transport, ZenohTransport, serve,
};

use crate::tracks::Tracks;

/// One node of a real run, ready to go.
pub struct Station<T: Scalar> {
    setup: Setup<T>,
    node: Node<T>,
    tracks: Tracks<T>,
    state: StateFolder,
    inbox: Arc<Inbox>,
}

/// Why a node cannot begin, or go on.
#[derive(Debug, thiserror::Error)]
pub enum StationError {
    /// Plan and members disagree.
    #[error("the plan has {plan} agents, the members own {members}")]
    Agents {
        /// In the plan.
        plan: usize,
        /// Of all members.
        members: usize,
    },
    /// More members are waited for than there are.
    #[error("[network] start = {start}, but there are {members} members: give a smaller number, or \"all\"")]
    Start {
        /// Members that must be there.
        start: usize,
        /// Members that there are.
        members: usize,
    },
    /// Data of an agent is not here.
    #[error("{0}; `data` in the node's file says where it is looked for")]
    Missing(String),
    /// Its disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Its way to the others.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its metrics.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// What happened on the way.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Its records.
    #[error("{0}. Move the state folder away to begin anew; `fabnet collect --partial` reads what is left of it")]
    Track(FramesError),
    /// Its answer.
    #[error("{}: {error}; check the folder's space and rights", path.display())]
    Solution {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// What it has found.
    #[error(transparent)]
    Findings(#[from] FigureError),
}

impl<T: Scalar> Station<T> {
    /// Opens disks, records, metrics and the network. `setup` is the only run of the plan.
    pub fn open(
        config: Config,
        plan: &Plan,
        setup: Setup<T>,
        noted: (Shared, Arc<Refusals>),
    ) -> Result<Self, StationError> {
        Self::open_on(Arc::new(SystemFiles::PRIVATE), config, plan, setup, noted)
    }

    /// The same, with its state on these files. Nothing is sent before all of it is found to be of
    /// this run.
    pub fn open_on(
        files: Arc<dyn Files>,
        config: Config,
        plan: &Plan,
        setup: Setup<T>,
        (status, refusals): (Shared, Arc<Refusals>),
    ) -> Result<Self, StationError> {
        let gate = check(&config, &setup)?;
        let manifest = config.manifest(&plan.to_toml());
        let mine = config.me().map(|member| member.agents.clone()).unwrap_or_default();
        let state = StateFolder::open(files, &config.state, manifest)?;
        let peers = begin_all(&state, &setup, &mine, plan.every)?;
        let tracks =
            Tracks::open(&state, &mine, plan, setup.algorithm.blocks().width()).map_err(StationError::Track)?;
        let segments = setup.algorithm.segments(0);
        let longest = peer::Manifest::new(0, setup.problem.agents(), &segments).longest(T::BYTES);
        let (inbox, inputs) = Inbox::new(config.limits, longest, refusals);
        let (times, dropped) = (RoundTimes::default(), Arc::new(AtomicU64::new(0)));
        if let Some(address) = config.http {
            let address = serve(address, status.clone(), &times)?;
            tracing::info!(%address, "serving /metrics, /status, /livez and /readyz");
        }
        if config.insecure {
            tracing::warn!("plain TCP: everybody on the network can read, forge and join");
        }
        let zenoh = Arc::new(ZenohTransport::open(&config, &inbox)?);
        let transport: Arc<dyn Transport> = if config.loss > 0.0 {
            Arc::new(Faulty::new(zenoh.clone(), config.loss, setup.seed() ^ u64::from(mine[0]), dropped.clone()))
        } else {
            zenoh.clone()
        };
        let name = config.node.clone();
        let greet = Box::new(move || zenoh.greet(&name, &manifest));
        let (tick, inbox_too) = (setup.wire().tick, inbox.clone());
        let equipment = Equipment { transport, inbox: (inbox, inputs), greet, status, times, dropped, tick, gate };
        let node = Node::new(config, manifest, peers, equipment);
        tracing::info!(%manifest, agents = ?mine, "started");
        Ok(Self { setup, node, tracks, state, inbox: inbox_too })
    }

    /// A way to tell it to leave, from wherever.
    pub fn stopper(&self) -> impl Fn() + Send + use<T> {
        let inbox = self.inbox.clone();
        move || inbox.put(Input::Stop)
    }

    /// Goes on until it is done or told to stop, then writes down what it has found. `goes_on` is
    /// asked once a tick. An error says that the answer is missing or may be wrong.
    pub fn run(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Stop, StationError> {
        let stop = self.node.run(&mut self.tracks, goes_on)?;
        for peer in self.node.peers() {
            let (files, folder) = (self.state.files(), self.state.agent(peer.node()));
            if stop == Stop::Done {
                let path = folder.join("solution.safetensors");
                write_solution_of(&*files, &self.setup, peer, &path)
                    .map_err(|error| StationError::Solution { path, error })?;
            }
            write_findings_of(&*files, &self.setup, peer, &folder.join("findings"))?;
        }
        match stop {
            Stop::Done => tracing::info!("done"),
            Stop::Left => tracing::info!("left"),
        }
        Ok(stop)
    }

    /// Its agents.
    pub fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.node.peers()
    }
}

/// Whether plan and members fit together; what the first round waits for.
fn check<T: Scalar>(config: &Config, setup: &Setup<T>) -> Result<Gate, StationError> {
    let (plan, members) = (setup.problem.agents(), config.agents());
    if plan != members {
        return Err(StationError::Agents { plan, members });
    }
    let (wire, members) = (setup.wire(), config.members.len());
    match wire.start {
        Some(start) if start > members => Err(StationError::Start { start, members }),
        start => Ok(Gate { start, within: wire.start_within }),
    }
}

/// The agents of a node, each with its disk and the rounds that it is to do.
fn begin_all<T: Scalar>(
    state: &StateFolder,
    setup: &Setup<T>,
    agents: &[u32],
    every: u64,
) -> Result<Vec<(Peer<T>, Disk, u64)>, StationError> {
    let mut peers = Vec::new();
    for &agent in agents {
        if let Some(missing) = setup.problem.missing(agent as usize) {
            return Err(StationError::Missing(missing));
        }
        if let Some(DataRange { low, high, rms }) = setup.problem.data_range(agent as usize) {
            tracing::info!(agent, low, high, rms, "range of the inputs: compare it with the other sites");
        }
        let disk = state.disk(agent, T::BYTES)?;
        let mut task = setup.task(agent, state.run().number(), every);
        task.policy.held = true;
        let rounds = task.policy.rounds;
        peers.push((begin(task, &disk)?, disk, rounds));
    }
    Ok(peers)
}

/// Goes on in the same life if the whole state is there, else from the last checkpoint in a new one.
fn begin<T: Scalar>(task: Task<T>, disk: &Disk) -> Result<Peer<T>, DiskError> {
    if task.policy.exact
        && let Some(state) = disk.state()?
    {
        match Peer::resume(task.clone(), &state) {
            Ok(peer) => return Ok(peer),
            Err(error) => tracing::warn!(%error, "the saved state is not gone on with"),
        }
    }
    let life = disk.next_life()?;
    let (round, point) = disk.checkpoint()?.map_or((0, None), |(round, point)| {
        (round, Some(point.chunks_exact(T::BYTES).map(T::read).collect::<Vec<T>>()))
    });
    Ok(Peer::new(task, life, round, point.as_deref()))
}
