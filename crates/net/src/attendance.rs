//! Who takes part: whether enough members are there at the start, and all of them until the end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fabnet_core::{Peer, Scalar};

use crate::config::{Config, Member};

/// Follows which members have been heard, through messages that a peer has accepted.
#[derive(Debug)]
pub(crate) struct Attendance {
    gate: Gate,
    /// This member alone.
    me: Vec<Member>,
    others: Vec<Member>,
    since: Instant,
    /// The round in which each agent was last heard.
    heard_in: BTreeMap<u32, u64>,
}

/// What the first round waits for.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Members that must have been heard, this one included; all if none is given.
    pub start: Option<usize>,
    /// How long they are waited for.
    pub within: Duration,
}

/// Others were missing, at the start or later.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// The run could not begin.
    #[error(
        "the run has not begun within {} s: {heard} of {start} members were heard, {} not. Start what is missing and \
         then this node again, or say with [network] start how many members are enough", within.as_secs_f64(), names(absent)
    )]
    AtStart {
        /// How long they were waited for.
        within: Duration,
        /// How many were heard, this one included.
        heard: usize,
        /// How many were to be.
        start: usize,
        /// Who was not.
        absent: Vec<String>,
    },
    /// The rounds are done, but not with everybody.
    #[error("the rounds are done, but the answer may be wrong: {}", .0.join("; "))]
    AtEnd(Vec<String>),
}

fn names(members: &[String]) -> String {
    members.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What one member looks like at the end.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Record<'a> {
    name: &'a str,
    /// Whether it was heard after the first round.
    took_part: bool,
    /// Whether it was heard in the last tenth of the rounds.
    to_the_end: bool,
    /// Whether it counts as dead.
    dead: bool,
    /// Whether it has said farewell.
    left: bool,
}

impl Attendance {
    pub(crate) fn new(config: &Config, gate: Gate, now: Instant) -> Self {
        let (me, others) = config.members.iter().cloned().partition(|member| member.name == config.node);
        let me: Vec<Member> = me;
        Self { gate, me, others, since: now, heard_in: BTreeMap::new() }
    }

    /// Notes whom the peers of this node have heard.
    pub(crate) fn look<'p, T: Scalar>(&mut self, peers: impl Iterator<Item = &'p Peer<T>>) {
        for peer in peers {
            for &agent in self.others.iter().flat_map(|member| &member.agents) {
                if let Some(round) = peer.heard_in(agent) {
                    let newest = self.heard_in.entry(agent).or_default();
                    *newest = round.max(*newest);
                }
            }
        }
    }

    /// Whether anybody was heard, or nobody needs to be.
    pub(crate) fn anybody(&self) -> bool {
        self.others.is_empty() || !self.heard_in.is_empty()
    }

    /// Members that some peer of this node does not hear at present.
    pub(crate) fn absent<T: Scalar>(&self, peers: &[&Peer<T>]) -> Vec<String> {
        let hears = |peer: &Peer<T>, agent: u32| peer.node() == agent || peer.heard_in(agent).is_some();
        let present = |member: &Member| peers.iter().all(|peer| member.agents.iter().all(|&agent| hears(peer, agent)));
        let everybody = self.others.iter().chain(&self.me);
        everybody.filter(|member| !present(member)).map(|member| member.name.clone()).collect()
    }

    /// Whether the first round may begin; an error if it should have by now.
    pub(crate) fn may_begin<T: Scalar>(&self, peers: &[&Peer<T>], now: Instant) -> Result<bool, Missing> {
        let absent = self.absent(peers);
        let (start, heard) = (self.start(), self.others.len() + 1 - absent.len());
        let itself = self.me.iter().all(|me| !absent.contains(&me.name));
        if heard >= start && itself {
            return Ok(true);
        }
        if now.duration_since(self.since) < self.gate.within {
            return Ok(false);
        }
        // Whoever was there and has given up since is not what is missing.
        let never = self.never_heard();
        let absent = if never.is_empty() { absent } else { never };
        Err(Missing::AtStart { within: self.gate.within, heard: self.others.len() + 1 - absent.len(), start, absent })
    }

    /// Other members of which some agent was never heard.
    fn never_heard(&self) -> Vec<String> {
        let unheard = |member: &&Member| !member.agents.iter().all(|agent| self.heard_in.contains_key(agent));
        self.others.iter().filter(unheard).map(|member| member.name.clone()).collect()
    }

    fn start(&self) -> usize {
        self.gate.start.unwrap_or(self.others.len() + 1)
    }

    /// Whether everybody took part until the end of a run of so many rounds, as far as this node can
    /// know.
    pub(crate) fn judge_end<T: Scalar>(&self, peers: &[&Peer<T>], rounds: u64) -> Vec<String> {
        let records: Vec<Record<'_>> = self.others.iter().map(|member| self.record(member, peers, rounds)).collect();
        let named = |wanted: &dyn Fn(&Record<'_>) -> bool| -> Vec<String> {
            records.iter().filter(|record| wanted(record)).map(|record| record.name.to_owned()).collect()
        };
        let absent = named(&|record| !record.took_part);
        let took_part = 1 + records.len() - absent.len();
        let mut wrong = Vec::new();
        if took_part < self.start() {
            wrong.push(format!("only {took_part} of {} members took part, {} did not", self.start(), names(&absent)));
        }
        let silent = named(&|record| !record.to_the_end && !record.dead);
        if !silent.is_empty() {
            wrong.push(format!("{} were not heard in the last tenth of the rounds", names(&silent)));
        }
        let lost = named(&|record| record.took_part && !record.to_the_end && record.dead && !record.left);
        // Whether most others have died or this node was cut off looks the same from here.
        if 2 * lost.len() > took_part {
            wrong.push(format!("{} fell silent: they have died, or this node was cut off", names(&lost)));
        }
        wrong
    }

    fn record<'a, T: Scalar>(&self, member: &'a Member, peers: &[&Peer<T>], rounds: u64) -> Record<'a> {
        let late = rounds - (rounds / 10).max(1).min(rounds);
        let heard_in = |agent: &u32| self.heard_in.get(agent).copied();
        let dead = |agent: &u32| peers.iter().any(|peer| peer.table().get(*agent).is_some_and(|known| known.dead));
        let left = |agent: &u32| peers.iter().any(|peer| peer.has_left(*agent));
        Record {
            name: &member.name,
            took_part: member.agents.iter().all(|agent| heard_in(agent).is_some_and(|round| round > 0)),
            to_the_end: member.agents.iter().all(|agent| heard_in(agent).is_some_and(|round| round >= late)),
            dead: member.agents.iter().any(dead),
            left: member.agents.iter().any(left),
        }
    }
}
