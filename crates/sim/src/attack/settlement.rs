//! What all running peers must agree on once nothing goes wrong any more.

use fabnet_core::Peer;

/// The first thing on which the peers of a cluster differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Disagreement {
    /// A node that is not gone for good does not run yet.
    #[error("a node has not started")]
    NotStarted,
    /// The membership table names nodes that do not run, or misses some that do.
    #[error("node {0} counts other members than those that run")]
    WrongMembers(u32),
    /// Two nodes have different membership tables.
    #[error("nodes {0} and {1} disagree on members")]
    Members(u32, u32),
    /// Two nodes are in different epochs.
    #[error("nodes {0} and {1} are in different epochs")]
    Epochs(u32, u32),
    /// The table names another incarnation of a node than the one that it runs in.
    #[error("node {0} is not known by its life")]
    WrongIncarnation(u32),
    /// A ledger has an edge to a node that does not run.
    #[error("node {node} has an edge to {dead}, which is dead")]
    DeadEdge { node: u32, dead: u32 },
    /// The two ends of an edge know different generations of it.
    #[error("nodes {0} and {1} disagree on the edge between them")]
    Edge(u32, u32),
}

/// Checks that all running peers agree on members, epoch, incarnations and edges.
pub(super) fn check_settled(peers: &[&Peer<f64>]) -> Result<(), Disagreement> {
    let Some(first) = peers.first() else { return Ok(()) };
    if !first.table().members().eq(peers.iter().map(|peer| peer.node())) {
        return Err(Disagreement::WrongMembers(first.node()));
    }
    for peer in peers {
        if peer.table() != first.table() {
            return Err(Disagreement::Members(first.node(), peer.node()));
        }
        if peer.epoch() != first.epoch() {
            return Err(Disagreement::Epochs(first.node(), peer.node()));
        }
        if peer.table().living(peer.node()) != Some(peer.incarnation()) {
            return Err(Disagreement::WrongIncarnation(peer.node()));
        }
    }
    peers.iter().try_for_each(|peer| check_edges(peer, peers))
}

/// Checks that all edges of a peer lead to running peers, and that those know the same generation.
fn check_edges(peer: &Peer<f64>, peers: &[&Peer<f64>]) -> Result<(), Disagreement> {
    let ledger = peer.ledger();
    let find = |node: u32| peers.iter().find(|peer| peer.node() == node);
    if let Some(dead) = ledger.targets().chain(ledger.sources()).find(|&node| find(node).is_none()) {
        return Err(Disagreement::DeadEdge { node: peer.node(), dead });
    }
    for source in ledger.sources() {
        let agrees = find(source).is_some_and(|sender| {
            let same = sender.generation(peer.node()) == peer.its_generation(source);
            same && sender.ledger().sent(peer.node()).is_some()
        });
        if !agrees {
            return Err(Disagreement::Edge(source, peer.node()));
        }
    }
    Ok(())
}

/// The mass that settled peers have too much (negative: that is missing), in units:
/// `Σ t + Σ (σ − ρ) − Σ D`, over edges that both ends know.
pub(super) fn mass_imbalance(peers: &[&Peer<f64>]) -> i64 {
    let mut sum = 0i64;
    for peer in peers {
        let ledger = peer.ledger();
        for (mass, contribution) in ledger.mass().iter().zip(ledger.input()) {
            sum = sum.wrapping_add(mass.wrapping_sub(*contribution));
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

#[cfg(test)]
mod tests {
    use fabnet_core::peer::{Command, Event};

    use super::*;
    use crate::attack::fixture::{Exchange, calm_scenario};

    /// Three peers that have exchanged messages for a while.
    fn settled() -> Exchange {
        let mut exchange = Exchange::new(&calm_scenario(3, false));
        (0..50).for_each(|_| exchange.round(|_, _| true));
        exchange
    }

    #[test]
    fn peers_on_reliable_links_are_settled_and_keep_all_mass() {
        let exchange = settled();
        assert_eq!(check_settled(&exchange.all()), Ok(()));
        assert_eq!(mass_imbalance(&exchange.all()), 0);
        assert_eq!(check_settled(&[]), Ok(()));
    }

    #[test]
    fn mass_in_lost_messages_is_not_missing() {
        let mut exchange = settled();
        (0..10).for_each(|_| exchange.round(|from, to| from < to));
        assert_eq!(mass_imbalance(&exchange.all()), 0, "the senders still have it in their sums");
    }

    #[test]
    fn mass_at_a_node_that_is_gone_is_missing() {
        assert_ne!(mass_imbalance(&settled().all()[..2]), 0);
    }

    #[test]
    fn members_that_do_not_run_are_found() {
        assert_eq!(check_settled(&settled().all()[..2]), Err(Disagreement::WrongMembers(0)));
    }

    #[test]
    fn a_suspicion_that_others_have_not_heard_of_is_found() {
        let mut exchange = settled();
        exchange.tell(1, Event::Suspect(2));
        assert_eq!(check_settled(&exchange.all()), Err(Disagreement::Members(0, 1)));
    }

    #[test]
    fn an_epoch_that_others_have_not_heard_of_is_found() {
        let mut exchange = settled();
        exchange.tell(2, Event::Command(Command::Restart));
        assert_eq!(check_settled(&exchange.all()), Err(Disagreement::Epochs(0, 2)));
    }

    #[test]
    fn an_edge_that_one_end_has_closed_is_found() {
        let mut exchange = settled();
        exchange.tell(0, Event::Command(Command::Close(1)));
        assert_eq!(check_settled(&exchange.all()), Err(Disagreement::Edge(0, 1)));
        (0..50).for_each(|_| exchange.round(|_, _| true));
        assert_eq!(check_settled(&exchange.all()), Ok(()), "the other end has heard of it");
    }
}
