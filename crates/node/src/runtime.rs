//! One node, with everything that it works with.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use fabnet_core::{Peer, Scalar, peer};
use fabnet_lab::{AgentMetric, Plan, Setup, hello_of_nodes, write_findings_of, write_solution_of};
use fabnet_net::{
    AuditEvent, AuditLog, Clock, Config, DiskMode, DiskQueue, EndReason, Expulsions, Inbox, Input, LossyTransport,
    Node, NodeParts, OpenError, OpenedTransport, Refusals, RoundTimes, SharedStatus, StateFolder, TransportFactory,
    serve,
};
use fabnet_watch::Hello;

use crate::credentials::Credentials;
use crate::environment::Environment;
use crate::error::NodeRuntimeError;
use crate::own_recording::OwnRecording;
use crate::start::{Beginning, begin_all, check};
use crate::track_recorder::TrackRecorder;

/// One node of a real run, ready to go.
pub struct NodeRuntime<T: Scalar> {
    setup: Setup<T>,
    node: Node<T>,
    recorder: TrackRecorder<T>,
    recording: OwnRecording,
    state: StateFolder,
    inbox: Arc<Inbox>,
}

impl<T: Scalar> NodeRuntime<T> {
    /// Opens disks, records, metrics and the network. `setup` is the only run of the plan.
    pub fn open(
        config: Config,
        plan: &Plan,
        setup: Setup<T>,
        (status, refusals): (SharedStatus, Arc<Refusals>),
    ) -> Result<Self, NodeRuntimeError> {
        Self::open_in(Environment::system(status, refusals), config, plan, setup)
    }

    /// Opens a node in an environment. Nothing is sent before its whole state is found to be of
    /// this run.
    pub fn open_in(
        environment: Environment,
        config: Config,
        plan: &Plan,
        setup: Setup<T>,
    ) -> Result<Self, NodeRuntimeError> {
        let Environment { files, disk_mode, certificates, clock, nonces, transport: factory, status, refusals } =
            environment;
        let (gate, unix_time) = (check(&config, &setup)?, clock.unix_time());
        let credentials = Credentials::open(certificates.clone(), &config, unix_time)?;
        let digest = config.run_digest(&plan.text_of_digest(), credentials.keys.is_some());
        let seals = credentials.scheme();
        let agents = config.me().map(|member| member.agents.clone()).unwrap_or_default();
        let state = StateFolder::open(files, &config.state, digest)?;
        let beginning =
            Beginning { unix_time, nonces: &*nonces, seals: &seals, continues: config.continues.as_deref() };
        let peers = begin_all(&state, &setup, &agents, plan.every, &beginning)?;
        let width = setup.algorithm.blocks().width();
        // Nobody would see it otherwise, and the solution may take long to find.
        let is_seen = config.watch || config.http.is_some();
        let metric = is_seen.then(|| AgentMetric::new(plan, &setup)).flatten();
        // Who goes on from a state must have the records before it.
        let disk_mode = if setup.network().exact { DiskMode::InLoop } else { disk_mode };
        let disk_queue = Arc::new(DiskQueue::new(disk_mode));
        let times = (clock.clone(), disk_queue.clone());
        let recorder = TrackRecorder::open(&state, &agents, (plan, width), times, metric);
        let recorder = recorder.map_err(NodeRuntimeError::Track)?;
        let (inbox, inputs) =
            Inbox::new(config.limits, longest_message(&setup, seals.length()), refusals, clock.clone());
        let (times, dropped) = (RoundTimes::default(), Arc::new(AtomicU64::new(0)));
        let hello = hello_of_nodes(plan, &setup, config.names_of_agents());
        let hello = Hello { loss: Some(config.loss), ..hello };
        announce(&config, &status, &times, hello.clone())?;
        let recording = OwnRecording::begin(&config, hello, status.clone(), state.files(), clock.clone());
        let transport = open_transport(&*factory, &config, &inbox, setup.seed(), &dropped)?;
        let brought = config.expelled.clone().map(|path| (certificates, path));
        let kept = (state.files(), config.state.join("expelled.toml"));
        let expulsions = Expulsions::open(&digest, credentials.keys.clone(), brought, kept)?;
        let Credentials { watch: certificates, keys } = credentials;
        let (tick, inbox_too) = (setup.network().tick, inbox.clone());
        let inbox = (inbox, inputs);
        let audit = begin_audit(&config, &state, &*clock);
        let parts = NodeParts {
            transport,
            inbox,
            clock,
            disk_queue,
            status,
            times,
            dropped,
            tick,
            gate,
            certificates,
            keys,
            expulsions,
            audit,
        };
        let node = Node::new(config, digest, peers, parts);
        tracing::info!(manifest = %digest, agents = ?agents, "started");
        Ok(Self { setup, node, recorder, recording, state, inbox: inbox_too })
    }

