//! The simulated network: what happens to a message between two nodes.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::queue::{EventQueue, Scheduled, TICK};
use super::sampler::FaultSampler;
use super::wire::WireMessage;

/// The probabilities of faults of a message, for a fault whose rate is one.
mod probability {
    pub(super) const LOSS: f64 = 0.6;
    /// In the calm, losses are milder, so that peers settle in a bounded time.
    pub(super) const CALM_LOSS: f64 = 0.3;
    pub(super) const REORDER: f64 = 0.5;
    pub(super) const LONG_DELAY: f64 = 0.02;
    pub(super) const DUPLICATE: f64 = 0.3;
    /// The probability that a message is followed by an old, foreign or forged one, or damaged.
    pub(super) const MISUSE: f64 = 0.1;
}

/// Delays of messages, in moments.
mod delay {
    use super::TICK;

    pub(super) const USUAL: u64 = TICK / 2;
    pub(super) const OVERTAKEN: u64 = 4 * TICK;
    pub(super) const LONG: u64 = 1000 * TICK;
    pub(super) const SECOND_COPY: u64 = 8 * TICK;
    /// Messages that no peer has sent come at once.
    pub(super) const INJECTED: u64 = 1;
}

/// Messages that are kept to be replayed.
const KEPT: usize = 64;
/// Once that many are kept, one in this many new messages replaces an old one.
const REPLACED_ONE_IN: usize = 32;
/// Forged messages are shorter than this many bytes.
const FORGED_BYTES: usize = 400;

/// The links between nodes, and old messages that may come again.
#[derive(Debug)]
pub(super) struct Network {
    nodes: usize,
    /// The only links that exist, as (from, to); `None` if everybody has one to everybody.
    links: Option<BTreeSet<(u32, u32)>>,
    cuts: Vec<Cut>,
    /// Messages of the past with their receivers, for replays.
    old: Vec<(u32, Vec<u8>)>,
}

/// A link that carries nothing for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    from: u32,
    to: u32,
    /// The moment at which the link works again; [`FOR_EVER`] for a dead link.
    until: u64,
}

/// The end of a cut that is never repaired by itself.
pub(super) const FOR_EVER: u64 = u64::MAX;

impl Network {
    /// A network in which everybody can reach everybody.
    pub(super) fn complete(nodes: usize) -> Self {
        Self { nodes, links: None, cuts: Vec::new(), old: Vec::new() }
    }

    /// A network in which each node can only reach the next one.
    pub(super) fn ring(nodes: usize) -> Self {
        let count = nodes as u32;
        let links = (0..count).map(|node| (node, (node + 1) % count)).collect();
        Self { links: Some(links), ..Self::complete(nodes) }
    }

    /// Lets a link carry nothing until a moment.
    pub(super) fn cut(&mut self, from: u32, to: u32, until: u64) {
        self.cuts.push(Cut { from, to, until });
    }

    /// The number of links that were cut for ever.
    pub(super) fn dead_links(&self) -> usize {
        self.cuts.iter().filter(|cut| cut.until == FOR_EVER).count()
    }

    /// Repairs all links but the dead ones.
    pub(super) fn repair(&mut self) {
        self.cuts.retain(|cut| cut.until == FOR_EVER);
    }

    /// Repairs all links, also the dead ones.
    pub(super) fn repair_all(&mut self) {
        self.cuts.clear();
    }

    /// Whether the links that are not cut leave a path from each of these nodes to each other.
    pub(super) fn connects(&self, nodes: &[u32]) -> bool {
        self.reachable(nodes, |from, to| (from, to)) == nodes.len()
            && self.reachable(nodes, |from, to| (to, from)) == nodes.len()
    }

    /// The number of nodes that the first one reaches; `link` says in which direction links count.
    fn reachable(&self, nodes: &[u32], link: fn(u32, u32) -> (u32, u32)) -> usize {
        let mut found: BTreeSet<u32> = nodes.iter().take(1).copied().collect();
        let mut unexplored: Vec<u32> = found.iter().copied().collect();
        while let Some(node) = unexplored.pop() {
            for &other in nodes {
                let cut = self.cuts.iter().any(|cut| (cut.from, cut.to) == link(node, other));
                if !cut && found.insert(other) {
                    unexplored.push(other);
                }
            }
        }
        found.len()
    }

