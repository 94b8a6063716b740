//! All node processes of a launched run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use fabnet_core::rng::{Purpose, Stream};
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::Launched;
use fabnet_net::{LiveRecording, NodeStatus, SystemClock, ask_hello};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use super::node_folders::NodeFolder;
use super::process::NodeProcess;
use crate::trend::Trend;

/// The processes of a run, and what was counted over all of them.
pub(super) struct Cluster {
    nodes: Vec<NodeProcess>,
    pub(super) launched: Launched,
    quiet: bool,
    /// The recording for those who watch, once a node has said what is run.
    recording: Option<LiveRecording>,
    /// Becomes true when this process is told to stop.
    stopped: Arc<AtomicBool>,
}

/// How the watch over a cluster has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// All nodes have done their rounds.
    Done,
    /// This process was told to stop.
    Stopped,
}

/// How long a cluster is watched, and how it is disturbed meanwhile.
pub(super) struct WatchOptions {
    pub(super) rounds: u64,
    /// The time between two kills of a random node.
    pub(super) kill_every: Option<Duration>,
    pub(super) timeout: Duration,
    /// The seed from which the killed nodes are drawn.
    pub(super) seed: u64,
    /// The file in which the run is recorded for those who watch.
    pub(super) recording: Option<PathBuf>,
}

impl Cluster {
    /// The time between two looks at the nodes.
    const LOOK_EVERY: Duration = Duration::from_millis(200);
    /// How long nodes that are done may take to be sure that the others are.
    const CERTAINTY_WITHIN: Duration = Duration::from_secs(30);
    /// How long all nodes together may take to leave.
    const LEAVE_WITHIN: Duration = Duration::from_secs(20);

    /// Starts a process for each of these nodes.
    pub(super) fn start(folders: &[NodeFolder], quiet: bool, stopped: Arc<AtomicBool>) -> anyhow::Result<Self> {
        let nodes = folders.iter().map(NodeProcess::start).collect::<anyhow::Result<_>>()?;
        Ok(Self { nodes, launched: Launched::default(), quiet, recording: None, stopped })
    }

