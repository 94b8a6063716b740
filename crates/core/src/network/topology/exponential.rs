//! The one-peer exponential graph.

use super::mixed_radix::draw_circulant;
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

    /// The only distance in a graph; there is none for a single agent.
    fn stride(self, name: u64) -> Vec<usize> {
        if self.agents > 1 { vec![1 << name] } else { Vec::new() }
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
        draw_circulant(self.agents, &self.stride(name), graph);
    }

    fn strides(&self, name: u64) -> Option<Vec<usize>> {
        Some(self.stride(name))
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
