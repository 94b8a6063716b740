//! The graphs of a sequence of rounds, without weights.

use std::cell::{Cell, OnceCell, RefCell, RefMut};

use super::super::graph_order::GraphOrder;
use crate::{Digraph, Topology};

/// The graphs of the first rounds of a topology. They stay in memory as far as they fit; the others
/// are drawn when they are looked at, and forgotten.
pub(super) struct GraphSequence<'t> {
    topology: &'t dyn Topology,
    order: GraphOrder,
    entries: f64,
    kept: Vec<OnceCell<Digraph>>,
    /// Agents and links that may still be kept.
    room: Cell<usize>,
    /// The graph that was drawn last, if any was, and its number.
    drawn: RefCell<(Option<usize>, Digraph)>,
    visited: Cell<u64>,
}

impl<'t> GraphSequence<'t> {
    /// Agents and links of all graphs that are kept.
    pub(super) const ROOM: usize = 8_000_000;

    /// The graphs of the first `rounds` rounds, of which this many agents and links are kept. None
    /// is drawn yet.
    pub(super) fn new(topology: &'t dyn Topology, rounds: u64, room: usize) -> Self {
        let order = GraphOrder::new(topology, rounds);
        Self {
            entries: topology.links() + topology.agents() as f64,
            kept: vec![OnceCell::new(); order.graphs()],
            room: Cell::new(room),
            drawn: RefCell::new((None, Digraph::new(topology.agents()))),
            visited: Cell::new(0),
            topology,
            order,
        }
    }

    /// The number of agents.
    pub(super) fn agents(&self) -> usize {
        self.topology.agents()
    }

    /// Agents and links of a round, as far as they are known before graphs are drawn: hardly ever
    /// more.
    pub(super) fn entries(&self) -> f64 {
        self.entries
    }

    /// Which graph each round has.
    pub(super) fn order(&self) -> &GraphOrder {
        &self.order
    }

    /// Looks at a graph. Its agents and links count as visited.
    pub(super) fn visit<R>(&self, graph: usize, look: impl FnOnce(&Digraph) -> R) -> R {
        let count_and_look = |graph: &Digraph| {
            self.charge(graph.agents() + graph.edges());
            look(graph)
        };
        if let Some(kept) = self.kept[graph].get() {
            return count_and_look(kept);
        }
        let drawn = self.draw(graph);
        let Some(room) = self.room.get().checked_sub(drawn.agents() + drawn.edges()) else {
            return count_and_look(&drawn);
        };
        self.room.set(room);
        count_and_look(self.kept[graph].get_or_init(|| drawn.compact()))
    }

    /// Counts work on something else than a whole graph.
    pub(super) fn charge(&self, entries: usize) {
        self.visited.set(self.visited.get() + entries as u64);
    }

    /// Agents and links that were visited so far.
    pub(super) fn visited(&self) -> u64 {
        self.visited.get()
    }

    /// Draws a graph, unless it was the last one anyway.
    fn draw(&self, graph: usize) -> RefMut<'_, Digraph> {
        RefMut::map(self.drawn.borrow_mut(), |(last, drawn)| {
            if *last != Some(graph) {
                self.topology.draw(self.order.name(graph), drawn);
                *last = Some(graph);
            }
            drawn
        })
    }
}
