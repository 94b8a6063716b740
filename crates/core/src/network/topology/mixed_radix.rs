//! The mixed-radix circulant graph.

use super::Topology;
use crate::Digraph;

/// For `n = p₁·p₂⋯p_m`, round j exchanges among the p_j agents that differ in digit j: strides of
/// `p₁⋯p_{j−1}`. With uniform weights m rounds average exactly (finite-time consensus), with `Σ(p_j
/// − 1)` messages per agent. It suits an n with small prime factors.
#[derive(Clone, Debug)]
pub struct MixedRadix {
    agents: usize,
    radices: Vec<usize>,
}

impl MixedRadix {
    /// With the prime factors of the number of agents.
    pub fn new(agents: usize) -> Self {
        Self { agents, radices: prime_factors(agents) }
    }

    /// The distances between agents that differ in this digit only.
    fn strides_of(&self, digit: usize) -> Vec<usize> {
        let stride: usize = self.radices[..digit].iter().product();
        let radix = self.radices.get(digit).copied().unwrap_or(1);
        (1..radix).map(|step| step * stride).collect()
    }
}

impl Topology for MixedRadix {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        round % self.radices.len().max(1) as u64
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        draw_circulant(self.agents, &self.strides_of(name as usize), graph);
    }

    fn strides(&self, name: u64) -> Option<Vec<usize>> {
        Some(self.strides_of(name as usize))
    }

    fn period(&self) -> Option<u64> {
        Some(self.radices.len().max(1) as u64)
    }

    fn links(&self) -> f64 {
        let largest = self.radices.iter().max().map_or(0, |radix| radix - 1);
        self.agents as f64 * largest as f64
    }

    fn spread(&self) -> Option<u64> {
        // In any m successive rounds each digit has its turn, and without one of them digits stay.
        Some(self.radices.len() as u64)
    }

    /// Leaves out the smallest radix and the largest by turns, so that those that are left resemble
    /// those that were there.
    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        let mut radices = self.radices.clone();
        while radices.iter().product::<usize>() > most && radices.len() > 1 {
            let place = if (self.radices.len() - radices.len()).is_multiple_of(2) { 0 } else { radices.len() - 1 };
            radices.remove(place);
        }
        let agents = radices.iter().product();
        (agents <= most).then(|| Box::new(Self { agents, radices }) as Box<dyn Topology>)
    }
}

/// Every agent i sends to `i + stride` for each stride; strides are below the number of agents.
pub(super) fn draw_circulant(agents: usize, strides: &[usize], graph: &mut Digraph) {
    graph.draw((agents * strides.len()) as f64, |agent, sources| {
        let source = |&stride: &usize| if agent >= stride { agent - stride } else { agent + agents - stride };
        strides.iter().map(source).filter(|&source| source != agent).for_each(|source| sources.push(source));
        sources.sort();
    });
}

pub(super) fn prime_factors(mut n: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= n {
        while n.is_multiple_of(factor) {
            factors.push(factor);
            n /= factor;
        }
        factor += 1;
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}
