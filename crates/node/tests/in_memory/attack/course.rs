//! The course of a run under attack, and what must hold.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::ProblemExt;
use fabnet_core::rng::{Purpose, Stream};
use fabnet_files::{FailingFiles, Failure, Files, MemoryFiles, read_frames};
use fabnet_net::{Clock, EndReason, LinkFaults};

use super::scenario::{Blow, End, FolderFate, Scenario};
use crate::cluster::{Cluster, TICK, setup};

/// How often what has happened, by name.
type Happened = BTreeMap<&'static str, u64>;

/// A run that is under way, with what is to happen to it.
pub(super) struct Course {
    scenario: Scenario,
    cluster: Cluster,
    stream: Stream,
    happened: Happened,
    /// When the next start of each node that is down is due.
    due: BTreeMap<usize, Duration>,
    /// When each node goes on that does nothing.
    suspended: BTreeMap<usize, Duration>,
    /// When messages arrive again.
    outage_until: Option<Duration>,
    /// The folder of each node as it was a while ago.
    backups: Vec<Option<MemoryFiles>>,
    /// The last life of each node whose folder was not touched.
    lives: BTreeMap<usize, u64>,
    /// The nodes whose disks are full for a while in this life of theirs.
    failing: BTreeSet<usize>,
}

impl Course {
    pub(super) fn new(scenario: Scenario) -> Self {
        let mut cluster = Cluster::with_faults(scenario.nodes, scenario.rounds, "", scenario.faults);
        cluster.experiment = scenario.experiment();
        for config in &mut cluster.configs {
            config.checkpoint = scenario.checkpoint;
        }
        Self {
            stream: Stream::new(scenario.seed, 1, 0, Purpose::Faults),
            due: scenario.starts.iter().copied().enumerate().collect(),
            happened: Happened::new(),
            suspended: BTreeMap::new(),
            outage_until: None,
            backups: (0..scenario.nodes).map(|_| None).collect(),
            lives: BTreeMap::new(),
            failing: BTreeSet::new(),
            cluster,
            scenario,
        }
    }

    /// Runs until all have ended, and says what has happened and what was violated.
    pub(super) fn run(mut self) -> (Happened, Result<(), String>) {
        let found = self.attack().and_then(|()| self.judge());
        (self.happened, found)
    }

    /// How all nodes end.
    pub(super) fn ends(mut self) -> Vec<String> {
        self.attack().unwrap();
        let fingerprint = |node| self.cluster.status(node).agents.first().map(|agent| agent.fingerprint.clone());
        let end = |node: usize| format!("{:?} {:?}", self.cluster.ends[node], fingerprint(node));
        (0..self.scenario.nodes).map(end).collect()
    }

    fn now(&self) -> Duration {
        self.cluster.clock.now()
    }

