//! Invariants that hold after every event, checked from outside.
//!
//! The checker compares what ledgers say with the messages that it has seen on the wire. It never
//! asks why a peer did something, so that a mistake in the protocol cannot hide in it.

use std::collections::{BTreeMap, BTreeSet};

use fabnet_core::Peer;
use fabnet_core::peer::Incarnation;

use super::violation::{Check, Violation};
use super::wire::{ChunkLengths, Edge, WireMessage};

/// What is remembered of all messages and ledgers.
#[derive(Debug, Default)]
pub(super) struct InvariantChecker {
    /// Every cumulative sum that was ever sent over an edge, as a hash.
    sent: BTreeMap<Edge, BTreeMap<u64, SendTimes>>,
    /// The last cumulative sum that was sent over an edge: words of the next message are near it.
    last: BTreeMap<Edge, Vec<i64>>,
    /// The edge and the sum that a receiver held when it was last checked, by (sender, receiver).
    held: BTreeMap<(u32, u32), (Edge, u64)>,
    /// Whether disks lose what they report as stored, so that nodes may forget what they have sent.
    disks_forget: bool,
    /// The nodes that have ever lied: what they say of themselves is not checked.
    liars: BTreeSet<u32>,
    /// All lives that were ever lived, by node.
    lived: BTreeMap<u32, BTreeSet<Incarnation>>,
}

/// The moments at which a sum was first and last sent. A sum can return: a unit more, a unit less.
#[derive(Clone, Copy, Debug)]
struct SendTimes {
    first: u64,
    last: u64,
}

impl InvariantChecker {
    /// A checker before anything is sent.
    pub(super) fn new(disks_forget: bool) -> Self {
        Self { disks_forget, ..Self::default() }
    }

    /// Remembers a message as it leaves its sender, with the chunks of its rows.
    pub(super) fn record_sent(&mut self, now: u64, message: WireMessage<'_>, lengths: &ChunkLengths) {
        if !message.carries_mass() {
            return;
        }
        let last = self.last.entry(message.edge()).or_default();
        *last = message.mass(lengths, last);
        let sums = self.sent.entry(message.edge()).or_default();
        sums.entry(hash(last.iter().copied())).or_insert(SendTimes { first: now, last: now }).last = now;
    }

    /// Allows a restarted node to hold older sums than before: it resumes from what was stored.
    pub(super) fn node_started(&mut self, node: u32) {
        self.held.retain(|(_, to), _| *to != node);
    }

    /// Allows a node to say what it likes from now on.
    pub(super) fn node_lies(&mut self, node: u32) {
        self.liars.insert(node);
    }

    /// Remembers the life that a peer lives.
    pub(super) fn record_life(&mut self, peer: &Peer<f64>) {
        self.lived.entry(peer.node()).or_default().insert(peer.incarnation());
    }

    /// Checks a peer after an event.
    pub(super) fn check_peer(&mut self, peer: &Peer<f64>) -> Check {
        let node = peer.node();
        self.record_life(peer);
        if self.liars.contains(&node) {
            return Ok(());
        }
        if !peer.ledger().audit() {
            return Err(Violation::UnbalancedLedger { node });
        }
        peer.ledger().sources().try_for_each(|source| self.check_received(peer, source))?;
        self.check_lives(peer)?;
        // Who lies can say that others have forgotten what they sent, or hold what they do not.
        // That costs them time, and no mass.
        let forgetful = self.disks_forget || !self.liars.is_empty();
        if peer.counters().forgotten > 0 && !forgetful {
            return Err(Violation::NeedlessIncarnation { node });
        }
        if peer.counters().wrong_words > 0 && !forgetful {
            return Err(Violation::WrongWords { node });
        }
        let edges = peer.ledger().targets().count() + peer.ledger().sources().count();
        check_bounds(node, edges, peer.unread(), peer.table().nodes())?;
        check_rumours(node, peer.rumours(), peer.table().nodes())?;
        if is_finite(peer.row(), peer.keep()) { Ok(()) } else { Err(Violation::NotFinite { node }) }
    }

    /// Checks that a peer knows no life of another node that this node has never lived.
    fn check_lives(&self, peer: &Peer<f64>) -> Check {
        let honest = peer.table().entries().filter(|(of, _)| !self.liars.contains(of));
        for (of, state) in honest {
            if !self.lived.get(&of).is_some_and(|lives| lives.contains(&state.incarnation)) {
                return Err(Violation::LifeNeverLived { node: peer.node(), of, life: state.incarnation });
            }
        }
        Ok(())
    }

