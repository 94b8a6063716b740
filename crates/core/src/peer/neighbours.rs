//! The neighbours of a peer in each round, among the members that it knows to be alive.

use std::sync::Arc;

use super::ledger::Fraction;
use crate::topology::Complete;
use crate::{Digraph, Mixing, Network, Topology, Weights};

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
    members: Arc<Vec<u32>>,
    topology: Arc<dyn Topology>,
    /// Whole graphs, where the neighbours of one agent do not follow from less.
    network: Option<Network>,
    /// The links of graphs that return, by the name of the graph.
    kept: Vec<(u64, Links)>,
}

impl Neighbours {
    /// The longest period of a topology whose graphs are kept; those of others are drawn each time.
    const KEPT: u64 = 256;

    /// The neighbours of node `me`, which is the only member as yet.
    pub(crate) fn new(schedule: NeighbourSource, weights: Arc<dyn Weights>, me: u32) -> Self {
        let members = Arc::new(vec![me]);
        let topology = schedule.among(&members);
        Self { schedule, weights, me, members, topology, network: None, kept: Vec::new() }
    }

    /// Sets the members that are alive, ascending, this peer among them.
    pub(crate) fn set_members(&mut self, members: &Arc<Vec<u32>>) {
        if *members != self.members {
            self.topology = self.schedule.among(members);
            self.network = None;
            self.kept.clear();
            self.members = members.clone();
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
        let strides = self.topology.strides(self.topology.graph_of(round));
        match strides.filter(|_| self.weights.follow_from_degrees()) {
            Some(strides) => self.draw_circulant(&strides),
            None => self.draw_whole(round),
        }
    }

    /// The place of this peer in the topology, and the nodes by their places if these are ranks.
    fn places(&self) -> (usize, Option<&[u32]>) {
        match self.schedule {
            NeighbourSource::Living(_) => {
                (self.members.partition_point(|&member| member < self.me), Some(&self.members))
            }
            NeighbourSource::Contacts(_) => (self.me as usize, None),
        }
    }

    /// The neighbours at these distances.
    ///
    /// All agents have as many sources and targets as this one has, so that weights which follow
    /// from degrees are those among agents that all hear each other, of which there is one more.
    fn draw_circulant(&self, strides: &[usize]) -> Links {
        let (agents, (me, nodes)) = (self.topology.agents(), self.places());
        let node = |place: usize| nodes.map_or(place as u32, |nodes| nodes[place]);
        let mut sources: Vec<u32> = strides.iter().map(|stride| node((me + agents - stride) % agents)).collect();
        let mut targets: Vec<u32> = strides.iter().map(|stride| node((me + stride) % agents)).collect();
        sources.sort_unstable();
        targets.sort_unstable();
        let (mut mixing, mut graph) = (Mixing::default(), Digraph::new(strides.len() + 1));
        mixing.draw(&Complete::new(strides.len() + 1), 0, &*self.weights, &mut graph);
        let row = mixing.row(0);
        let share = row.push.get(1).map_or(Fraction::ZERO, |&push| Fraction::of(push));
        Links {
            own_pull: row.pull[0],
            sources: sources.into_iter().zip(row.pull[1..].iter().copied()).collect(),
            reachable: nodes.is_none().then(|| targets.clone()),
            targets: targets.into_iter().map(|target| (target, share)).collect(),
        }
    }

    /// The neighbours in the whole graph of a round.
    fn draw_whole(&mut self, round: u64) -> Links {
        let mut network =
            self.network.take().unwrap_or_else(|| Network::new(self.topology.clone(), self.weights.clone()));
        network.advance(round);
        let mixing = network.current();
        let (me, nodes) = self.places();
        let node = |place: u32| nodes.map_or(place, |nodes| nodes[place as usize]);
        let row = mixing.row(me);
        let sources = row.sources[1..].iter().zip(&row.pull[1..]).map(|(&source, &pull)| (node(source), pull));
        let share = |target: usize| {
            let row = mixing.row(target);
            let place = row.sources[1..].iter().position(|&source| source as usize == me)?;
            Some((node(target as u32), Fraction::of(row.push[1 + place])))
        };
        let targets = (0..mixing.agents()).filter_map(share).collect();
        let reachable = self.schedule.reachable_from(self.me, round);
        let links = Links { own_pull: row.pull[0], sources: sources.collect(), targets, reachable };
        self.network = Some(network);
        links
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
    fn among(&self, members: &Arc<Vec<u32>>) -> Arc<dyn Topology> {
        match self {
            Self::Living(topology) => topology(members.len()),
            Self::Contacts(topology) if members.len() == topology.agents() => topology.clone(),
            Self::Contacts(topology) => Arc::new(Surviving { topology: topology.clone(), members: members.clone() }),
        }
    }
}

/// The links of a topology between the members that are left.
struct Surviving {
    topology: Arc<dyn Topology>,
    members: Arc<Vec<u32>>,
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
    use crate::topology::{MixedRadix, OnePeerExponential, Ring};
    use crate::weights::{Lazy, Metropolis, Uniform};

    fn ids<W>(weighted: &[(u32, W)]) -> Vec<u32> {
        weighted.iter().map(|(node, _)| *node).collect()
    }

    #[test]
    fn the_living_close_ranks() {
        let ring = NeighbourSource::Living(Arc::new(|agents| Arc::new(Ring::new(agents))));
        let mut neighbours = Neighbours::new(ring, Arc::new(Uniform), 4);
        assert!(neighbours.at(0).sources.is_empty(), "it is alone");
        neighbours.set_members(&Arc::new(vec![1, 4, 6]));
        let links = neighbours.at(0);
        assert_eq!((ids(&links.sources), ids(&links.targets)), (vec![1], vec![6]));
        assert!(links.reaches(0), "there is a way to everybody");
        neighbours.set_members(&Arc::new(vec![1, 4]));
        let links = neighbours.at(0);
        assert_eq!((ids(&links.sources), ids(&links.targets)), (vec![1], vec![1]));
    }

    #[test]
    fn given_links_with_the_dead_are_left_out_but_stay_reachable() {
        let mut neighbours = Neighbours::new(NeighbourSource::Contacts(Arc::new(Ring::new(4))), Arc::new(Uniform), 1);
        neighbours.set_members(&Arc::new(vec![0, 1, 3]));
        let links = neighbours.at(0);
        assert_eq!((ids(&links.sources), ids(&links.targets)), (vec![0], vec![]));
        assert!(links.reaches(2) && !links.reaches(3));
        assert!((links.own_pull + links.sources[0].1 - 1.0).abs() < 1e-12);
    }

    /// Another topology whose graphs must be drawn as a whole.
    struct Whole(Box<dyn Topology>);

    impl Topology for Whole {
        fn agents(&self) -> usize {
            self.0.agents()
        }

        fn graph_of(&self, round: u64) -> u64 {
            self.0.graph_of(round)
        }

        fn draw(&self, name: u64, graph: &mut Digraph) {
            self.0.draw(name, graph);
        }

        fn period(&self) -> Option<u64> {
            self.0.period()
        }
    }

    #[test]
    fn neighbours_at_distances_are_those_of_the_whole_graph() {
        let kinds: [fn(usize) -> Box<dyn Topology>; 4] = [
            |agents| Box::new(Ring::new(agents)),
            |agents| Box::new(Ring::reversed(agents)),
            |agents| Box::new(OnePeerExponential::new(agents)),
            |agents| Box::new(MixedRadix::new(agents)),
        ];
        let all_weights: [Arc<dyn Weights>; 3] = [Arc::new(Uniform), Arc::new(Lazy::default()), Arc::new(Metropolis)];
        let cases = kinds.into_iter().flat_map(|kind| all_weights.iter().map(move |weights| (kind, weights)));
        for ((kind, weights), agents) in cases.flat_map(|case| [1, 2, 3, 7, 12].map(|agents| (case, agents))) {
            assert!(kind(agents).strides(0).is_some());
            for contacts in [false, true] {
                let source = |whole: bool| {
                    let topology = move |agents| -> Arc<dyn Topology> {
                        if whole { Arc::new(Whole(kind(agents))) } else { kind(agents).into() }
                    };
                    if contacts {
                        NeighbourSource::Contacts(topology(agents))
                    } else {
                        NeighbourSource::Living(Arc::new(topology))
                    }
                };
                let members = Arc::new((0..agents as u32).map(|rank| if contacts { rank } else { 3 * rank }).collect());
                for (&me, round) in Vec::clone(&members).iter().flat_map(|me| (0..5).map(move |round| (me, round))) {
                    let links = [true, false].map(|whole| {
                        let mut neighbours = Neighbours::new(source(whole), weights.clone(), me);
                        neighbours.set_members(&members);
                        neighbours.at(round).clone()
                    });
                    assert_eq!(links[0], links[1], "{agents} agents, node {me}, round {round}");
                }
            }
        }
    }
}
