//! What must be true, whatever happens: judged from outside, by what peers' books say and not by what their code decides.

use std::collections::BTreeMap;

use fabnet_core::Peer;
use fabnet_core::peer::Incarnation;

/// Names an edge in one epoch of two lives: mass of another one must never be taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: (u32, Incarnation),
    to: (u32, Incarnation),
    epoch: u64,
    generation: u64,
}

/// What is remembered of all peers.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    /// Every cumulative sum that an edge ever had, in short.
    sent: BTreeMap<Edge, BTreeMap<u64, Sent>>,
    /// The sums that were looked at last, by (from, to).
    seen: BTreeMap<(u32, u32), (Edge, u64)>,
    /// Whether nodes can forget what they have sent: their disks lose what they call safe.
    forgetful: bool,
}

/// When a sum was first and last sent: sums return, by a unit more and one less.
#[derive(Clone, Copy, Debug)]
struct Sent {
    first: u64,
    last: u64,
}

/// What was found to be wrong.
pub(crate) type Verdict = Result<(), String>;

impl Oracle {
    /// Before anything is sent.
    pub(crate) fn new(forgetful: bool) -> Self {
        Self { forgetful, ..Self::default() }
    }

    /// Hears a message as it leaves, and reads it in its own way.
    pub(crate) fn hear(&mut self, now: u64, bytes: &[u8], pushed: usize) {
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        if words[0] >> 49 & 1 == 0 {
            return;
        }
        let edge = Edge {
            from: (words[2] as u32, Incarnation { counter: words[3], nonce: words[4] }),
            to: ((words[2] >> 32) as u32, Incarnation { counter: words[5], nonce: words[6] }),
            epoch: words[7],
            generation: words[10],
        };
        let mass = &words[words.len() - 1 - pushed..words.len() - 1];
        let sums = self.sent.entry(edge).or_default();
        sums.entry(hash(mass.iter().map(|units| units.cast_signed()))).or_insert(Sent { first: now, last: now }).last =
            now;
    }

    /// A node goes on from what was written down, which may be what it knew some time ago.
    pub(crate) fn started(&mut self, node: u32) {
        self.seen.retain(|(_, to), _| *to != node);
    }

    /// Looks at a peer after an event.
    pub(crate) fn look(&mut self, peer: &Peer<f64>) -> Verdict {
        let (me, ledger) = (peer.node(), peer.ledger());
        if !ledger.audit() {
            return Err(format!("node {me}: its mass is not what its input and edges say"));
        }
        for source in ledger.sources() {
            let (edge, sum) = received(peer, source);
            let before = self.seen.insert((source, me), (edge, sum));
            if before == Some((edge, sum)) {
                continue;
            }
            let sums = self.sent.get(&edge);
            let Some(now) = sums.and_then(|sums| sums.get(&sum)) else {
                return Err(format!(
                    "node {me}: holds mass from {source} that was never sent over this edge: {edge:?}"
                ));
            };
            let before = before.filter(|(before, _)| *before == edge).and_then(|(_, sum)| sums?.get(&sum));
            if before.is_some_and(|before| now.last < before.first) && !self.forgetful {
                return Err(format!("node {me}: goes back to what {source} had sent before what it knew"));
            }
        }
        if peer.counters().forgotten > 0 && !self.forgetful {
            return Err(format!("node {me}: begins a new life because of what its disk has never lost"));
        }
        let (nodes, edges) = (peer.table().nodes(), ledger.targets().count() + ledger.sources().count());
        if edges > 2 * (nodes - 1) || peer.unread() > 16 * nodes {
            return Err(format!("node {me}: {edges} edges and {} unread messages among {nodes} nodes", peer.unread()));
        }
        if peer.row().iter().any(|scalar| !scalar.is_finite()) || peer.keep().iter().any(|scalar| scalar.is_nan()) {
            return Err(format!("node {me}: a scalar that is not finite"));
        }
        Ok(())
    }
}

