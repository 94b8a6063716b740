//! Whom a peer sends to and hears from in a round, as far as it knows who is alive.

use std::sync::Arc;

use super::mass::Fraction;
use crate::{Digraph, Network, Topology, Weights};

/// Where neighbours come from.
#[derive(Clone)]
pub enum Schedule {
    /// A topology of as many agents as are alive, in which each takes the place of its rank: whoever agrees on members agrees on neighbours.
    Living(Arc<dyn Fn(usize) -> Arc<dyn Topology> + Send + Sync>),
    /// Links between given nodes, of which those with the dead fall away.
    Contacts(Arc<dyn Topology>),
}

/// The neighbours of a peer in one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// What it takes of itself.
    pub own_pull: f64,
    /// From whom it takes how much, ascending.
    pub sources: Vec<(u32, f64)>,
    /// To whom it gives how much, ascending.
    pub targets: Vec<(u32, Fraction)>,
    /// To whom there is a way at all, alive or not; to everybody if nothing is said.
    pub ways: Option<Vec<u32>>,
}

impl Links {
    /// Whether there is a way to a node.
    pub fn reach(&self, node: u32) -> bool {
        self.ways.as_ref().is_none_or(|ways| ways.contains(&node))
    }
}

/// The neighbours of one peer, round by round.
pub(super) struct Neighbours {
    schedule: Schedule,
    weights: Arc<dyn Weights>,
    me: u32,
    members: Vec<u32>,
    topology: Arc<dyn Topology>,
    network: Network,
    kept: Vec<(u64, Links)>,
}

impl Neighbours {
    /// Graphs that are kept of a topology that returns to them.
    const KEPT: u64 = 256;

    pub(super) fn new(schedule: Schedule, weights: Arc<dyn Weights>, me: u32) -> Self {
        let topology = schedule.among(&[me]);
        let network = Network::new(topology.clone(), weights.clone());
        Self { schedule, weights, me, members: vec![me], topology, network, kept: Vec::new() }
    }

    /// These are alive now, ascending, this peer among them.
    pub(super) fn set_members(&mut self, members: Vec<u32>) {
        if members != self.members {
            self.topology = self.schedule.among(&members);
            self.network = Network::new(self.topology.clone(), self.weights.clone());
            self.kept.clear();
            self.members = members;
        }
    }

    /// Those that are alive.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    /// The neighbours of a round.
    pub(super) fn at(&mut self, round: u64) -> &Links {
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
        let by_rank = matches!(self.schedule, Schedule::Living(_));
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
        let ways = match &self.schedule {
            Schedule::Living(_) => None,
            Schedule::Contacts(topology) => {
                let mut graph = Digraph::new(topology.agents());
                topology.draw(topology.graph_of(round), &mut graph);
                let mine = graph.links().filter(|(source, _)| *source == self.me as usize);
                Some(mine.map(|(_, target)| target as u32).collect())
            }
        };
        Links { own_pull: row.pull[0], sources: sources.collect(), targets, ways }
    }
}

impl Schedule {
    fn among(&self, members: &[u32]) -> Arc<dyn Topology> {
        match self {
            Self::Living(topology) => topology(members.len()),
            Self::Contacts(topology) => Arc::new(Surviving { topology: topology.clone(), members: members.to_vec() }),
        }
    }
}

/// The links of a topology between those that are left.
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
