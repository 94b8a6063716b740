//! What can be known of a network before anything is run on it.

use super::mixing_sequence::MixingSequence;
use super::perron::PerronWeights;
use super::reachability::{Reach, Rounds};
use super::topology::Topology;
use crate::Weights;

/// How well a network of agents is connected over a window of rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Connectivity {
    /// The rounds looked at: the period of the sequence, or the window asked for.
    pub rounds: u64,
    /// Whether the graph of every single round is strongly connected.
    pub every_round: bool,
    /// The window of [`Reach::window`]: none if the network is not connected.
    pub window: Option<Rounds>,
    /// The spread of [`Reach::spread`]: none if the network is not connected.
    pub spread: Option<Rounds>,
    /// The Perron weights of A over the cycle: how much each agent's point counts.
    pub pull_weights: Vec<f64>,
    /// The Perron weights of B over the cycle: how much mass rests with each agent.
    pub push_weights: Vec<f64>,
    /// Whether these weights are known: power iteration has converged within a budget of work.
    pub converged: bool,
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

/// Reports on a network. A sequence without a period is judged by its first `window` rounds.
pub fn connectivity(topology: &dyn Topology, weights: &dyn Weights, window: u64) -> Connectivity {
    let reach = Reach::new(topology, window);
    let (rounds, window, spread) = (reach.rounds(), reach.window(), reach.spread());
    drop(reach);
    let mixings = MixingSequence::new(topology, weights, rounds, MixingSequence::ROOM);
    let Entries { cycle, smallest } = Entries::of(&mixings);
    let perron = PerronWeights::new(&mixings, cycle, PerronWeights::WORK);
    let alike: f64 = perron.pull.iter().zip(&perron.push).map(|(a, b)| a * b).sum();
    let agents = topology.agents() as f64;
    let rows = agents * rounds as f64;
    Connectivity {
        rounds,
        every_round: window == Some(Rounds::Exact(1)),
        window,
        spread,
        kappa: agents * alike,
        smallest,
        messages: (cycle - rows) / rows,
        converged: perron.converged,
        pull_weights: perron.pull,
        push_weights: perron.push,
    }
}

/// What the entries of A and B say.
struct Entries {
    /// The entries of A in all rounds of a cycle.
    cycle: f64,
    /// The smallest entries of A and of B.
    smallest: (f64, f64),
}

impl Entries {
    fn of(mixings: &MixingSequence<'_>) -> Self {
        let order = mixings.order();
        let mut rounds = vec![0.0; order.graphs()];
        (0..order.rounds()).for_each(|round| rounds[order.graph_of(round)] += 1.0);
        let mut entries = Self { cycle: 0.0, smallest: (f64::INFINITY, f64::INFINITY) };
        for (graph, rounds) in rounds.into_iter().enumerate() {
            mixings.visit(graph, |mixing| {
                entries.cycle += rounds * mixing.entries() as f64;
                let least = |least, weights: &[f64]| weights.iter().copied().fold(least, f64::min);
                for row in (0..mixing.agents()).map(|agent| mixing.row(agent)) {
                    entries.smallest = (least(entries.smallest.0, row.pull), least(entries.smallest.1, row.push));
                }
            });
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::Rounds::Exact;
    use super::*;
    use crate::topology::{ContactPlan, MixedRadix, OnePeerExponential, Phases, Ring};
    use crate::weights::{Alternating, Uniform};
    use crate::{Digraph, Mixing};

    #[test]
    fn a_ring_is_connected_in_every_round_and_news_goes_round_once() {
        let report = connectivity(&Ring::new(10), &Uniform, 1);
        assert_eq!((report.every_round, report.window, report.spread), (true, Some(Exact(1)), Some(Exact(9))));
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
        assert_eq!(
            (exponential.every_round, exponential.window, exponential.spread),
            (false, Some(Exact(3)), Some(Exact(3)))
        );
        let radix = connectivity(&MixedRadix::new(12), &Uniform, 1);
        assert_eq!((radix.rounds, radix.window, radix.spread), (3, Some(Exact(3)), Some(Exact(3))));
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
