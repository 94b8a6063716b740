//! Topologies: who hears whom, round by round. Each is a pure function of (seed, round).

mod automatic;
mod base;
mod complete;
mod contact_plan;
mod contact_trace;
mod erdos_renyi;
mod exponential;
mod frozen;
mod hypercube;
mod mixed_radix;
mod phases;
mod registry;
mod ring;
mod scale_free;
mod small_world;
mod torus;
mod undirected;

pub use automatic::automatic;
pub use base::Base;
pub use complete::Complete;
pub use contact_plan::{ContactPlan, ContactPlanError};
pub use erdos_renyi::{ErdosRenyi, Redraw};
pub use exponential::OnePeerExponential;
pub use frozen::Frozen;
pub use hypercube::Hypercube;
pub use mixed_radix::MixedRadix;
pub use phases::Phases;
pub use registry::{TopologyKind, TopologyRecipe, examples, topologies};
pub use ring::Ring;
pub use scale_free::ScaleFree;
pub use small_world::SmallWorld;
pub use torus::Torus;
pub use undirected::Undirected;

use crate::Digraph;

/// Who hears whom, round by round.
pub trait Topology: Send + Sync {
    /// The number of agents.
    fn agents(&self) -> usize;

    /// Names the graph of a round: rounds with the same name have the same graph, so that it need
    /// not be drawn again.
    fn graph_of(&self, round: u64) -> u64;

    /// Draws the graph of this name, with weights if it brings any.
    fn draw(&self, name: u64, graph: &mut Digraph);

    /// After how many rounds the sequence of graphs repeats, if it does.
    fn period(&self) -> Option<u64>;

    /// The distances at which every agent sends in the graph of this name, if they are the same for
    /// all: agent i sends to `i + distance` for each, and to nobody else. Distances are different,
    /// above 0 and below the number of agents. The neighbours of one agent then follow without the
    /// graph.
    fn strides(&self, _name: u64) -> Option<Vec<usize>> {
        None
    }

    /// The expected number of links in the round that has the most, which resource estimates need
    /// before any graph is drawn. Unless a topology knows it in closed form, the graph of round 0
    /// is drawn and counted.
    fn links(&self) -> f64 {
        let mut graph = Digraph::new(self.agents());
        self.draw(self.graph_of(0), &mut graph);
        graph.edges() as f64
    }

    /// The rounds after which information from any agent has reached all, whatever the round it
    /// starts in, if the topology knows it in closed form. Unless it does, graphs are drawn and
    /// information is followed. Too small a number makes agents decide at different times.
    fn spread(&self) -> Option<u64> {
        None
    }

    /// A topology of the same kind with at most this many agents, each of which has as many
    /// neighbours: it stands for this one where step sizes are tried. None if there is no such.
    fn shrunk(&self, _most: usize) -> Option<Box<dyn Topology>> {
        None
    }
}

/// A number of agents is halved until it is at most this.
fn halved(agents: usize, most: usize) -> usize {
    std::iter::successors(Some(agents), |agents| Some(agents / 2)).find(|&agents| agents <= most).unwrap_or(1)
}