impl Oracle {
    /// Whether all that was sent before a time has arrived by now, or was sent again since and arrived: nothing is stranded.
    pub(crate) fn drained(&self, peers: &[&Peer<f64>], since: u64) -> Verdict {
        for (sender, target) in peers.iter().flat_map(|peer| peer.ledger().targets().map(move |target| (peer, target)))
        {
            let Some(receiver) = peers.iter().find(|peer| peer.node() == target) else { continue };
            let (edge, sum) = received(receiver, sender.node());
            let arrived = self.sent.get(&edge).and_then(|sums| sums.get(&sum)).is_some_and(|sent| sent.last >= since);
            let empty = sender.ledger().sent(target).is_none_or(|sent| sent.iter().all(|&units| units == 0));
            if !arrived && !empty {
                return Err(format!("what node {} sent to {target} is stranded", sender.node()));
            }
        }
        Ok(())
    }
}

/// An edge and its sum, as the receiver has it.
fn received(peer: &Peer<f64>, source: u32) -> (Edge, u64) {
    let life = |node: u32| (node, peer.table().get(node).unwrap_or_default().incarnation);
    let edge = Edge {
        from: life(source),
        to: (peer.node(), peer.incarnation()),
        epoch: peer.epoch(),
        generation: peer.its_generation(source),
    };
    (edge, hash(peer.ledger().received(source).unwrap_or_default().iter().copied()))
}

/// Whether all that run agree on everything that must agree when nothing happens any more; if not, on what they differ.
pub(crate) fn settled(peers: &[&Peer<f64>]) -> Verdict {
    let Some(first) = peers.first() else { return Ok(()) };
    let running: Vec<u32> = peers.iter().map(|peer| peer.node()).collect();
    if !first.table().members().eq(running.iter().copied()) {
        return Err(format!("node {} counts other members than those that run", first.node()));
    }
    for peer in peers {
        if peer.table() != first.table() {
            return Err(format!("nodes {} and {} disagree on members", first.node(), peer.node()));
        }
        if peer.epoch() != first.epoch() {
            return Err(format!("nodes {} and {} are in different epochs", first.node(), peer.node()));
        }
        if peer.table().living(peer.node()) != Some(peer.incarnation()) {
            return Err(format!("node {} is not known by its life", peer.node()));
        }
    }
    let by_node = |node: u32| peers.iter().find(|peer| peer.node() == node);
    for peer in peers {
        let ledger = peer.ledger();
        if let Some(dead) = ledger.targets().chain(ledger.sources()).find(|&node| by_node(node).is_none()) {
            return Err(format!("node {} has an edge to {dead}, which is dead", peer.node()));
        }
        for source in ledger.sources() {
            let other = by_node(source).ok_or("the source runs")?;
            let same = other.generation(peer.node()) == peer.its_generation(source);
            if !same || other.ledger().sent(peer.node()).is_none() {
                return Err(format!("nodes {source} and {} disagree on the edge between them", peer.node()));
            }
        }
    }
    Ok(())
}

/// The mass that is missing or too much among those that run, once settled: `Σ t + Σ (σ − ρ) − Σ D`, over edges that both ends know.
pub(crate) fn missing_mass(peers: &[&Peer<f64>]) -> i64 {
    let mut sum = 0i64;
    for peer in peers {
        let ledger = peer.ledger();
        for (mass, input) in ledger.mass().iter().zip(ledger.input()) {
            sum = sum.wrapping_add(mass.wrapping_sub(*input));
        }
        for other in peers {
            let sent = ledger.sent(other.node()).unwrap_or_default();
            let received = other.ledger().received(peer.node());
            for (place, &sent) in sent.iter().enumerate() {
                sum = sum.wrapping_add(sent.wrapping_sub(received.map_or(0, |received| received[place])));
            }
        }
    }
    sum
}

fn hash(sums: impl Iterator<Item = i64>) -> u64 {
    sums.fold(0x9E37_79B9_7F4A_7C15, |hash: u64, sum| {
        (hash ^ sum as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29)
    })
}