    /// A function that tells the node to leave, from any thread.
    pub fn stopper(&self) -> impl Fn() + Send + use<T> {
        let inbox = self.inbox.clone();
        move || inbox.put(Input::Stop)
    }

    /// Runs until the node is done or told to stop, then writes down what it has found. `goes_on`
    /// is asked once in a tick. An error says that the answer is missing or may be wrong.
    pub fn run(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<EndReason, NodeRuntimeError> {
        let Self { node, recorder, recording, .. } = self;
        let end = node.run(recorder, &mut || {
            recording.look();
            goes_on()
        })?;
        self.conclude(end)
    }

    /// Handles everything that has arrived or is due now, and returns without waiting for more: for
    /// a driver that owns the clock. `Some` is the end, after which the findings are written.
    pub fn poll(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Option<EndReason>, NodeRuntimeError> {
        let Self { node, recorder, recording, .. } = self;
        let polled = node.poll(recorder, &mut || {
            recording.look();
            goes_on()
        })?;
        match polled {
            Some(end) => self.conclude(end).map(Some),
            None => Ok(None),
        }
    }

    /// The peers of the node's agents.
    pub fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.node.peers()
    }

    /// Writes the answer, if the rounds are done, and what the agents have found.
    fn conclude(&mut self, end: EndReason) -> Result<EndReason, NodeRuntimeError> {
        self.recording.add();
        for peer in self.node.peers() {
            let (files, folder) = (self.state.files(), self.state.agent(peer.node()));
            if end == EndReason::Done {
                let path = folder.join("solution.safetensors");
                write_solution_of(&*files, &self.setup, peer, &path)
                    .map_err(|error| NodeRuntimeError::Solution { path, error })?;
            }
            write_findings_of(&*files, &self.setup, peer, &folder.join("findings"))?;
        }
        match end {
            EndReason::Done => tracing::info!("done"),
            EndReason::Left => tracing::info!("left"),
        }
        Ok(end)
    }
}

/// Begins, or goes on with, the audit log in the state folder.
fn begin_audit(config: &Config, state: &StateFolder, clock: &dyn Clock) -> AuditLog {
    let Config { node, run, .. } = config;
    let (version, digest) = (env!("CARGO_PKG_VERSION"), state.run());
    let text = format!("fabnet {version} begins as `{node}` of the run `{run}`, whose digest is {digest}");
    let mut audit = AuditLog::new(state.files(), &config.state);
    audit.add(clock.unix_time(), AuditEvent::new("start", text));
    audit
}

/// The length in bytes of the longest message that a peer of this run sends, with seals of this
/// many bytes.
fn longest_message<T: Scalar>(setup: &Setup<T>, seal: usize) -> usize {
    // Private segments are never sent, so their number is left out.
    let segments = setup.algorithm.segments(0);
    let full = peer::WordLength::Full;
    peer::WireFormat::new(0, setup.problem.agents(), &segments, full).with_seals(seal).longest(T::BYTES)
}

/// Serves the status, if that is wanted, and warns of what is not safe.
fn announce(config: &Config, status: &SharedStatus, times: &RoundTimes, hello: Hello) -> Result<(), NodeRuntimeError> {
    if let Some(address) = config.http {
        let address = serve(address, status.clone(), times, hello)?;
        tracing::info!(%address, "serving /metrics, /status, /hello, /livez and /readyz");
    }
    if config.insecure {
        tracing::warn!("plain TCP: everybody on the network can read, forge and join");
    }
    Ok(())
}

/// Joins the network; some messages are lost on the way if the node's file says so.
fn open_transport(
    factory: &dyn TransportFactory,
    config: &Config,
    inbox: &Arc<Inbox>,
    seed: u64,
    dropped: &Arc<AtomicU64>,
) -> Result<OpenedTransport, OpenError> {
    let opened = factory.open(config, inbox)?;
    if config.loss == 0.0 {
        return Ok(opened);
    }
    // Nodes lose different messages, each the same ones in every run of this seed.
    let first = config.me().and_then(|member| member.agents.first().copied()).unwrap_or_default();
    let lossy = LossyTransport::new(opened.transport, config.loss, seed ^ u64::from(first), dropped.clone());
    Ok(OpenedTransport { transport: Arc::new(lossy), ..opened })
}
