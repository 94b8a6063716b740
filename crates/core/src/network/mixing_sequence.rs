//! The mixing matrices of a sequence of rounds.

use std::cell::{Cell, OnceCell, RefCell};

use super::graph_order::GraphOrder;
use crate::{Digraph, Mixing, Network, Topology, Weights};

/// A and B of the first rounds of a topology. They stay in memory as far as they fit; the others
/// are drawn when they are looked at, and forgotten.
pub(crate) struct MixingSequence<'t> {
    topology: &'t dyn Topology,
    weights: &'t dyn Weights,
    order: GraphOrder,
    kept: Vec<OnceCell<Mixing>>,
    /// Entries of A that may still be kept.
    room: Cell<usize>,
    /// The matrices that were drawn last, if any were, and the number of their graph.
    drawn: RefCell<(Option<usize>, Mixing)>,
    /// Lends its memory to matrices that are drawn.
    lent: RefCell<Digraph>,
}

impl<'t> MixingSequence<'t> {
    /// Entries of all matrices A that are kept.
    pub(super) const ROOM: usize = 8_000_000;

    /// The matrices of the first `rounds` rounds, of which this many entries of A are kept. None is
    /// drawn yet.
    pub(super) fn new(topology: &'t dyn Topology, weights: &'t dyn Weights, rounds: u64, room: usize) -> Self {
        let order = GraphOrder::new(topology, rounds);
        Self {
            kept: vec![OnceCell::new(); order.graphs()],
            room: Cell::new(room),
            drawn: RefCell::new((None, Mixing::default())),
            lent: RefCell::new(Digraph::new(topology.agents())),
            topology,
            weights,
            order,
        }
    }

    /// The number of agents.
    pub(crate) fn agents(&self) -> usize {
        self.topology.agents()
    }

    /// Which graph each round has.
    pub(crate) fn order(&self) -> &GraphOrder {
        &self.order
    }

    /// Whether matrices that were looked at stay in memory.
    pub(super) fn are_kept(&self) -> bool {
        self.order.graphs() == 1 || self.kept.iter().all(|kept| kept.get().is_some())
    }

    /// Looks at the matrices of a graph.
    pub(crate) fn visit<R>(&self, graph: usize, look: impl FnOnce(&Mixing) -> R) -> R {
        if let Some(kept) = self.kept[graph].get() {
            return look(kept);
        }
        let (last, drawn) = &mut *self.drawn.borrow_mut();
        if *last != Some(graph) {
            drawn.draw(self.topology, self.order.name(graph), self.weights, &mut self.lent.borrow_mut());
            *last = Some(graph);
        }
        let Some(room) = self.room.get().checked_sub(drawn.entries()) else {
            return look(drawn);
        };
        self.room.set(room);
        look(self.kept[graph].get_or_init(|| std::mem::take(drawn)))
    }
}

impl Network {
    /// The matrices of a period; if there is none, of the first `rounds` rounds, as far as they can
    /// be kept.
    pub(crate) fn mixings(&self, rounds: u64) -> MixingSequence<'_> {
        let entries = self.topology().links() + self.agents() as f64;
        let kept = (MixingSequence::ROOM as f64 / entries) as u64;
        let rounds = self.topology().period().unwrap_or(rounds.min(kept.max(1)));
        MixingSequence::new(self.topology(), &**self.weights(), rounds, MixingSequence::ROOM)
    }
}
