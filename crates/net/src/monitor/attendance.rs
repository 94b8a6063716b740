//! Who takes part: whether enough members are there at the start, and all of them until the end.

use std::collections::BTreeMap;
use std::time::Duration;

use fabnet_core::{Peer, Scalar};

use crate::config::{Config, Member};

/// Follows which members have been heard, through messages that a peer has accepted.
#[derive(Debug)]
pub(crate) struct Attendance {
    gate: StartGate,
    /// This member alone.
    me: Vec<Member>,
    pub(super) others: Vec<Member>,
    since: Duration,
    /// The round in which each agent was last heard.
    heard_in: BTreeMap<u32, u64>,
    /// The round in which each agent itself was then, as far as its own messages say.
    round_of: BTreeMap<u32, u64>,
    /// The number of members that the run has expelled, and for which nobody waits.
    pub(crate) expelled: usize,
}

/// The condition on which the first round begins.
#[derive(Clone, Copy, Debug)]
pub struct StartGate {
    /// The members that must have been heard, this one included; all of them if none is given.
    pub start: Option<usize>,
    /// The time for which they are waited for.
    pub within: Duration,
}

/// What a peer knows of others, as far as attendance asks.
pub(crate) trait PeerView {
    /// The agent that this peer is.
    fn agent(&self) -> u32;

    /// The round in which the peer last heard an agent.
    fn heard_in(&self, agent: u32) -> Option<u64>;

    /// Whether an agent counts as dead.
    fn counts_as_dead(&self, agent: u32) -> bool;

    /// Whether an agent has said farewell.
    fn has_left(&self, agent: u32) -> bool;

    /// The latest round in which an agent was, as far as its own messages say.
    fn round_of(&self, agent: u32) -> u64;
}

impl<T: Scalar> PeerView for Peer<T> {
    fn agent(&self) -> u32 {
        self.node()
    }

    fn heard_in(&self, agent: u32) -> Option<u64> {
        self.heard_in(agent)
    }

    fn counts_as_dead(&self, agent: u32) -> bool {
        self.table().get(agent).is_some_and(|known| known.dead)
    }

    fn has_left(&self, agent: u32) -> bool {
        self.has_left(agent)
    }

    fn round_of(&self, agent: u32) -> u64 {
        self.round_of(agent)
    }
}

/// Others were missing, at the start or later.
#[derive(Debug, thiserror::Error)]
pub enum MissingMembers {
    /// The run could not begin.
    #[error(
        "the run has not begun within {} s: {heard} of {start} members were heard, {} not. Start what is missing and \
         then this node again, or say with [network] start how many members are enough",
        within.as_secs_f64(), names(absent)
    )]
    AtStart {
        /// The time for which they were waited for.
        within: Duration,
        /// How many were heard, this one included.
        heard: usize,
        /// How many were needed.
        start: usize,
        /// The names of those that were not heard.
        absent: Vec<String>,
    },
    /// The rounds are done, but not with everybody.
    #[error("the rounds are done, but the answer may be wrong: {}", .0.join("; "))]
    AtEnd(Vec<String>),
}

fn names(members: &[String]) -> String {
    members.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// How one member has taken part, seen at the end.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Participation<'a> {
    name: &'a str,
    /// Whether it was heard after the first round.
    took_part: bool,
    /// Whether it was heard in the last tenth of the rounds.
    to_the_end: bool,
    /// Whether it counts as dead.
    dead: bool,
    /// Whether it has said farewell.
    left: bool,
    /// Whether it had done its rounds when it was last heard.
    done: bool,
}

impl Attendance {
    pub(crate) fn new(config: &Config, gate: StartGate, now: Duration) -> Self {
        let (me, others) = config.members.iter().cloned().partition(|member| member.name == config.node);
        Self { gate, me, others, since: now, heard_in: BTreeMap::new(), round_of: BTreeMap::new(), expelled: 0 }
    }

    /// Notes whom the peers of this node have heard.
    pub(crate) fn observe(&mut self, peers: &[&dyn PeerView]) {
        for peer in peers {
            for &agent in self.others.iter().flat_map(|member| &member.agents) {
                if let Some(round) = peer.heard_in(agent) {
                    let newest = self.heard_in.entry(agent).or_default();
                    *newest = round.max(*newest);
                    let latest = self.round_of.entry(agent).or_default();
                    *latest = peer.round_of(agent).max(*latest);
                }
            }
        }
    }