    /// Sends a message: schedules its arrival, and that of everything that faults make of it.
    pub(super) fn transmit(
        &mut self,
        (from, to): (u32, u32),
        mut bytes: Vec<u8>,
        sampler: &mut FaultSampler,
        queue: &mut EventQueue,
    ) {
        let most = if sampler.is_calm() { probability::CALM_LOSS } else { probability::LOSS };
        if !self.carries(from, to, queue.now()) || sampler.happens(Fault::Loss, most) {
            return;
        }
        let delay = travel_time(sampler);
        if sampler.happens(Fault::Duplicate, probability::DUPLICATE) {
            let later = delay + sampler.moments(delay::SECOND_COPY);
            queue.schedule(later, Scheduled::Deliver { to, bytes: bytes.clone() });
        }
        if sampler.rate(Fault::Replay) > 0.0 {
            self.replay(to, &bytes, sampler, queue);
        }
        self.add_foreign_messages(to, &bytes, sampler, queue);
        damage(&mut bytes, sampler);
        queue.schedule(delay, Scheduled::Deliver { to, bytes });
    }

    fn carries(&self, from: u32, to: u32, now: u64) -> bool {
        let exists = self.links.as_ref().is_none_or(|links| links.contains(&(from, to)));
        exists && !self.cuts.iter().any(|cut| (cut.from, cut.to) == (from, to) && cut.until > now)
    }

    /// Keeps some messages, and now and then lets one of them come again.
    fn replay(&mut self, to: u32, bytes: &[u8], sampler: &mut FaultSampler, queue: &mut EventQueue) {
        if self.old.len() < KEPT {
            self.old.push((to, bytes.to_vec()));
        } else if sampler.below(REPLACED_ONE_IN) == 0 {
            let place = sampler.below(KEPT);
            self.old[place] = (to, bytes.to_vec());
        }
        if sampler.happens(Fault::Replay, probability::MISUSE) {
            let (to, bytes) = self.old[sampler.below(self.old.len())].clone();
            queue.schedule(delay::INJECTED, Scheduled::Deliver { to, bytes });
        }
    }

    /// Adds messages of another run, messages for somebody else, and random bytes.
    fn add_foreign_messages(&self, to: u32, bytes: &[u8], sampler: &mut FaultSampler, queue: &mut EventQueue) {
        if sampler.happens(Fault::OtherRun, probability::MISUSE) {
            let bytes = WireMessage(bytes).of_another_run();
            queue.schedule(delay::INJECTED, Scheduled::Deliver { to, bytes });
        }
        if sampler.happens(Fault::Forge, probability::MISUSE) {
            let other = sampler.node(self.nodes);
            let random = (0..sampler.below(FORGED_BYTES)).map(|_| sampler.bits() as u8).collect();
            queue.schedule(delay::INJECTED, Scheduled::Deliver { to: other, bytes: bytes.to_vec() });
            queue.schedule(delay::INJECTED, Scheduled::Deliver { to, bytes: random });
        }
    }
}

/// The time that a message takes, in moments.
fn travel_time(sampler: &mut FaultSampler) -> u64 {
    let mut time = 1 + sampler.moments(delay::USUAL);
    if sampler.happens(Fault::Reorder, probability::REORDER) {
        time += sampler.moments(delay::OVERTAKEN);
    }
    if sampler.happens_in_chaos(Fault::Delay, probability::LONG_DELAY) {
        time += sampler.moments(delay::LONG);
    }
    time
}

/// Flips a bit of a message, or cuts it off.
fn damage(bytes: &mut Vec<u8>, sampler: &mut FaultSampler) {
    if sampler.happens(Fault::Corrupt, probability::MISUSE) {
        let bit = sampler.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    if sampler.happens(Fault::Truncate, probability::MISUSE) {
        bytes.truncate(sampler.below(bytes.len()));
    }
}

#[cfg(test)]
mod tests;
