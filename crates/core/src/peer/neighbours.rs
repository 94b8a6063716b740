//! The neighbours of a peer in each round, among the members that it knows to be alive.

use std::sync::Arc;

use super::ledger::Fraction;
use crate::{Digraph, Network, Topology, Weights};

/// Where the neighbours of a round come from.
#[derive(Clone)]
pub enum NeighbourSource {
    /// A topology of as many agents as are alive, in which each member has the place of its rank.
    /// Peers that agree on the members agree on the neighbours.
    Living(Arc<dyn Fn(usize) -> Arc<dyn Topology> + Send + Sync>),
    /// Given links between given nodes; links with the dead are left out.
    Contacts(Arc<dyn Topology>),
}

/// The neighbours of a peer in one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// The weight of its own row.
    pub own_pull: f64,
    /// The nodes whose rows it averages, with their weights, ascending.
    pub sources: Vec<(u32, f64)>,
    /// The nodes to which it gives mass, with their shares, ascending.
    pub targets: Vec<(u32, Fraction)>,
    /// Nodes reachable this round, dead or alive; `None` = all.
    pub reachable: Option<Vec<u32>>,
}

impl Links {
    /// Whether a node is reachable.
    pub fn reaches(&self, node: u32) -> bool {
        self.reachable.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }
}

/// The neighbours of one peer, round by round.
pub(crate) struct Neighbours {
    schedule: NeighbourSource,
    weights: Arc<dyn Weights>,
    me: u32,
    /// The members that are alive, ascending.
    members: Vec<u32>,
    topology: Arc<dyn Topology>,
    network: Network,
    /// The links of graphs that return, by the name of the graph.
    kept: Vec<(u64, Links)>,
}

impl Neighbours {
    /// The longest period of a topology whose graphs are kept; those of others are drawn each time.
    const KEPT: u64 = 256;

    /// The neighbours of node `me`, which is the only member as yet.
    pub(crate) fn new(schedule: NeighbourSource, weights: Arc<dyn Weights>, me: u32) -> Self {
        let topology = schedule.among(&[me]);
        let network = Network::new(topology.clone(), weights.clone());
        Self { schedule, weights, me, members: vec![me], topology, network, kept: Vec::new() }
    }

    /// Sets the members that are alive, ascending, this peer among them.
    pub(crate) fn set_members(&mut self, members: &[u32]) {
        if members != self.members {
            self.topology = self.schedule.among(members);
            self.network = Network::new(self.topology.clone(), self.weights.clone());
            self.kept.clear();
            self.members = members.to_vec();
        }
    }

    /// The neighbours of a round.
    pub(crate) fn at(&mut self, round: u64) -> &Links {
        let name = self.topology.graph_of(round);
        let known = self.kept.iter().position(|(kept, _)| *kept == name);
        let place = known.unwrap_or_else(|| {
            if self.topology.period().is_none_or(|period| period > Self::KEPT) {
                self.kept.clear();
            }
            let links = self.draw(round);
            self.kept.push((name, links));
            self.kept.len() - 1
        });
        &self.kept[place].1
    }

    fn draw(&mut self, round: u64) -> Links {
        self.network.advance(round);
        let mixing = self.network.current();
        let by_rank = matches!(self.schedule, NeighbourSource::Living(_));
        let node = |place: u32| if by_rank { self.members[place as usize] } else { place };
        let me = if by_rank { self.members.partition_point(|&member| member < self.me) } else { self.me as usize };
        let row = mixing.row(me);
        let sources = row.sources[1..].iter().zip(&row.pull[1..]).map(|(&source, &pull)| (node(source), pull));
        let share = |target: usize| {
            let row = mixing.row(target);
            let place = row.sources[1..].iter().position(|&source| source as usize == me)?;
            Some((node(target as u32), Fraction::of(row.push[1 + place])))
        };
        let targets = (0..mixing.agents()).filter_map(share).collect();
        let reachable = self.schedule.reachable_from(self.me, round);
        Links { own_pull: row.pull[0], sources: sources.collect(), targets, reachable }
    }
}

impl NeighbourSource {
    /// The nodes, dead or alive, that a node can reach in a round; `None` = all.
    fn reachable_from(&self, me: u32, round: u64) -> Option<Vec<u32>> {
        let Self::Contacts(topology) = self else { return None };
        let mut graph = Digraph::new(topology.agents());
        topology.draw(topology.graph_of(round), &mut graph);
        let mine = graph.links().filter(|(source, _)| *source == me as usize);
        Some(mine.map(|(_, target)| target as u32).collect())
    }

    /// The topology among these members.
    fn among(&self, members: &[u32]) -> Arc<dyn Topology> {
        match self {
            Self::Living(topology) => topology(members.len()),
            Self::Contacts(topology) => Arc::new(Surviving { topology: topology.clone(), members: members.to_vec() }),
        }
    }
}

/// The links of a topology between the members that are left.
struct Surviving {
    topology: Arc<dyn Topology>,
    members: Vec<u32>,
}

impl Topology for Surviving {
    fn agents(&self) -> usize {
        self.topology.agents()
    }

    fn graph_of(&self, round: u64) -> u64 {
        self.topology.graph_of(round)
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        self.topology.draw(name, graph);
        let alive = |node: &usize| self.members.binary_search(&(*node as u32)).is_ok();
        let mut links: Vec<_> = graph.links().filter(|(source, target)| alive(source) && alive(target)).collect();
        graph.set_links(&mut links);
    }

    fn period(&self) -> Option<u64> {
        self.topology.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Ring;
    use crate::weights::Uniform;

    fn ids<W>(weighted: &[(u32, W)]) -> Vec<u32> {
        weighted.iter().map(|(node, _)| *node).collect()
    }

    #[test]
    fn the_living_close_ranks() {
        let ring = NeighbourSource::Living(Arc::new(|agents| Arc::new(Ring::new(agents))));
        let mut neighbours = Neighbours::new(ring, Arc::new(Uniform), 4);
        assert!(neighbours.at(0).sources.is_empty(), "it is alone");
        neighbours.set_members(&[1, 4, 6]);
        let links = neighbours.at(0);
        assert_eq!((ids(&links.sources), ids(&links.targets)), (vec![1], vec![6]));
        assert!(links.reaches(0), "there is a way to everybody");
        neighbours.set_members(&[1, 4]);
        let links = neighbours.at(0);
        assert_eq!((ids(&links.sources), ids(&links.targets)), (vec![1], vec![1]));
    }

    #[test]
    fn given_links_with_the_dead_are_left_out_but_stay_reachable() {
        let mut neighbours = Neighbours::new(NeighbourSource::Contacts(Arc::new(Ring::new(4))), Arc::new(Uniform), 1);
        neighbours.set_members(&[0, 1, 3]);
        let links = neighbours.at(0);
        assert_eq!((ids(&links.sources), ids(&links.targets)), (vec![0], vec![]));
        assert!(links.reaches(2) && !links.reaches(3));
        assert!((links.own_pull + links.sources[0].1 - 1.0).abs() < 1e-12);
    }
}
