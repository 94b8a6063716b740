//! What can be known of a network before anything is run on it.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::components::Components;
use super::history::{History, neighbours, strongly_connected};
use super::topology::Topology;
use crate::weights::Uniform;
use crate::{Digraph, Weights};

/// How well a network of agents is connected over a window of rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Connectivity {
    /// The rounds looked at: the period of the sequence, or the window asked for.
    pub rounds: u64,
    /// Whether the graph of every single round is strongly connected.
    pub every_round: bool,
    /// The smallest C for which the union of the graphs of each C successive rounds, `kC ≤ round <
    /// (k+1)C`, is strongly connected: 1 if every round is; none if no C is found.
    pub window: Option<u64>,
    /// The rounds after which information from any agent has reached all, whatever the round it
    /// starts in;
    /// none if that does not happen, or for more than 2,048 agents, where it is not computed.
    pub spread: Option<u64>,
    /// The Perron weights of A over the cycle: how much each agent's point counts.
    pub pull_weights: Vec<f64>,
    /// The Perron weights of B over the cycle: how much mass rests with each agent.
    pub push_weights: Vec<f64>,
    /// κ = n·Σ αᵢβᵢ of these weights: the effective step size of push-pull is κ·η.
    pub kappa: f64,
    /// The smallest weights of A and of B.
    pub smallest: (f64, f64),
    /// Messages that an agent sends in a round, on average.
    pub messages: f64,
}

impl Connectivity {
    /// Bytes that an agent sends in a round, on average, for messages of this many bytes.
    pub fn bytes_per_round(&self, message: usize) -> f64 {
        self.messages * message as f64
    }
}

/// Who can hear of whom, whatever the weights: the part of the report that a run needs.
///
/// Graphs are drawn one after the other and forgotten; only where that does not suffice are those
/// of all rounds kept.
pub struct Reach<'t> {
    topology: &'t dyn Topology,
    rounds: u64,
    every_round: bool,
    history: OnceCell<History>,
}

impl<'t> Reach<'t> {
    /// A sequence without a period is judged by its first `window` rounds.
    pub fn new(topology: &'t dyn Topology, window: u64) -> Self {
        let rounds = topology.period().unwrap_or(window).max(1);
        let every_round = every_round_connected(topology, rounds);
        Self { topology, rounds, every_round, history: OnceCell::new() }
    }

    /// [`Connectivity::window`]: whether agents can work together at all.
    pub fn window(&self) -> Option<u64> {
        if self.every_round { Some(1) } else { self.history().window(self.topology) }
    }

    /// The strongly connected components of all rounds together: one if agents can work together.
    pub fn components(&self) -> Components {
        let (hears, reaches) = neighbours(self.topology.agents(), self.history().links(0..self.rounds));
        Components::of(&hears, &reaches)
    }

    /// [`Connectivity::spread`]: what automatic step sizes need to know.
    pub fn spread(&self) -> Option<u64> {
        if self.topology.agents() > History::LIMIT {
            return None;
        }
        self.history().spread(self.topology, self.window()?)
    }

    fn history(&self) -> &History {
        self.history.get_or_init(|| History::draw(self.topology, &Uniform, self.rounds))
    }
}

/// Whether the graph of every single round is strongly connected.
fn every_round_connected(topology: &dyn Topology, rounds: u64) -> bool {
    let (mut graph, mut seen) = (Digraph::new(topology.agents()), BTreeSet::new());
    (0..rounds).map(|round| topology.graph_of(round)).filter(|&name| seen.insert(name)).all(|name| {
        topology.draw(name, &mut graph);
        strongly_connected(topology.agents(), graph.links())
    })
}

