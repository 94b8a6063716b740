//! What a seed does to the nodes of a run.

use std::time::Duration;

use fabnet_core::rng::{Purpose, Stream};
use fabnet_net::LinkFaults;

use crate::cluster::TICK;

/// Everything that can happen, by name: a sweep must have seen each of them.
pub(super) const EVERYTHING: [&str; 12] = [
    "an outage",
    "a power cut",
    "a kill",
    "a stop",
    "a suspension",
    "a full disk",
    "a damaged file",
    "a lost file",
    "a folder from a backup",
    "a node that starts late",
    "lockstep",
    "the same life after a crash",
];

/// A run, and what happens to it.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) seed: u64,
    pub(super) nodes: usize,
    pub(super) rounds: u64,
    pub(super) lockstep: bool,
    pub(super) exact: bool,
    pub(super) words: u64,
    pub(super) topology: &'static str,
    pub(super) faults: LinkFaults,
    pub(super) checkpoint: Duration,
    /// When each node is started.
    pub(super) starts: Vec<Duration>,
    /// The operations at which the disk of a node is full for a while, and how many find it so.
    pub(super) full: Vec<Option<(u64, u64)>>,
    /// What happens when, in order.
    pub(super) blows: Vec<(Duration, Blow)>,
}

/// Something that happens to a node, or to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Blow {
    /// Nothing arrives for a while.
    Outage { lasts: Duration },
    /// A node ends, in some way, and is started again after a while.
    End { node: usize, how: End, down: Duration, folder: FolderFate },
    /// A node does nothing for a while, and then goes on: a laptop whose lid was closed.
    Suspension { node: usize, lasts: Duration },
}

/// How a node ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// The power is cut: what was not synced is lost.
    PowerCut,
    /// The process is killed.
    Kill,
    /// The node is told to stop.
    Stop,
}

/// What becomes of the state folder of a node that is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FolderFate {
    /// It stays as it is.
    Kept,
    /// A byte of one of its files changes.
    Damaged,
    /// One of its files is gone.
    Incomplete,
    /// It is replaced by what it was a while ago.
    Old,
}

/// Draws a scenario, one choice after the other.
struct Draw(Stream);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0.below(count)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A time between two others.
    fn time(&mut self, least: Duration, most: Duration) -> Duration {
        least + most.saturating_sub(least).mul_f64(self.0.open01())
    }

    fn faults(&mut self, seed: u64, lockstep: bool) -> LinkFaults {
        if lockstep || self.one_in(4) {
            return LinkFaults { seed, ..LinkFaults::default() };
        }
        let delay = self.time(Duration::ZERO, Duration::from_millis(60));
        LinkFaults { seed, loss: 0.4 * self.0.open01(), duplication: 0.3 * self.0.open01(), delay }
    }

    fn blow(&mut self, nodes: usize, longest: Duration) -> Blow {
        let (node, lasts) = (self.below(nodes), self.time(TICK, longest));
        match self.below(8) {
            0 => Blow::Outage { lasts },
            1 => Blow::Suspension { node, lasts },
            _ => Blow::End {
                node,
                how: self.one_of(&[End::PowerCut, End::Kill, End::Kill, End::Stop]),
                down: lasts,
                folder: self.one_of(&[
                    FolderFate::Kept,
                    FolderFate::Kept,
                    FolderFate::Damaged,
                    FolderFate::Incomplete,
                    FolderFate::Old,
                ]),
            },
        }
    }
}

impl Scenario {
    /// The part of the rounds after which nothing more happens.
    const QUIET_AFTER: f64 = 0.4;

    /// The scenario of a seed.
    pub(super) fn from_seed(seed: u64) -> Self {
        let mut draw = Draw(Stream::new(seed, 0, 0, Purpose::Faults));
        let (nodes, rounds) = (2 + draw.below(3), 600 + 10 * draw.below(40) as u64);
        let (lockstep, exact) = (draw.one_in(4), draw.one_in(3));
        let time = TICK * rounds as u32;
        let (quiet, longest) = (time.mul_f64(Self::QUIET_AFTER), time.mul_f64(0.15));
        let mut blows: Vec<(Duration, Blow)> = (0..draw.below(5))
            .map(|_| (draw.time(quiet / 5, quiet.saturating_sub(longest)), draw.blow(nodes, longest)))
            .collect();
        blows.sort_by_key(|(when, _)| *when);
        Self {
            seed,
            nodes,
            rounds,
            lockstep,
            exact,
            words: draw.one_of(&[64, 32, 16, 8]),
            topology: draw.one_of(&["complete", "ring", "one-peer-exponential"]),
            faults: draw.faults(seed, lockstep),
            checkpoint: draw.time(TICK, Duration::from_secs(1)),
            starts: (0..nodes).map(|_| if draw.one_in(3) { draw.time(TICK, quiet / 5) } else { TICK }).collect(),
            full: (0..nodes).map(|_| draw.one_in(6).then(|| (draw.below(200) as u64, draw.below(60) as u64))).collect(),
            blows,
        }
    }

    /// The experiment that all nodes have.
    pub(super) fn experiment(&self) -> String {
        let Self { nodes, rounds, lockstep, exact, words, topology, .. } = self;
        let pace = if *lockstep { "pace = \"lockstep\"\ndeadline = 20" } else { "" };
        format!(
            "agents = {nodes}\nrounds = {rounds}\nseeds = 1\n[problem]\nkind = \"quadratic\"\ncondition = 2.0\n\
             [topology]\nkind = \"{topology}\"\n[wire]\nwords = {words}\n\
             [network]\ntick = {}\nexact = {exact}\n{pace}\n\
             [record]\nevery = 10\nmetrics = [\"relative_error\"]\n\
             [[algorithm]]\nkind = \"push-pull\"\nsteps = 0.1\n",
            TICK.as_secs_f64()
        )
    }
}