    /// Checks that what a peer has received over an edge was sent over it, and not before the sum
    /// that the peer held last.
    fn check_received(&mut self, peer: &Peer<f64>, source: u32) -> Check {
        let node = peer.node();
        if self.liars.contains(&source) {
            return Ok(());
        }
        let (edge, sum) = received(peer, source);
        let before = self.held.insert((source, node), (edge, sum));
        if before == Some((edge, sum)) {
            return Ok(());
        }
        let sums = self.sent.get(&edge);
        let Some(now) = sums.and_then(|sums| sums.get(&sum)) else {
            return Err(Violation::MassNeverSent { node, source_node: source, edge });
        };
        let before = before.filter(|(before, _)| *before == edge).and_then(|(_, sum)| sums?.get(&sum));
        if before.is_some_and(|before| now.last < before.first) && !self.disks_forget {
            return Err(Violation::WentBack { node, source_node: source });
        }
        Ok(())
    }

    /// Checks that all that was sent has arrived, or was sent again since a moment and arrived: no
    /// mass is stranded on an edge.
    pub(super) fn check_drained(&self, peers: &[&Peer<f64>], since: u64) -> Check {
        for (sender, to) in peers.iter().flat_map(|peer| peer.ledger().targets().map(move |target| (peer, target))) {
            let Some(receiver) = peers.iter().find(|peer| peer.node() == to) else { continue };
            let (edge, sum) = received(receiver, sender.node());
            let arrived = self.sent.get(&edge).and_then(|sums| sums.get(&sum)).is_some_and(|sent| sent.last >= since);
            let sent = sender.ledger().sent(to).filter(|sent| sent.iter().any(|&units| units != 0));
            let all = sent.is_none() || sent == receiver.ledger().received(sender.node());
            if !arrived && !all {
                return Err(Violation::Stranded { from: sender.node(), to });
            }
        }
        Ok(())
    }
}

/// Checks that a peer has at most one edge each way to each other node, and few unread messages.
fn check_bounds(node: u32, edges: usize, unread: usize, nodes: usize) -> Check {
    const UNREAD_PER_NODE: usize = 16;
    if edges > 2 * (nodes - 1) || unread > UNREAD_PER_NODE * nodes {
        return Err(Violation::Unbounded { node, edges, unread, nodes });
    }
    Ok(())
}

/// Checks that a peer keeps few things to pass them on, whatever others make up: closed edges and
/// their seals for each pair of nodes, a life's seal for each node, and the bounded numbers of
/// acknowledgements, receipts and their last changes.
fn check_rumours(node: u32, rumours: usize, nodes: usize) -> Check {
    const ACKS_AND_RECEIPTS: usize = 2 * 17 * 1024;
    let most = 2 * nodes * nodes + nodes + ACKS_AND_RECEIPTS;
    if rumours > most { Err(Violation::TooManyRumours { node, rumours, most }) } else { Ok(()) }
}

/// Whether a row is finite and memory holds no NaN. Memory may hold infinities: automatic step
/// sizes keep a minimum that begins there.
fn is_finite(row: &[f64], memory: &[f64]) -> bool {
    row.iter().all(|scalar| scalar.is_finite()) && !memory.iter().any(|scalar| scalar.is_nan())
}

/// An edge and the hash of its cumulative sum, as the receiver has it.
fn received(peer: &Peer<f64>, source: u32) -> (Edge, u64) {
    let edge = Edge {
        from: (source, peer.table().get(source).unwrap_or_default().incarnation),
        to: (peer.node(), peer.incarnation()),
        epoch: peer.epoch(),
        generation: peer.its_generation(source),
    };
    (edge, hash(peer.ledger().received(source).unwrap_or_default().iter().copied()))
}

/// A hash of a cumulative sum; 64 bits make a collision within a simulation negligible.
fn hash(sums: impl Iterator<Item = i64>) -> u64 {
    // Odd constants with well mixed bits: sums that differ by a unit have other hashes.
    sums.fold(0x9E37_79B9_7F4A_7C15, |hash: u64, sum| {
        (hash ^ sum as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29)
    })
}

#[cfg(test)]
mod tests;
