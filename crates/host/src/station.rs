//! One node, with everything that it works with.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use fabnet_core::peer::{self, Task};
use fabnet_core::{DataRange, Peer, Scalar};
use fabnet_files::SystemFiles;
use fabnet_lab::figure::FigureError;
use fabnet_lab::{Plan, Setup, write_findings_of};
use fabnet_net::{
    Config, Disk, DiskError, Equipment, Faulty, Inbox, Input, Node, NodeError, OpenError, Refusals, RoundTimes,
    ServerError, Shared, Stop, Transport, ZenohTransport, serve,
};

use crate::tracks::Tracks;

/// One node of a real run, ready to go.
pub struct Station<T: Scalar> {
    setup: Setup<T>,
    node: Node<T>,
    tracks: Tracks<T>,
    state: PathBuf,
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
    #[error("{path}: {error}")]
    Track {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
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
        (status, refusals): (Shared, Arc<Refusals>),
    ) -> Result<Self, StationError> {
        let agents = setup.problem.agents();
        if agents != config.agents() {
            return Err(StationError::Agents { plan: agents, members: config.agents() });
        }
        let manifest = config.manifest(&plan.to_toml());
        let mine = config.me().map(|member| member.agents.clone()).unwrap_or_default();
        let mut peers = Vec::new();
        for &agent in &mine {
            if let Some(missing) = setup.problem.missing(agent as usize) {
                return Err(StationError::Missing(missing));
            }
            if let Some(DataRange { low, high, rms }) = setup.problem.data_range(agent as usize) {
                tracing::info!(agent, low, high, rms, "range of the inputs: compare it with the other sites");
            }
            let disk = Disk::open(&config.state.join(agent.to_string()), T::BYTES)?;
            let task = setup.task(agent, manifest.number(), plan.every);
            let rounds = task.policy.rounds;
            peers.push((begin(task, &disk)?, disk, rounds));
        }
        let longest = peer::Manifest::new(0, agents, &setup.algorithm.segments(0)).longest(T::BYTES);
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
        let (tick, state) = (setup.wire().tick, config.state.clone());
        let tracks = Tracks::open(&state, &mine, setup.algorithm.blocks().width())
            .map_err(|(path, error)| StationError::Track { path, error })?;
        let equipment = Equipment { transport, inbox: (inbox.clone(), inputs), greet, status, times, dropped, tick };
        let node = Node::new(config, manifest, peers, equipment);
        tracing::info!(%manifest, agents = ?mine, "started");
        Ok(Self { setup, node, tracks, state, inbox })
    }

    /// A way to tell it to leave, from wherever.
    pub fn stopper(&self) -> impl Fn() + Send + use<T> {
        let inbox = self.inbox.clone();
        move || inbox.put(Input::Stop)
    }

    /// Goes on until it is done or told to stop, then writes down what it has found. `goes_on` is asked once a tick.
    pub fn run(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Stop, StationError> {
        let stop = self.node.run(&mut self.tracks, goes_on)?;
        match stop {
            Stop::Done => tracing::info!("done"),
            Stop::Left => tracing::info!("left"),
        }
        for peer in self.node.peers() {
            let folder = self.state.join(peer.node().to_string()).join("findings");
            write_findings_of(&SystemFiles::PRIVATE, &self.setup, peer, &folder)?;
        }
        Ok(stop)
    }

    /// Its agents.
    pub fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.node.peers()
    }
}

/// Goes on in the same life if the whole state is there, else from the last checkpoint in a new one.
fn begin<T: Scalar>(task: Task<T>, disk: &Disk) -> Result<Peer<T>, DiskError> {
    if task.policy.exact
        && let Some(state) = disk.state()
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
