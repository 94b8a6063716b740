//! `fabnet node`.
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use clap::Args;
use fabnet_core::peer::{self, Task};
use fabnet_core::{Peer, Scalar};
use fabnet_lab::data::Library;
use fabnet_lab::{Experiment, Group, Plan, Precision, Setup, Track, write_findings_of};
use fabnet_net::{
    Carrier, Config, Disk, EngineRefusals, Equipment, Faulty, Inbox, Input, Lines, Node as NetNode, Recorder, Refusals,
    RoundTimes, Shared, Stop, Transport, ZenohTransport, serve,
};
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::one_run;
use crate::failure::Usage;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet node alpha/node.toml

The file names the run, the plan (the same for all), the members with their addresses and agents, certificates, and where this node keeps its state;
docs/network.md shows one. If `node` is one of its routers, this process carries messages between members and owns no agent. FABNET_LOG=zenoh=warn,fabnet_net=debug says more, of the engine too. SIGTERM and Ctrl-C write a checkpoint, say farewell and end; a node that starts again goes on where it was.")]
pub(crate) struct Node {
    /// What this node is told
    file: PathBuf,
    /// Log lines as JSON
    #[arg(long)]
    json: bool,
    /// Log nothing but warnings and errors
    #[arg(long)]
    quiet: bool,
}

impl Node {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let config = Config::read(&self.file).map_err(|error| Usage(error.to_string()))?;
        if config.me().is_none() {
            return self.carry_messages(&config);
        }
        config.data.iter().for_each(|folder| Library::look_in(folder));
        let plan = Experiment::read(&config.plan)?.plan()?;
        let (group, seed) = one_run(&plan)?;
        if group.agents != config.agents() {
            let message = format!("the plan has {} agents, the members own {}", group.agents, config.agents());
            return Err(Usage(format!("{}: {message}", self.file.display())).into());
        }
        match group.precision {
            Precision::F64 => self.run::<f64>(config, &plan, group, seed),
            Precision::F32 => self.run::<f32>(config, &plan, group, seed),
        }
    }

    /// As a router, until it is told to stop.
    fn carry_messages(self, config: &Config) -> anyhow::Result<ExitCode> {
        self.log(&Shared::of(config), &Arc::default());
        let carrier = Carrier::open(config)?;
        tracing::info!("carrying messages");
        let (stop, stopped) = channel();
        // Who has ended needs no second signal.
        ctrlc::set_handler(move || _ = stop.send(())).context("signals cannot be caught")?;
        stopped.recv()?;
        carrier.close()?;
        Ok(ExitCode::SUCCESS)
    }

    fn run<T: Scalar>(self, config: Config, plan: &Plan, group: &Group, seed: u64) -> anyhow::Result<ExitCode> {
        let (status, refusals) = (Shared::of(&config), Arc::new(Refusals::default()));
        self.log(&status, &refusals);
        let setup = Setup::<T>::new(group, seed)?;
        let manifest = config.manifest(&plan.to_toml());
        let mine = config.me().map(|member| member.agents.clone()).unwrap_or_default();
        let mut peers = Vec::new();
        for &agent in &mine {
            if let Some(missing) = setup.problem.missing(agent as usize) {
                bail!("{missing}; `data` in {} says where it is looked for", self.file.display());
            }
            let disk = Disk::open(&config.state.join(agent.to_string()), T::BYTES)?;
            let task = setup.task(agent, manifest.number(), plan.every);
            peers.push((begin(task, &disk)?, disk, group.rounds));
        }
        let longest = peer::Manifest::new(0, group.agents, &setup.algorithm.segments(0)).longest(T::BYTES);
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
            Arc::new(Faulty::new(zenoh.clone(), config.loss, seed ^ u64::from(mine[0]), dropped.clone()))
        } else {
            zenoh.clone()
        };
        let stop = inbox.clone();
        ctrlc::set_handler(move || stop.put(Input::Stop)).context("signals cannot be caught")?;
        let name = config.node.clone();
        let greet = Box::new(move || zenoh.greet(&name, &manifest));
        let mut tracks = Tracks::<T>::open(&config.state, &mine, setup.algorithm.blocks().width())?;
        let tick = setup.wire().tick;
        let equipment = Equipment { transport, inbox: (inbox, inputs), greet, status, times, dropped, tick };
        let state = config.state.clone();
        let mut node = NetNode::new(config, manifest, peers, equipment);
        tracing::info!(%manifest, agents = ?mine, "started");
        match node.run(&mut tracks)? {
            Stop::Done => tracing::info!("done"),
            Stop::Left => tracing::info!("left"),
        }
        for peer in node.peers() {
            write_findings_of(&setup, peer, &state.join(peer.node().to_string()).join("findings"))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn log(&self, status: &Shared, refusals: &Arc<Refusals>) {
        // The engine complains of everything that it mends itself.
        let usual = if self.quiet { "warn,zenoh=off" } else { "warn,zenoh=off,fabnet=info,fabnet_net=info" };
        let filter = EnvFilter::try_from_env("FABNET_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
        let lines = Lines { status: status.clone(), json: self.json };
        let lines = tracing_subscriber::fmt::layer().event_format(lines).with_writer(std::io::stderr);
        let counting = EngineRefusals(refusals.clone()).with_filter(filter_fn(EngineRefusals::listens_to));
        tracing_subscriber::registry().with(lines.with_filter(filter)).with(counting).init();
    }
}

/// Goes on in the same life if the whole state is there, else from the last checkpoint in a new one.
fn begin<T: Scalar>(task: Task<T>, disk: &Disk) -> anyhow::Result<Peer<T>> {
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

/// The tracks of all agents of a node.
struct Tracks<T> {
    tracks: Vec<(u32, Track<T>)>,
}

/// Where the track of an agent is.
pub(crate) fn track_path(state: &Path, agent: u32) -> PathBuf {
    state.join(agent.to_string()).join("track")
}

impl<T: Scalar> Tracks<T> {
    fn open(state: &Path, agents: &[u32], width: usize) -> anyhow::Result<Self> {
        let track = |&agent: &u32| {
            let path = track_path(state, agent);
            Ok((agent, Track::open(&path, width).with_context(|| path.display().to_string())?))
        };
        Ok(Self { tracks: agents.iter().map(track).collect::<anyhow::Result<_>>()? })
    }
}

impl<T: Scalar> Recorder<T> for Tracks<T> {
    fn record(&mut self, peer: &Peer<T>, round: u64, point: &[u8]) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        for (_, track) in self.tracks.iter_mut().filter(|(agent, _)| *agent == peer.node()) {
            if let Err(error) = track.add(round, time, peer.counters().bytes, point) {
                tracing::error!(%error, "not recorded");
            }
        }
    }
}