    fn note(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    fn attack(&mut self) -> Result<(), String> {
        if self.scenario.lockstep {
            self.note("lockstep");
        }
        if self.scenario.starts.iter().any(|start| *start > TICK) {
            self.note("a node that starts late");
        }
        let mut blows = self.scenario.blows.clone().into_iter().peekable();
        // Each round in lockstep waits for nodes that are down until its deadline.
        let limit = TICK * self.scenario.rounds as u32 * 4 + Duration::from_secs(60);
        let mut steps = 0u64;
        while !self.due.is_empty() || self.cluster.nodes.iter().any(Option::is_some) {
            if self.now() > limit {
                return Err(format!("not all have ended after {limit:?}: {:?}", self.cluster.ends));
            }
            while let Some((_, blow)) = blows.next_if(|(when, _)| *when <= self.now()) {
                self.strike(blow);
            }
            self.restore();
            self.cluster.step();
            steps += 1;
            if steps.is_multiple_of(50) {
                self.check_mass()?;
            }
        }
        self.check_mass()
    }

    fn strike(&mut self, blow: Blow) {
        match blow {
            Blow::Outage { lasts } => {
                self.note("an outage");
                self.outage_until = Some(self.now() + lasts);
                self.cluster.network.set_faults(LinkFaults { loss: 1.0, ..self.scenario.faults });
            }
            Blow::Suspension { node, lasts } => {
                if self.cluster.nodes[node].is_some() {
                    self.note("a suspension");
                    self.suspended.insert(node, self.now() + lasts);
                    self.cluster.suspended[node] = true;
                }
            }
            Blow::End { node, how, down, folder } => {
                if self.cluster.nodes[node].is_some() {
                    self.end(node, how);
                    self.change_folder(node, folder);
                    self.due.insert(node, self.now() + down);
                }
            }
        }
    }

    fn end(&mut self, node: usize, how: End) {
        self.cluster.suspended[node] = false;
        match how {
            End::PowerCut => {
                self.note("a power cut");
                self.cluster.crash(node);
            }
            End::Kill => {
                self.note("a kill");
                self.cluster.nodes[node] = None;
            }
            End::Stop => {
                self.note("a stop");
                let stop = self.cluster.nodes[node].as_ref().map(fabnet_node::NodeRuntime::stopper).unwrap();
                stop();
                self.cluster.step();
                self.cluster.nodes[node] = None;
            }
        }
    }

    /// Lets the fate of a folder happen while its node is down.
    fn change_folder(&mut self, node: usize, fate: FolderFate) {
        let files = self.cluster.disks[node].clone();
        let paths = all_files(&*files, Path::new("/state"));
        let path = paths.get(self.stream.below(paths.len().max(1))).cloned();
        match (fate, path) {
            (FolderFate::Damaged, Some(path)) => {
                let mut bytes = files.read(&path).unwrap();
                if !bytes.is_empty() {
                    let place = self.stream.below(bytes.len());
                    bytes[place] ^= 1 << self.stream.below(8);
                    files.write(&path, &bytes).unwrap();
                    self.note("a damaged file");
                }
            }
            (FolderFate::Incomplete, Some(path)) => {
                files.remove(&path).unwrap();
                self.note("a lost file");
            }
            (FolderFate::Old, _) => {
                if let Some(old) = self.backups[node].take() {
                    self.replace_disk(node, old);
                    self.note("a folder from a backup");
                }
            }
            _ => return,
        }
        self.lives.remove(&node);
    }

    fn replace_disk(&mut self, node: usize, disk: MemoryFiles) {
        self.cluster.disks[node] = Arc::new(disk);
    }

    /// Starts the nodes whose time has come, and ends suspensions and outages that are over.
    fn restore(&mut self) {
        let now = self.now();
        for node in take_due(&mut self.due, now) {
            self.start(node);
        }
        for node in take_due(&mut self.suspended, now) {
            self.cluster.suspended[node] = false;
        }
        if self.outage_until.take_if(|until| *until <= now).is_some() {
            self.cluster.network.set_faults(self.scenario.faults);
        }
    }

    /// Starts a node. If it refuses what it finds, its operator moves the folder away.
    fn start(&mut self, node: usize) {
        let old = self.cluster.disks[node].clone();
        self.backups[node] = Some(copy_of(&*old));
        self.put_disk_in(node);
        let opened = match self.cluster.open(node) {
            Ok(opened) => opened,
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with("/state"), "a refusal names the file: {error}");
                self.replace_disk(node, MemoryFiles::default());
                self.lives.remove(&node);
                self.cluster.files[node] = self.cluster.disks[node].clone();
                self.cluster.open(node).unwrap_or_else(|error| panic!("n{node} in a new folder: {error}"))
            }
        };
        let life = opened.peers().next().map_or(0, |peer| peer.incarnation().counter);
        if let Some(last) = self.lives.insert(node, life) {
            let same = self.scenario.exact && life == last;
            assert!(life > last || same, "n{node} begins life {life} after {last}");
            if same {
                self.note("the same life after a crash");
            }
        }
        (self.cluster.nodes[node], self.cluster.ends[node]) = (Some(opened), None);
    }

    /// The disk of a node as it sees it: the first time it may be full for a while.
    fn put_disk_in(&mut self, node: usize) {
        let disk = self.cluster.disks[node].clone();
        self.failing.remove(&node);
        self.cluster.files[node] = match self.scenario.full[node].take() {
            Some((at, many)) => {
                self.note("a full disk");
                self.failing.insert(node);
                // Opening takes about twenty operations: a disk that is full then is a refusal.
                Arc::new(FailingFiles::new(disk, Failure::Full(many), 30 + at))
            }
            None => disk,
        };
    }

    fn check_mass(&self) -> Result<(), String> {
        for node in 0..self.scenario.nodes {
            for agent in self.cluster.status(node).agents {
                if agent.max_mass_residual > 0 {
                    return Err(format!(
                        "n{node}: {} units of mass are not where they should be",
                        agent.max_mass_residual
                    ));
                }
            }
        }
        Ok(())
    }

    /// What must hold at the end.
    fn judge(&self) -> Result<(), String> {
        let optimum = setup(&self.cluster.plan()).problem.optimum().ok_or("no optimum")?;
        for node in 0..self.scenario.nodes {
            match &self.cluster.ends[node] {
                Some(Ok(EndReason::Done)) => {}
                Some(Err(error)) if self.is_full(node, error) => continue,
                other => return Err(format!("n{node} ended with {other:?}")),
            }
            if !self.cluster.status(node).complete {
                return Err(format!("n{node} is done and does not call its answer complete"));
            }
            self.judge_track(node)?;
            let solution = self.cluster.solution(node);
            let size = optimum.y.iter().map(|y| y * y).sum::<f64>().sqrt();
            let gap = solution.iter().zip(&optimum.y).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() / size;
            if gap.is_nan() || gap > Self::BOUND {
                return Err(format!("n{node} ends {gap:e} from the optimum"));
            }
        }
        Ok(())
    }

    /// The largest relative error at the end: more than half of the rounds are quiet.
    const BOUND: f64 = 1e-2;

    /// Whether a node has ended because its disk was full at the end, and says so.
    fn is_full(&self, node: usize, error: &str) -> bool {
        self.failing.contains(&node) && error.starts_with("/state") && error.contains("no storage space")
    }

    /// The records of a node are whole, of rounds that are recorded, and reach the end.
    fn judge_track(&self, node: usize) -> Result<(), String> {
        let path = self.cluster.agent_file(node, "track");
        let read = read_frames(&*self.cluster.disks[node], &path).map_err(|error| format!("n{node}: {error}"))?;
        let read = read.ok_or_else(|| format!("n{node} has recorded nothing"))?;
        if let Some(interruption) = &read.interruption {
            return Err(format!("the track of n{node} is interrupted: {interruption:?}"));
        }
        let rounds: Vec<u64> =
            read.records().map(|record| u64::from_le_bytes(*record.first_chunk().unwrap())).collect();
        let (odd, last) = (rounds.iter().find(|round| !round.is_multiple_of(10)), rounds.last());
        if odd.is_some() || last != Some(&self.scenario.rounds) {
            return Err(format!("n{node} has recorded {odd:?}, and {last:?} at last"));
        }
        Ok(())
    }
}

/// Takes out the nodes whose time has come.
fn take_due(times: &mut BTreeMap<usize, Duration>, now: Duration) -> Vec<usize> {
    let due: Vec<usize> = times.iter().filter(|(_, time)| **time <= now).map(|(node, _)| *node).collect();
    times.retain(|_, time| *time > now);
    due
}

/// All files below a folder, but its lock.
fn all_files(files: &dyn Files, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in files.list(folder).unwrap_or_default() {
        let path = folder.join(name);
        if files.is_folder(&path) {
            found.extend(all_files(files, &path));
        } else if path.file_name().is_some_and(|name| name != "lock") {
            found.push(path);
        }
    }
    found
}

/// The files of a folder as they are now, on another disk.
fn copy_of(files: &dyn Files) -> MemoryFiles {
    let copy = MemoryFiles::default();
    let on: &dyn Files = &copy;
    for path in all_files(files, Path::new("/state")) {
        on.create_folder(path.parent().unwrap()).unwrap();
        on.write_whole(&path, &files.read(&path).unwrap()).unwrap();
    }
    copy
}