    /// Whether anybody was heard, or nobody needs to be.
    pub(crate) fn anybody(&self) -> bool {
        self.others.is_empty() || !self.heard_in.is_empty()
    }

    /// The names of members that some peer of this node does not hear at present.
    pub(crate) fn absent(&self, peers: &[&dyn PeerView]) -> Vec<String> {
        let hears = |peer: &dyn PeerView, agent: u32| peer.agent() == agent || peer.heard_in(agent).is_some();
        let present = |member: &Member| peers.iter().all(|peer| member.agents.iter().all(|&agent| hears(*peer, agent)));
        let everybody = self.others.iter().chain(&self.me);
        everybody.filter(|member| !present(member)).map(|member| member.name.clone()).collect()
    }

    /// Whether the first round may begin; an error if it should have by now.
    pub(crate) fn may_begin(&self, peers: &[&dyn PeerView], now: Duration) -> Result<bool, MissingMembers> {
        let absent = self.absent(peers);
        let (start, heard) = (self.start(), self.others.len() + 1 - absent.len());
        let is_itself_present = self.me.iter().all(|me| !absent.contains(&me.name));
        if heard >= start && is_itself_present {
            return Ok(true);
        }
        let within = self.gate.within;
        if now.saturating_sub(self.since) < within {
            return Ok(false);
        }
        // Whoever was there and has given up since is not what is missing.
        let never = self.never_heard();
        let absent = if never.is_empty() { absent } else { never };
        Err(MissingMembers::AtStart { within, heard: self.others.len() + 1 - absent.len(), start, absent })
    }

    /// Other members of which some agent was never heard.
    pub(super) fn never_heard(&self) -> Vec<String> {
        let unheard = |member: &&Member| !member.agents.iter().all(|agent| self.heard_in.contains_key(agent));
        self.others.iter().filter(unheard).map(|member| member.name.clone()).collect()
    }

    fn start(&self) -> usize {
        let members = self.others.len() + 1;
        self.gate.start.unwrap_or(members).min(members - self.expelled)
    }

    /// What speaks against everybody having taken part until the end of a run, as far as this node
    /// can know.
    pub(crate) fn judge_end(&self, peers: &[&dyn PeerView], rounds: u64) -> Vec<String> {
        let members: Vec<_> = self.others.iter().map(|member| self.participation(member, peers, rounds)).collect();
        let named = |wanted: &dyn Fn(&Participation<'_>) -> bool| -> Vec<String> {
            members.iter().filter(|member| wanted(member)).map(|member| member.name.to_owned()).collect()
        };
        let absent = named(&|member| !member.took_part);
        let took_part = 1 + members.len() - absent.len();
        let mut wrong = Vec::new();
        if took_part < self.start() {
            wrong.push(format!("only {took_part} of {} members took part, {} did not", self.start(), names(&absent)));
        }
        let silent = named(&|member| !member.to_the_end && !member.dead);
        if !silent.is_empty() {
            wrong.push(format!("{} were not heard in the last tenth of the rounds", names(&silent)));
        }
        let lost = named(&|member| member.took_part && !member.to_the_end && member.dead && !member.left);
        // Whether most others have died or this node was cut off looks the same from here.
        if 2 * lost.len() > took_part {
            wrong.push(format!("{} fell silent: they have died, or this node was cut off", names(&lost)));
        }
        let early = named(&|member| member.left && member.done && !member.to_the_end);
        if !early.is_empty() {
            wrong.push(format!("{} had done all rounds and left while this node was far behind", names(&early)));
        }
        wrong
    }

    fn participation<'a>(&self, member: &'a Member, peers: &[&dyn PeerView], rounds: u64) -> Participation<'a> {
        let late = rounds - (rounds / 10).max(1).min(rounds);
        let heard_in = |agent: &u32| self.heard_in.get(agent).copied();
        let dead = |agent: &u32| peers.iter().any(|peer| peer.counts_as_dead(*agent));
        let left = |agent: &u32| peers.iter().any(|peer| peer.has_left(*agent));
        Participation {
            name: &member.name,
            took_part: member.agents.iter().all(|agent| heard_in(agent).is_some_and(|round| round > 0)),
            to_the_end: member.agents.iter().all(|agent| heard_in(agent).is_some_and(|round| round >= late)),
            dead: member.agents.iter().any(dead),
            left: member.agents.iter().any(left),
            done: member.agents.iter().all(|agent| self.round_of.get(agent).is_some_and(|round| *round >= rounds)),
        }
    }
}