/// Reports on a network. A sequence without a period is judged by its first `window` rounds.
pub fn connectivity(topology: &dyn Topology, weights: &dyn Weights, window: u64) -> Connectivity {
    let rounds = topology.period().unwrap_or(window).max(1);
    let history = History::draw(topology, weights, rounds);
    let smallest = history.window(topology);
    let (pull_weights, push_weights) = history.perron_weights();
    let alike: f64 = pull_weights.iter().zip(&push_weights).map(|(a, b)| a * b).sum();
    Connectivity {
        rounds,
        every_round: smallest == Some(1),
        window: smallest,
        spread: smallest.and_then(|window| history.spread(topology, window)),
        kappa: topology.agents() as f64 * alike,
        smallest: history.smallest_weights(),
        messages: history.messages(),
        pull_weights,
        push_weights,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mixing;
    use crate::topology::{ContactPlan, MixedRadix, OnePeerExponential, Phases, Ring};
    use crate::weights::Alternating;

    #[test]
    fn a_ring_is_connected_in_every_round_and_news_goes_round_once() {
        let report = connectivity(&Ring::new(10), &Uniform, 1);
        assert_eq!((report.every_round, report.window, report.spread), (true, Some(1), Some(9)));
        assert!((report.kappa - 1.0).abs() < 1e-12 && (report.messages - 1.0).abs() < 1e-12);
        assert_eq!(report.smallest, (0.5, 0.5));
    }

    #[test]
    fn kappa_of_a_ring_with_alternating_weights_is_the_known_one() {
        // With α ∝ 1/w of the link in, β ∝ 1/w of the link out: κ = 4 w v / (w + v)².
        for (even, kappa) in [(0.05, 0.3306), (0.10, 0.5556), (0.15, 0.7101), (0.20, 0.8163)] {
            let report = connectivity(&Ring::new(10), &Alternating::new(even, 0.5), 1);
            assert!((report.kappa - kappa).abs() < 5e-5, "κ = {} for {even}", report.kappa);
        }
    }

    #[test]
    fn graphs_that_are_connected_only_together_have_their_window_found() {
        let exponential = connectivity(&OnePeerExponential::new(8), &Uniform, 1);
        // Distances 1, 2, 4: the first round is a ring, the others are not connected by themselves.
        assert_eq!((exponential.every_round, exponential.window, exponential.spread), (false, Some(3), Some(3)));
        let radix = connectivity(&MixedRadix::new(12), &Uniform, 1);
        assert_eq!((radix.rounds, radix.window, radix.spread), (3, Some(3), Some(3)));
        let phases = connectivity(&Phases::new(10, 0.3, 0), &Uniform, 1);
        assert_eq!((phases.rounds, phases.every_round), (30, true));
    }

    #[test]
    fn a_graph_that_never_becomes_connected_is_reported() {
        let plan = ContactPlan::parse("period 4\n0 1 0 2\n1 0 2 4\n1 2 0 4\n", 3).unwrap();
        let report = connectivity(&plan, &Uniform, 1);
        assert_eq!((report.window, report.spread), (None, None));
    }

    /// What is pulled ends at the average by α, what is pushed rests with agents as β: also when
    /// graphs change within the cycle.
    #[test]
    fn perron_weights_say_where_mixing_leads() {
        let topology = Phases::new(7, 0.3, 4).with_rounds(2);
        let report = connectivity(&topology, &Uniform, 1);
        let start: Vec<f64> = (0..7).map(|agent| (f64::from(agent) * 1.7).sin()).collect();
        let (mut pulled, mut pushed) = (start.clone(), start.clone());
        let (mut graph, mut mixing) = (Digraph::new(7), Mixing::default());
        for round in 0..600 {
            mixing.draw(&topology, topology.graph_of(round), &Uniform, &mut graph);
            let mix = |values: &[f64], of: fn(&crate::Row<'_>, usize) -> f64| -> Vec<f64> {
                let rows = (0..7).map(|agent| mixing.row(agent));
                rows.map(|row| (0..row.sources.len()).map(|k| of(&row, k) * values[row.sources[k] as usize]).sum())
                    .collect()
            };
            (pulled, pushed) = (mix(&pulled, |row, k| row.pull[k]), mix(&pushed, |row, k| row.push[k]));
        }
        let agreed: f64 = report.pull_weights.iter().zip(&start).map(|(alpha, value)| alpha * value).sum();
        let mass: f64 = start.iter().sum();
        assert!(pulled.iter().all(|value| (value - agreed).abs() < 1e-9), "{pulled:?} against {agreed}");
        assert!(
            pushed.iter().zip(&report.push_weights).all(|(value, beta)| (value - mass * beta).abs() < 1e-9),
            "{pushed:?}"
        );
    }
}