    /// Follows the nodes until all are done, and kills some if it is asked to.
    pub(super) fn watch(&mut self, options: &WatchOptions) -> anyhow::Result<Ending> {
        let started = Instant::now();
        let mut done_at = None;
        let mut next_kill = options.kill_every.map(|every| started + every);
        let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(options.rounds) };
        let bar = bar.with_style(ProgressStyle::with_template("{bar:40} {pos}/{len}  {msg}  {eta} left")?);
        let (bar, mut trend) = (bar.with_finish(ProgressFinish::AndClear), Trend::default());
        while !self.stopped.load(Ordering::Relaxed) {
            std::thread::sleep(Self::LOOK_EVERY);
            self.look()?;
            self.record(options.recording.as_deref())?;
            let slowest = self.nodes.iter().map(NodeProcess::round).min().unwrap_or(0);
            bar.set_position(slowest);
            if let Some((agent, metric)) = self.worst() {
                bar.set_message(format!("worst agent {agent}: {}", trend.describe(metric)));
            }
            if self.is_done(&mut done_at) {
                return Ok(Ending::Done);
            }
            ensure!(started.elapsed() <= options.timeout, too_late(slowest, options));
            self.kill_if_due(&mut next_kill, options)?;
        }
        Ok(Ending::Stopped)
    }

    /// The agent with the largest error, where errors can be measured.
    fn worst(&self) -> Option<(u32, f64)> {
        let agents = self.nodes.iter().flat_map(|node| &node.status.agents);
        let measured = agents.filter_map(|agent| Some((agent.agent, agent.metric?)));
        measured.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Kills a random node if the time for it has come, and sets the time of the next kill.
    fn kill_if_due(&mut self, next: &mut Option<Instant>, options: &WatchOptions) -> anyhow::Result<()> {
        if let Some((at, every)) = next.zip(options.kill_every)
            && Instant::now() >= at
            && self.may_kill(options.rounds)
        {
            self.kill_random(options.seed)?;
            *next = Some(at + every);
        }
        Ok(())
    }

    /// Restarts killed nodes that were away for long enough, and asks the others for their status.
    fn look(&mut self) -> anyhow::Result<()> {
        for node in &mut self.nodes {
            if node.is_killed() {
                node.restart_if_due()?;
                continue;
            }
            if let Some(code) = node.ended()? {
                if self.stopped.load(Ordering::Relaxed) {
                    // Ctrl-C in a terminal reaches the nodes as well.
                    continue;
                }
                bail!("{} ended by itself ({code}): {}", node.folder.display(), node.last_log_line());
            }
            // A node that does not answer yet is asked again at the next look.
            if node.refresh_status() {
                let worst = node.status.agents.iter().map(|agent| agent.max_mass_residual).max().unwrap_or(0);
                self.launched.max_mass_residual = self.launched.max_mass_residual.max(worst);
            }
        }
        Ok(())
    }

    /// Records what the nodes have said, if anybody wants to watch.
    fn record(&mut self, path: Option<&Path>) -> anyhow::Result<()> {
        let Some(path) = path else { return Ok(()) };
        if self.recording.is_none() {
            // Before a node answers there is nothing to record.
            let Some(hello) = self.nodes.iter().find_map(|node| ask_hello(&node.http).ok()) else { return Ok(()) };
            let members = self.nodes.iter().map(|node| node.member.clone()).collect();
            let (files, clock) = (Arc::new(SystemFiles::SHARED), Arc::new(SystemClock::default()));
            self.recording = Some(LiveRecording::begin(files, path, hello, members, clock)?);
        }
        if self.recording.as_ref().is_some_and(LiveRecording::is_due) { self.record_answers() } else { Ok(()) }
    }

    /// Records what the nodes have last said.
    fn record_answers(&mut self) -> anyhow::Result<()> {
        let Some(recording) = &mut self.recording else { return Ok(()) };
        let answers = self.nodes.iter().map(|node| (node.member.name.clone(), node.answer.clone())).collect();
        Ok(recording.add(&answers)?)
    }

    /// Whether all nodes are done, and either know that the others are or had time to find out.
    fn is_done(&self, done_at: &mut Option<Instant>) -> bool {
        let all =
            |wanted: fn(&NodeStatus) -> bool| self.nodes.iter().all(|node| wanted(&node.status) && !node.is_killed());
        if !all(|status| status.done) {
            return false;
        }
        let waited = done_at.get_or_insert_with(Instant::now).elapsed();
        all(|status| status.complete) || waited > Self::CERTAINTY_WITHIN
    }

    /// Whether nodes may still be killed: in the last quarter of the run they have time to
    /// converge.
    fn may_kill(&self, rounds: u64) -> bool {
        let fastest = self.nodes.iter().map(NodeProcess::round).max().unwrap_or(0);
        fastest < rounds / 4 * 3
    }

    /// Kills a node that is drawn from the seed and the number of kills, unless it is dead already.
    fn kill_random(&mut self, seed: u64) -> anyhow::Result<()> {
        let draw = Stream::new(seed, 0, self.launched.kills, Purpose::Faults).below(self.nodes.len());
        let node = &mut self.nodes[draw];
        if !node.is_killed() {
            node.kill()?;
            self.launched.kills += 1;
            if let Some(recording) = &mut self.recording {
                recording.note("kill", &node.member.agents, node.round())?;
            }
            // The next process of the node counts from 0 again.
            self.launched.dropped += std::mem::take(&mut node.status.dropped);
        }
        Ok(())
    }

    /// Writes the last status of each node and tells all to leave; returns which did not end well.
    pub(super) fn end(&mut self) -> anyhow::Result<Vec<String>> {
        self.launched.dropped += self.nodes.iter().map(|node| node.status.dropped).sum::<u64>();
        self.record_answers()?;
        let files: &dyn Files = &SystemFiles::SHARED;
        for node in &mut self.nodes {
            files.write_whole(&node.folder.join("status.json"), &serde_json::to_vec_pretty(&node.status)?)?;
            node.terminate()?;
        }
        let until = Instant::now() + Self::LEAVE_WITHIN;
        let mut wrong = Vec::new();
        for node in self.nodes.iter_mut().filter(|node| !node.is_killed()) {
            wrong.extend(node.wait_until(until)?);
        }
        Ok(wrong)
    }
}

/// Says why the watch was given up.
fn too_late(slowest: u64, WatchOptions { rounds, timeout, .. }: &WatchOptions) -> String {
    format!("not done after {timeout:?}: the slowest node is in round {slowest} of {rounds}; nodes/*/log say why")
}
