//! `fabnet launch`.
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use fabnet_core::rng::{Purpose, Stream};
use fabnet_host::track_path;
use fabnet_lab::data::Library;
use fabnet_lab::{Folder, Launched, Plan, collect, conclude};
use fabnet_net::{Authority, Config, Limits, Member, NodeStatus, Tls, ask};
use rustix::process::{Pid, Signal, kill_process};

use super::Changes;
use super::run::new_folder;
use crate::failure::Usage;
use crate::say::say;
use crate::table;

#[derive(Args)]
#[command(after_help = "Examples:
  fabnet launch experiments/checks/network.toml
  fabnet launch experiments/checks/network.toml --nodes 24 --kill-every 10s --loss 0.3

Nodes are processes of this host, with certificates of their own. Each keeps its state, its log and its records in nodes/NAME of the results; records.csv, summary.json and
figures are put together from them, and summary.json has kills, dropped and max_mass_residual.")]
pub(crate) struct Launch {
    /// The experiment file, of one run
    file: PathBuf,
    /// How many processes; one for each agent if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Where results go; runs/NAME-TIME if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Kill a random node as often as this, and start it again; not in the last quarter of the run
    #[arg(long, value_name = "TIME")]
    kill_every: Option<humantime::Duration>,
    /// The part of all messages that is lost on purpose
    #[arg(long, value_name = "PART", default_value_t = 0.0)]
    loss: f64,
    /// Plain TCP instead of certificates
    #[arg(long)]
    insecure: bool,
    /// Messages through shared memory
    #[arg(long)]
    shared_memory: bool,
    /// Give up after this time
    #[arg(long, value_name = "TIME", default_value = "1h")]
    timeout: humantime::Duration,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Launch {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let plan = self.changes.read(&self.file)?.plan()?.with_checksums()?;
        let (group, seed) = plan.real_run()?;
        let (agents, rounds) = (group.agents, group.rounds);
        let nodes = self.nodes.map_or(agents, |nodes| nodes as usize);
        if nodes > agents {
            return Err(Usage(format!("--nodes {nodes}: each has agents of its own, but there are {agents}")).into());
        }
        let folder = new_folder(&plan, self.out.as_deref())?;
        let configs = self.configs(&plan, &folder, (nodes, agents))?;
        let mut cluster = Cluster { nodes: Vec::new(), launched: Launched::default(), quiet: self.quiet };
        for (place, config) in &configs {
            cluster.nodes.push(Node::start(place, config)?);
        }
        cluster.watch(rounds, self.kill_every.map(Into::into), self.timeout.into(), seed)?;
        cluster.end()?;
        let track = |agent: u32| {
            let owner = configs.iter().find(|(_, config)| config.me().is_some_and(|me| me.agents.contains(&agent)));
            owner.map(|(place, config)| track_path(&place.join(&config.state), agent)).unwrap_or_default()
        };
        let tracks: Vec<PathBuf> = (0..agents as u32).map(track).collect();
        let summary = collect(&plan, &folder, &tracks, Some(cluster.launched))?;
        conclude(&folder)?;
        if !self.quiet {
            say(table::summary(&plan, &summary));
            let Launched { kills, dropped, max_mass_residual } = cluster.launched;
            say(format!(
                "{kills} kills, {dropped} messages dropped, mass residual {max_mass_residual}; results in {}",
                folder.path().display()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes what each node is told, each into a folder of its own.
    fn configs(
        &self,
        plan: &Plan,
        folder: &Folder,
        (nodes, agents): (usize, usize),
    ) -> anyhow::Result<Vec<(PathBuf, Config)>> {
        let names: Vec<String> = (0..nodes).map(|node| format!("node-{node}")).collect();
        let ports = free_ports(2 * nodes)?;
        let authority = if self.insecure { None } else { Some(Authority::create(&folder.file("pki"))?) };
        let members: Vec<Member> = names
            .iter()
            .enumerate()
            .map(|(node, name)| Member {
                name: name.clone(),
                agents: (node * agents / nodes..(node + 1) * agents / nodes).map(|agent| agent as u32).collect(),
                address: format!("127.0.0.1:{}", ports[node]),
            })
            .collect();
        // One for all: a clock that goes on meanwhile would make runs that never meet.
        let run = format!("{}-{}", plan.name, fabnet_lab::timestamp());
        let data = std::path::absolute(Library::usual().folder()).ok();
        let mut configs = Vec::new();
        for (node, name) in names.iter().enumerate() {
            let place = folder.file("nodes").join(name);
            fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
            let tls = match &authority {
                None => None,
                Some(authority) => {
                    authority.issue(name, &["127.0.0.1".to_owned()])?;
                    let file = |name: &str| Path::new("../../pki").join(name);
                    let (certificate, key) = (file(&format!("{name}.pem")), file(&format!("{name}.key")));
                    Some(Tls { ca: file("ca.pem"), certificate, key })
                }
            };
            let config = Config {
                run: run.clone(),
                node: name.clone(),
                plan: "../../plan.toml".into(),
                state: "state".into(),
                data: data.clone(),
                http: Some(([127, 0, 0, 1], ports[nodes + node]).into()),
                checkpoint: Duration::from_secs(2),
                linger: self.timeout.into(),
                loss: self.loss,
                limits: Limits::default(),
                tls,
                insecure: self.insecure,
                shared_memory: self.shared_memory,
                members: members.clone(),
                routers: Vec::new(),
            };
            let file = place.join("node.toml");
            fs::write(&file, config.to_toml()).with_context(|| file.display().to_string())?;
            configs.push((place, config));
        }
        Ok(configs)
    }
}

/// Ports that nobody listens on at this moment.
fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<Result<_, _>>().context("no free port")?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// All processes of a run.
struct Cluster {
    nodes: Vec<Node>,
    launched: Launched,
    quiet: bool,
}

/// One process.
struct Node {
    place: PathBuf,
    http: String,
    child: Child,
    /// What it last said, in its present life.
    status: NodeStatus,
    /// When it is to be started again.
    dead_until: Option<Instant>,
}

impl Node {
    fn start(place: &Path, config: &Config) -> anyhow::Result<Self> {
        let http = config.http.map(|address| address.to_string()).unwrap_or_default();
        Ok(Self {
            place: place.to_owned(),
            http,
            child: spawn(place)?,
            status: NodeStatus::default(),
            dead_until: None,
        })
    }

    fn round(&self) -> u64 {
        self.status.agents.iter().map(|agent| agent.round).min().unwrap_or(0)
    }
}

fn spawn(place: &Path) -> anyhow::Result<Child> {
    let log = fs::OpenOptions::new().create(true).append(true).open(place.join("log"))?;
    let program = std::env::current_exe().context("where is this program?")?;
    let mut command = Command::new(program);
    command.arg("node").arg(place.join("node.toml")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("a node cannot be started")
}

impl Cluster {
    /// How long a killed node stays away.
    const AWAY: Duration = Duration::from_secs(1);

    /// Follows the nodes until all are done, and kills some if it is asked to.
    fn watch(&mut self, rounds: u64, kill_every: Option<Duration>, timeout: Duration, seed: u64) -> anyhow::Result<()> {
        let started = Instant::now();
        let mut next_kill = kill_every.map(|every| started + every);
        let bar = if self.quiet { indicatif::ProgressBar::hidden() } else { indicatif::ProgressBar::new(rounds) };
        loop {
            std::thread::sleep(Duration::from_millis(200));
            self.look()?;
            let slowest = self.nodes.iter().map(Node::round).min().unwrap_or(0);
            bar.set_position(slowest);
            if self.nodes.iter().all(|node| node.status.done && node.dead_until.is_none()) {
                bar.finish_and_clear();
                return Ok(());
            }
            if started.elapsed() > timeout {
                bail!(
                    "not done after {timeout:?}: the slowest node is in round {slowest} of {rounds}; nodes/*/log say why"
                );
            }
            let fastest = self.nodes.iter().map(Node::round).max().unwrap_or(0);
            if let (Some(at), Some(every)) = (next_kill, kill_every)
                && Instant::now() >= at
                && fastest < rounds / 4 * 3
            {
                let draw = Stream::new(seed, 0, self.launched.kills, Purpose::Faults).below(self.nodes.len());
                self.kill(draw)?;
                next_kill = Some(at + every);
            }
        }
    }

    /// Asks everybody, and starts those again that were away for long enough.
    fn look(&mut self) -> anyhow::Result<()> {
        for node in &mut self.nodes {
            if let Some(until) = node.dead_until {
                if Instant::now() >= until {
                    node.child = spawn(&node.place)?;
                    node.dead_until = None;
                }
                continue;
            }
            if let Some(code) = node.child.try_wait()? {
                let log = fs::read_to_string(node.place.join("log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or("its log is empty").to_owned();
                bail!("{} ended by itself ({code}): {last}", node.place.display());
            }
            // Who does not answer yet is asked again.
            if let Ok(status) = ask(&node.http) {
                let worst = status.agents.iter().map(|agent| agent.max_mass_residual).max().unwrap_or(0);
                self.launched.max_mass_residual = self.launched.max_mass_residual.max(worst);
                node.status = status;
            }
        }
        Ok(())
    }

    fn kill(&mut self, number: usize) -> anyhow::Result<()> {
        let node = &mut self.nodes[number];
        if node.dead_until.is_none() {
            node.child.kill().context("a node cannot be killed")?;
            node.child.wait()?;
            node.dead_until = Some(Instant::now() + Self::AWAY);
            self.launched.kills += 1;
            self.launched.dropped += node.status.dropped;
            node.status.dropped = 0;
        }
        Ok(())
    }

    /// Lets everybody leave.
    fn end(&mut self) -> anyhow::Result<()> {
        self.look()?;
        self.launched.dropped += self.nodes.iter().map(|node| node.status.dropped).sum::<u64>();
        for node in &self.nodes {
            fs::write(node.place.join("status.json"), serde_json::to_vec_pretty(&node.status)?)?;
            kill_process(pid(&node.child)?, Signal::TERM).context("a node cannot be told to leave")?;
        }
        for node in &mut self.nodes {
            node.child.wait()?;
        }
        Ok(())
    }
}

fn pid(child: &Child) -> anyhow::Result<Pid> {
    Pid::from_raw(child.id().cast_signed()).context("a process without a number")
}

/// Whatever happens, no process stays behind.
impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}
