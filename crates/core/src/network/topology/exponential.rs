//! The one-peer exponential graph.

use super::{Topology, halved};
use crate::Digraph;

/// In round k, i sends to `i + 2^(k mod L)` with `L = ⌈log₂ n⌉`: one message per agent and round,
/// and after L rounds everybody has heard of everybody (Ying, Yuan, Chen, Hu, Pan, Yin:
/// *Exponential graph is provably efficient for decentralized deep training*, NeurIPS 2021).
#[derive(Clone, Copy, Debug)]
pub struct OnePeerExponential {
    agents: usize,
}

impl OnePeerExponential {
    /// The graphs of this many agents.
    pub fn new(agents: usize) -> Self {
        Self { agents }
    }

    fn length(self) -> u64 {
        u64::from(self.agents.next_power_of_two().trailing_zeros()).max(1)
    }
}

impl Topology for OnePeerExponential {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        round % self.length()
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        super::mixed_radix::draw_circulant(self.agents, &[(1 << name) % self.agents], graph);
    }

    fn period(&self) -> Option<u64> {
        Some(self.length())
    }

    fn links(&self) -> f64 {
        if self.agents > 1 { self.agents as f64 } else { 0.0 }
    }

    fn spread(&self) -> Option<u64> {
        // Sums of different distances are all numbers below 2^L, and in any L successive rounds
        // each distance has its turn. Fewer rounds reach fewer than n agents.
        Some(u64::from(self.agents.next_power_of_two().trailing_zeros()))
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        Some(Box::new(Self { agents: halved(self.agents, most) }))
    }
}
