//! The nodes of one run, driven by one thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fabnet_files::{Files, MemoryFiles};
use fabnet_lab::{Experiment, Plan, Setup};
use fabnet_net::{
    Authority, Clock, Config, DiskMode, EndReason, LinkFaults, ManualClock, Member, MemoryNetwork, NodeIdentity,
    NodeStatus, Nonces, PkiEnvironment, Refusals, SharedStatus, Tls, TransportFactory, Validity,
};
use fabnet_node::{Environment, NodeRuntime, NodeRuntimeError};

/// Nodes with one agent each, whose files outlive them.
pub(crate) struct Cluster {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) network: MemoryNetwork,
    nonces: Arc<CountedNonces>,
    pub(crate) configs: Vec<Config>,
    pub(crate) experiment: String,
    pub(crate) disks: Vec<Arc<MemoryFiles>>,
    /// What the nodes see of their disks: tests put others in between.
    pub(crate) files: Vec<Arc<dyn Files>>,
    /// Who waits for them.
    pub(crate) disk_mode: DiskMode,
    /// The clocks of the nodes; that of the network, unless a test gives a node another one.
    pub(crate) clocks: Vec<Arc<dyn Clock>>,
    /// What connects the nodes; the network, unless a test puts something in between.
    pub(crate) factories: Vec<Arc<dyn TransportFactory>>,
    pub(crate) nodes: Vec<Option<NodeRuntime<f64>>>,
    /// Whether each node does nothing at present.
    pub(crate) suspended: Vec<bool>,
    /// A second process that acts as one of the members.
    pub(crate) twin: Option<NodeRuntime<f64>>,
    pub(crate) ends: Vec<Option<Result<EndReason, String>>>,
    statuses: Vec<SharedStatus>,
}

/// The time between two ticks of all nodes here, and between two readings of the clock.
pub(crate) const TICK: Duration = Duration::from_millis(10);

impl Cluster {
    /// A run of this many nodes and rounds; `network` are further lines of the plan's `[network]`.
    pub(crate) fn new(count: usize, rounds: u64, network: &str) -> Self {
        Self::with_faults(count, rounds, network, LinkFaults::default())
    }

    pub(crate) fn with_faults(count: usize, rounds: u64, network: &str, faults: LinkFaults) -> Self {
        let clock = Arc::new(ManualClock::default());
        let member = |node: usize| Member {
            name: format!("n{node}"),
            agents: vec![node as u32],
            address: format!("n{node}.example:7000"),
            http: None,
        };
        let members: Vec<Member> = (0..count).map(member).collect();
        let config = |node: usize| Config {
            plan: "plan.toml".into(),
            state: "/state".into(),
            linger: Duration::from_secs(2),
            insecure: true,
            ..Config::new("today", &format!("n{node}"), members.clone())
        };
        let disks: Vec<Arc<MemoryFiles>> = (0..count).map(|_| Arc::default()).collect();
        let memory = MemoryNetwork::new(clock.clone(), faults);
        Self {
            configs: (0..count).map(config).collect(),
            experiment: experiment(count, rounds, network),
            files: disks.iter().map(|disk| disk.clone() as Arc<dyn Files>).collect(),
            disk_mode: DiskMode::InLoop,
            factories: (0..count).map(|_| Arc::new(memory.clone()) as Arc<dyn TransportFactory>).collect(),
            clocks: (0..count).map(|_| clock.clone() as Arc<dyn Clock>).collect(),
            network: memory,
            nonces: Arc::default(),
            clock,
            disks,
            nodes: (0..count).map(|_| None).collect(),
            suspended: vec![false; count],
            twin: None,
            ends: vec![None; count],
            statuses: (0..count).map(|_| SharedStatus::default()).collect(),
        }
    }

    /// Makes an authority on the disk of node 0, and gives every node a certificate of it.
    pub(crate) fn secure(&mut self) -> Authority {
        let files = self.disks[0].clone();
        let environment = PkiEnvironment { shared: files.clone(), secret: files, clock: self.clock.clone() };
        let authority = Authority::create_in(environment, Path::new("/pki"), Validity::OF_AUTHORITIES).unwrap();
        for (node, config) in self.configs.iter_mut().enumerate() {
            let identity = NodeIdentity::new(&config.node, Vec::new()).unwrap();
            let (certificate, key) = authority.issue(&identity, Validity::OF_NODES).unwrap();
            let tls = Tls { ca: "/pki/ca.pem".into(), certificate: certificate.path().to_owned(), key };
            for path in [&tls.ca, &tls.certificate, &tls.key].into_iter().filter(|_| node > 0) {
                let contents = self.disks[0].read(path).unwrap();
                self.files[node].create_folder(Path::new("/pki")).unwrap();
                self.files[node].write_whole(path, &contents).unwrap();
            }
            config.tls = Some(tls);
        }
        authority
    }

    /// Opens a node with its present configuration.
    pub(crate) fn open(&self, node: usize) -> Result<NodeRuntime<f64>, NodeRuntimeError> {
        let plan = self.plan();
        let environment = Environment {
            files: self.files[node].clone(),
            disk_mode: self.disk_mode,
            certificates: self.disks[node].clone(),
            clock: self.clocks[node].clone(),
            nonces: self.nonces.clone(),
            transport: Box::new(Shared(self.factories[node].clone())),
            status: self.statuses[node].clone(),
            refusals: Arc::new(Refusals::default()),
        };
        NodeRuntime::open_in(environment, self.configs[node].clone(), &plan, setup(&plan))
    }

