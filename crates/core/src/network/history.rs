//! The graphs of a sequence of rounds, and what follows from them.

use std::ops::Range;

use super::digraph::Digraph;
use super::mixing::Mixing;
use super::topology::Topology;
use super::weights::Weights;

/// The graphs of the rounds, each of them once.
pub(super) struct History {
    agents: usize,
    graphs: Vec<Mixing>,
    /// The number of the graph that a round has.
    of_round: Vec<usize>,
}

impl History {
    /// Agents up to which the spread is computed.
    pub(super) const LIMIT: usize = 2048;

    /// Draws the graphs of the first `rounds` rounds.
    pub(super) fn draw(topology: &dyn Topology, weights: &dyn Weights, rounds: u64) -> Self {
        let mut names = Vec::new();
        let mut graphs = Vec::new();
        let mut graph = Digraph::new(topology.agents());
        let of_round = (0..rounds).map(|round| {
            let name = topology.graph_of(round);
            names.iter().position(|&known| known == name).unwrap_or_else(|| {
                let mut mixing = Mixing::default();
                mixing.draw(topology, name, weights, &mut graph);
                names.push(name);
                graphs.push(mixing);
                names.len() - 1
            })
        });
        let of_round = of_round.collect();
        Self { agents: topology.agents(), graphs, of_round }
    }

    fn round(&self, round: u64) -> &Mixing {
        &self.graphs[self.of_round[(round % self.of_round.len() as u64) as usize]]
    }

    /// The smallest C, by trying them in turn on all windows until the pattern repeats (or the
    /// rounds end).
    pub(super) fn window(&self, topology: &dyn Topology) -> Option<u64> {
        let rounds = self.of_round.len() as u64;
        (1..=rounds).find(|&length| {
            let windows = if topology.period().is_some() { rounds / gcd(rounds, length) } else { rounds / length };
            (0..windows).all(|k| self.strongly_connected(k * length..(k + 1) * length))
        })
    }

    /// Whether the union of the graphs of these rounds is strongly connected.
    fn strongly_connected(&self, rounds: Range<u64>) -> bool {
        strongly_connected(self.agents, self.links(rounds))
    }

    /// The links of these rounds together, as (source, target).
    pub(super) fn links(&self, rounds: Range<u64>) -> impl Iterator<Item = (usize, usize)> {
        let mut graphs: Vec<usize> =
            rounds.map(|round| self.of_round[(round % self.of_round.len() as u64) as usize]).collect();
        graphs.sort_unstable();
        graphs.dedup();
        graphs.into_iter().flat_map(move |graph| {
            let row =
                move |target| self.graphs[graph].row(target).sources[1..].iter().map(move |&s| (s as usize, target));
            (0..self.agents).flat_map(row)
        })
    }

    /// The rounds after which information from any agent has reached all, from every starting
    /// round.
    pub(super) fn spread(&self, topology: &dyn Topology, window: u64) -> Option<u64> {
        if self.agents > Self::LIMIT {
            return None;
        }
        let rounds = self.of_round.len() as u64;
        let bound = window * self.agents as u64;
        // Without a period, information that starts late in the window cannot be followed far
        // enough.
        let starts = if topology.period().is_some() { rounds } else { rounds.saturating_sub(bound).max(1) };
        (0..starts).map(|start| self.spread_from(start, bound)).collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    fn spread_from(&self, start: u64, bound: u64) -> Option<u64> {
        let words = self.agents.div_ceil(64);
        let mut knows: Vec<u64> = (0..self.agents)
            .flat_map(|agent| (0..words).map(move |word| if word == agent / 64 { 1 << (agent % 64) } else { 0 }))
            .collect();
        for elapsed in 0..=bound {
            if knows.iter().map(|word| word.count_ones() as usize).sum::<usize>() == self.agents * self.agents {
                return Some(elapsed);
            }
            let before = knows.clone();
            for target in 0..self.agents {
                for &source in self.round(start + elapsed).row(target).sources {
                    let heard = &before[source as usize * words..][..words];
                    knows[target * words..][..words].iter_mut().zip(heard).for_each(|(word, heard)| *word |= heard);
                }
            }
        }
        None
    }

    /// Fixed points of the product over a cycle, by power iteration: α backwards through A, β
    /// forwards through B.
    pub(super) fn perron_weights(&self) -> (Vec<f64>, Vec<f64>) {
        const WORK: usize = 200_000_000;
        let rounds = self.of_round.len() as u64;
        let cycle: usize = (0..rounds).map(|round| self.round(round).entries()).sum();
        let mut alpha = vec![1.0 / self.agents as f64; self.agents];
        let mut beta = alpha.clone();
        let mut buffer = vec![0.0; self.agents];
        for _ in 0..(WORK / cycle).max(1) {
            let before = (alpha.clone(), beta.clone());
            for round in (0..rounds).rev() {
                buffer.fill(0.0);
                for (target, &weight) in alpha.iter().enumerate() {
                    let row = self.round(round).row(target);
                    row.sources.iter().zip(row.pull).for_each(|(&source, a)| buffer[source as usize] += weight * a);
                }
                std::mem::swap(&mut alpha, &mut buffer);
            }
            for round in 0..rounds {
                for (target, out) in buffer.iter_mut().enumerate() {
                    let row = self.round(round).row(target);
                    *out = row.sources.iter().zip(row.push).map(|(&source, b)| b * beta[source as usize]).sum();
                }
                std::mem::swap(&mut beta, &mut buffer);
            }
            let change = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
            if change(&alpha, &before.0) + change(&beta, &before.1) < 1e-14 {
                break;
            }
        }
        (alpha, beta)
    }

    /// The smallest weights of A and of B.
    pub(super) fn smallest_weights(&self) -> (f64, f64) {
        let rows = || self.graphs.iter().flat_map(|graph| (0..self.agents).map(|agent| graph.row(agent)));
        let least = |weights: &[f64]| weights.iter().copied().fold(f64::INFINITY, f64::min);
        (
            rows().map(|row| least(row.pull)).fold(f64::INFINITY, f64::min),
            rows().map(|row| least(row.push)).fold(f64::INFINITY, f64::min),
        )
    }

    /// The number of messages that an agent sends in a round, on average.
    pub(super) fn messages(&self) -> f64 {
        let links: usize = self.of_round.iter().map(|&graph| self.graphs[graph].entries() - self.agents).sum();
        links as f64 / (self.agents * self.of_round.len()) as f64
    }
}

/// Whether all agents can be visited from agent 0.
fn covers(neighbours: &[Vec<usize>]) -> bool {
    let mut seen = vec![false; neighbours.len()];
    let mut stack = vec![0];
    seen[0] = true;
    while let Some(agent) = stack.pop() {
        for &next in &neighbours[agent] {
            if !std::mem::replace(&mut seen[next], true) {
                stack.push(next);
            }
        }
    }
    seen.into_iter().all(|seen| seen)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether agent 0 reaches all agents and all agents reach it.
pub(super) fn strongly_connected(agents: usize, links: impl Iterator<Item = (usize, usize)>) -> bool {
    let (hears, reaches) = neighbours(agents, links);
    covers(&hears) && covers(&reaches)
}

/// The agents that each agent hears, and those that it reaches.
pub(super) fn neighbours(
    agents: usize,
    links: impl Iterator<Item = (usize, usize)>,
) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let (mut hears, mut reaches) = (vec![Vec::new(); agents], vec![Vec::new(); agents]);
    for (source, target) in links {
        hears[target].push(source);
        reaches[source].push(target);
    }
    (hears, reaches)
}
