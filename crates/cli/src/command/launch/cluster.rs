//! The processes of a launched run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fabnet_core::rng::{Purpose, Stream};
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::Launched;
use fabnet_net::{Config, NodeStatus, ask};
use rustix::process::{Pid, Signal, kill_process};

/// All processes of a run.
pub(super) struct Cluster {
    nodes: Vec<Node>,
    pub(super) launched: Launched,
    quiet: bool,
    /// Whether somebody wants this process to stop.
    stopped: Arc<AtomicBool>,
}

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// All nodes are done.
    Done,
    /// This process was told to stop.
    Stopped,
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
    // The node ends when this process does, however that happens: its standard input closes then.
    command.arg("node").arg(place.join("node.toml")).arg("--until-stdin-closes");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("a node cannot be started")
}

impl Cluster {
    /// How long a killed node stays away.
    const AWAY: Duration = Duration::from_secs(1);
    /// How long nodes that are done may take to be sure that the others are.
    const CERTAIN: Duration = Duration::from_secs(30);
    /// How long a node may take to leave.
    const FAREWELL: Duration = Duration::from_secs(20);

    /// Starts a process for each of these nodes.
    pub(super) fn start(configs: &[(PathBuf, Config)], quiet: bool, stopped: Arc<AtomicBool>) -> anyhow::Result<Self> {
        let mut cluster = Self { nodes: Vec::new(), launched: Launched::default(), quiet, stopped };
        for (place, config) in configs {
            cluster.nodes.push(Node::start(place, config)?);
        }
        Ok(cluster)
    }

    /// Follows the nodes until all are done, and kills some if it is asked to.
    pub(super) fn watch(
        &mut self,
        rounds: u64,
        kill_every: Option<Duration>,
        timeout: Duration,
        seed: u64,
    ) -> anyhow::Result<Watched> {
        let started = Instant::now();
        let mut done_at = None;
        let mut next_kill = kill_every.map(|every| started + every);
        let bar = if self.quiet { indicatif::ProgressBar::hidden() } else { indicatif::ProgressBar::new(rounds) };
        loop {
            std::thread::sleep(Duration::from_millis(200));
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(Watched::Stopped);
            }
            self.look()?;
            let slowest = self.nodes.iter().map(Node::round).min().unwrap_or(0);
            bar.set_position(slowest);
            if self.is_done(&mut done_at) {
                bar.finish_and_clear();
                return Ok(Watched::Done);
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

    /// Whether all nodes are done, and are sure that the others are, or will not be.
    fn is_done(&self, done_at: &mut Option<Instant>) -> bool {
        let all = |wanted: fn(&NodeStatus) -> bool| {
            self.nodes.iter().all(|node| wanted(&node.status) && node.dead_until.is_none())
        };
        if !all(|status| status.done) {
            return false;
        }
        let waited = done_at.get_or_insert_with(Instant::now).elapsed();
        all(|status| status.complete) || waited > Self::CERTAIN
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
                if self.stopped.load(Ordering::Relaxed) {
                    // The terminal has told it as well.
                    continue;
                }
                bail!("{} ended by itself ({code}): {}", node.place.display(), node.last_line());
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

    /// Lets everybody leave; says who did not end well.
    pub(super) fn end(&mut self) -> anyhow::Result<Vec<String>> {
        self.launched.dropped += self.nodes.iter().map(|node| node.status.dropped).sum::<u64>();
        let files: &dyn Files = &SystemFiles::SHARED;
        let mut wrong = Vec::new();
        for node in &mut self.nodes {
            files.write_whole(&node.place.join("status.json"), &serde_json::to_vec_pretty(&node.status)?)?;
            // One that has ended is not there any more.
            if node.dead_until.is_none() && node.child.try_wait()?.is_none() {
                kill_process(pid(&node.child)?, Signal::TERM).context("a node cannot be told to leave")?;
            }
        }
        let until = Instant::now() + Self::FAREWELL;
        for node in self.nodes.iter_mut().filter(|node| node.dead_until.is_none()) {
            if let Some(reason) = node.farewell(until)? {
                wrong.push(reason);
            }
        }
        Ok(wrong)
    }
}

impl Node {
    /// Waits until it has ended, until this moment at most; says what was wrong.
    fn farewell(&mut self, until: Instant) -> anyhow::Result<Option<String>> {
        let code = loop {
            match self.child.try_wait()? {
                Some(code) => break code.to_string(),
                None if Instant::now() > until => {
                    self.child.kill()?;
                    break "did not end when it was told to, and was killed".to_owned();
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let success = self.child.wait()?.success();
        Ok((!success).then(|| format!("{}: {code}: {}", self.place.display(), self.last_line())))
    }

    /// The last line of its log, which says why it has ended.
    fn last_line(&self) -> String {
        let log = fs::read_to_string(self.place.join("log")).unwrap_or_default();
        log.lines().last().unwrap_or("its log is empty").to_owned()
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