    pub(crate) fn plan(&self) -> Plan {
        Experiment::parse(&self.experiment, Path::new("plan.toml")).unwrap().plan().unwrap()
    }

    pub(crate) fn start(&mut self, node: usize) {
        self.nodes[node] = Some(self.open(node).unwrap_or_else(|error| panic!("n{node}: {error}")));
        self.ends[node] = None;
    }

    pub(crate) fn start_all(&mut self) {
        (0..self.configs.len()).for_each(|node| self.start(node));
    }

    /// Ends a node without a word and cuts its power.
    pub(crate) fn crash(&mut self, node: usize) {
        self.nodes[node] = None;
        self.disks[node].cut_power();
    }

    /// Moves the clock by a tick, delivers what is due and lets every node handle it.
    pub(crate) fn step(&mut self) {
        self.clock.advance(TICK);
        self.network.deliver();
        // How the twin ends is of no interest.
        let _ = self.twin.as_mut().map(|twin| twin.poll(&mut || true));
        for (node, place) in self.nodes.iter_mut().enumerate() {
            let Some(runtime) = place.as_mut().filter(|_| !self.suspended[node]) else { continue };
            match runtime.poll(&mut || true) {
                Ok(None) => {}
                Ok(Some(end)) => self.ends[node] = Some(Ok(end)),
                Err(error) => self.ends[node] = Some(Err(error.to_string())),
            }
            if self.ends[node].is_some() {
                *place = None;
            }
        }
    }

    /// Advances the clock until something holds; a run of five minutes is long enough for
    /// everything here.
    pub(crate) fn step_until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let until = self.clock.now() + Duration::from_secs(300);
        while !holds(self) {
            assert!(self.clock.now() < until, "{what}: {:#?}\n{:?}", self.statuses, self.ends);
            self.step();
        }
    }

    pub(crate) fn step_for(&mut self, time: Duration) {
        let until = self.clock.now() + time;
        while self.clock.now() < until {
            self.step();
        }
    }

    /// Advances the clock until all nodes that run have ended.
    pub(crate) fn run_to_end(&mut self) {
        self.step_until("all have ended", |cluster| cluster.nodes.iter().all(Option::is_none));
    }

    /// The newest status of a node.
    pub(crate) fn status(&self, node: usize) -> NodeStatus {
        self.statuses[node].get()
    }

    /// The round of a node that runs.
    pub(crate) fn round(&self, node: usize) -> u64 {
        self.nodes[node].as_ref().and_then(|runtime| runtime.peers().next()).map_or(0, fabnet_core::Peer::round)
    }

    /// The error of a node that has ended with one.
    pub(crate) fn error(&self, node: usize) -> &str {
        match &self.ends[node] {
            Some(Err(error)) => error,
            other => panic!("n{node} has not ended with an error: {other:?}"),
        }
    }

    /// All have ended with their rounds done and nothing wrong.
    pub(crate) fn assert_all_done(&self) {
        assert!(self.ends.iter().all(|end| *end == Some(Ok(EndReason::Done))), "{:?}", self.ends);
        assert!((0..self.configs.len()).all(|node| self.status(node).complete));
    }

    /// The answer that a node has written: its `y`, scalar by scalar.
    pub(crate) fn solution(&self, node: usize) -> Vec<f64> {
        let path = self.agent_file(node, "solution.safetensors");
        let bytes = self.disks[node].read(&path).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let (_, tensor) = tensors.iter().max_by_key(|(_, tensor)| tensor.data().len()).unwrap();
        tensor.data().as_chunks::<8>().0.iter().map(|scalar| f64::from_le_bytes(*scalar)).collect()
    }

    pub(crate) fn agent_file(&self, node: usize, name: &str) -> PathBuf {
        self.configs[node].state.join(node.to_string()).join(name)
    }
}

/// Numbers in a fixed order that is not ascending.
#[derive(Default)]
struct CountedNonces(AtomicU64);

impl Nonces for CountedNonces {
    fn next(&self) -> std::io::Result<u64> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Hands a factory out that the test keeps.
struct Shared(Arc<dyn TransportFactory>);

impl TransportFactory for Shared {
    fn open(
        &self,
        config: &Config,
        inbox: &Arc<fabnet_net::Inbox>,
    ) -> Result<fabnet_net::OpenedTransport, fabnet_net::OpenError> {
        self.0.open(config, inbox)
    }
}

/// The only run of a plan.
pub(crate) fn setup(plan: &Plan) -> Setup<f64> {
    let (group, seed) = plan.real_run().unwrap();
    Setup::new(&group, seed).unwrap()
}

/// Policy evaluation with dFAB, which converges to the answer itself.
pub(crate) fn experiment(agents: usize, rounds: u64, network: &str) -> String {
    format!(
        "agents = {agents}\nrounds = {rounds}\nseeds = 1\n[problem]\nkind = \"policy-evaluation\"\n\
         [topology]\nkind = \"complete\"\n[network]\ntick = {}\n{network}\n\
         [record]\nevery = 10\nmetrics = [\"relative_error\"]\n\
         [[algorithm]]\nkind = \"dfab\"\nsteps = {{ x = 0.01, u = 0.05, z = 0.05 }}\n",
        TICK.as_secs_f64()
    )
}
