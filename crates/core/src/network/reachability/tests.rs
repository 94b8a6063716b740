//! Everything that is found cleverly, against what trying all possibilities finds.

use proptest::prelude::*;

use super::earliest_arrival::farthest;
use super::flooding::Flooding;
use super::flow::Flow;
use super::graph_sequence::GraphSequence;
use super::hub::{bound_by_search, bound_by_sweeps, hub_bound};
use super::window::smallest_window;
use super::{Components, Reach, Rounds};
use crate::Digraph;
use crate::topology::{ErdosRenyi, MixedRadix, OnePeerExponential, Redraw, Ring, Topology, examples};

/// Graphs that are given link by link, and the graph of each round.
#[derive(Clone, Debug)]
struct Listed {
    agents: usize,
    graphs: Vec<Vec<(usize, usize)>>,
    rounds: Vec<usize>,
    repeats: bool,
    /// Agents and links that are kept in memory.
    room: usize,
}

impl Topology for Listed {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        self.rounds[(round % self.rounds.len() as u64) as usize] as u64
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        graph.set_links(&mut self.graphs[name as usize].clone());
    }

    fn period(&self) -> Option<u64> {
        self.repeats.then_some(self.rounds.len() as u64)
    }

    fn links(&self) -> f64 {
        self.graphs.iter().map(Vec::len).max().unwrap_or(0) as f64
    }
}

impl Listed {
    /// For each agent, as bits, those that hear of it by these rounds together.
    fn closure(&self, rounds: std::ops::Range<u64>) -> Vec<u32> {
        let mut reached: Vec<u32> = (0..self.agents).map(|agent| 1 << agent).collect();
        for _ in 0..self.agents {
            for round in rounds.clone() {
                self.pass_on(round, &mut reached);
            }
        }
        reached
    }

    /// Whoever has heard of an agent passes it on in this round.
    fn pass_on(&self, round: u64, reached: &mut [u32]) {
        for reached in reached {
            let before = *reached;
            for &(source, target) in &self.graphs[self.graph_of(round) as usize] {
                *reached |= (before >> source & 1) << target;
            }
        }
    }

    fn all(&self) -> u32 {
        (1 << self.agents) - 1
    }

    fn components(&self) -> Components {
        let reached = self.closure(0..self.rounds.len() as u64);
        let together = |a: usize, b: usize| reached[a] >> b & 1 == 1 && reached[b] >> a & 1 == 1;
        let members = |first: usize| (0..self.agents).filter(|&agent| together(first, agent)).collect::<Vec<_>>();
        let components = (0..self.agents).map(members).enumerate().filter(|(first, members)| members[0] == *first);
        Components::sorted(components.map(|(_, members)| members).collect())
    }

    /// Every C in turn, on all windows until the pattern repeats or the rounds end.
    fn window(&self) -> Option<u64> {
        let rounds = self.rounds.len() as u64;
        let connected = |rounds| self.closure(rounds).iter().all(|&reached| reached == self.all());
        (1..=rounds).find(|&length| {
            let windows = if self.repeats { rounds } else { rounds / length };
            (0..windows).all(|window| connected(window * length..(window + 1) * length))
        })
    }

    /// Information followed from each start.
    fn spread(&self, starts: u64) -> u64 {
        let from = |start: u64| {
            let mut reached = self.closure(0..0);
            let mut rounds = start..;
            while reached.iter().any(|&reached| reached != self.all()) {
                self.pass_on(rounds.start, &mut reached);
                rounds.next();
            }
            rounds.start - start
        };
        (0..starts).map(from).max().unwrap_or(0)
    }
}

prop_compose! {
    /// Up to twelve agents and five graphs in up to seven rounds, connected or not.
    fn sequences()(agents in 1..=12usize, graphs in 1..=5usize, density in 0.0..2.5f64)(
        agents in Just(agents),
        graphs in prop::collection::vec(
            prop::collection::vec((0..agents, 0..agents), 0..=(density * agents as f64) as usize),
            graphs,
        ),
        rounds in prop::collection::vec(0..graphs, 1..=7),
        repeats in any::<bool>(),
        room in 0..50usize,
    ) -> Listed {
        Listed { agents, graphs, rounds, repeats, room }
    }
}

prop_compose! {
    /// The same with a ring whose links are in different rounds.
    fn connected_sequences()(mut listed in sequences(), places in prop::collection::vec(0..7usize, 12)) -> Listed {
        for (agent, place) in (0..listed.agents).zip(places) {
            let graph = listed.rounds[place % listed.rounds.len()];
            listed.graphs[graph].push((agent, (agent + 1) % listed.agents));
        }
        listed
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn components_and_window_are_those_of_the_definition(listed in prop_oneof![sequences(), connected_sequences()]) {
        let reach = Reach::new(&listed, listed.rounds.len() as u64);
        prop_assert_eq!(reach.components(), listed.components());
        prop_assert_eq!(reach.connected(), listed.components().0.len() == 1);
        prop_assert_eq!(reach.window(), listed.window().map(Rounds::Exact));
    }

    #[test]
    fn the_spread_is_that_of_the_definition(listed in prop_oneof![sequences(), connected_sequences()]) {
        let rounds = listed.rounds.len() as u64;
        let reach = Reach::new(&listed, rounds);
        let starts = |window: u64| {
            if listed.repeats { rounds } else { rounds.saturating_sub(window * listed.agents as u64).max(1) }
        };
        let expected = listed.window().map(|window| Rounds::Exact(listed.spread(starts(window))));
        prop_assert_eq!(reach.spread(), expected);
    }

    /// Bounds are never too small, and at most twice the spread; a search alone adds a wait for the
    /// hub's round.
    #[test]
    fn bounds_are_safe_and_not_far_off(listed in connected_sequences()) {
        let rounds = listed.rounds.len() as u64;
        let sequence = GraphSequence::new(&listed, rounds, listed.room);
        let spread = listed.spread(rounds);
        prop_assert_eq!(Flooding::new(&sequence, u64::MAX).spread(), Some(spread));
        let search = bound_by_search(&sequence);
        prop_assert!((spread..2 * spread + rounds).contains(&search), "{} of {}", search, spread);
        if let Some(sweeps) = bound_by_sweeps(&sequence, u64::MAX).filter(|_| listed.agents > 1) {
            prop_assert!((spread..=2 * spread).contains(&sweeps), "{} of {}", sweeps, spread);
        }
        prop_assert!(hub_bound(&sequence, u64::MAX) >= spread && hub_bound(&sequence, 0) >= spread);
    }

    #[test]
    fn with_a_small_budget_bounds_are_given(listed in connected_sequences(), budget in 0..400u64) {
        let sequence = GraphSequence::new(&listed, listed.rounds.len() as u64, listed.room);
        let (window, exact) = (smallest_window(&sequence, listed.repeats, budget), listed.window().unwrap());
        prop_assert!(window.bound() >= exact && (!window.is_exact() || window.bound() == exact), "{:?}", window);
        prop_assert!(!listed.repeats || (window == Rounds::Exact(1)) == (exact == 1), "{:?}", window);
        prop_assert_eq!(Flooding::new(&sequence, 0).spread(), None);
    }
}

/// A topology that does not tell its closed form.
struct Hidden<'t>(&'t dyn Topology);

impl Topology for Hidden<'_> {
    fn agents(&self) -> usize {
        self.0.agents()
    }

    fn graph_of(&self, round: u64) -> u64 {
        self.0.graph_of(round)
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        self.0.draw(name, graph);
    }

    fn period(&self) -> Option<u64> {
        self.0.period()
    }

    fn links(&self) -> f64 {
        self.0.links()
    }
}

#[test]
fn closed_forms_are_what_information_takes() {
    let known =
        ["ring", "reversed-ring", "complete", "one-peer-exponential", "mixed-radix", "hypercube", "torus", "auto"];
    for agents in [1, 2, 3, 4, 5, 7, 8, 12, 17, 30, 36, 64, 65, 100] {
        for (name, topology) in examples(agents, 2) {
            assert_eq!(topology.spread().is_some(), known.contains(&name), "{name}");
            if let Some(spread) = topology.spread() {
                let exact = Reach::new(&Hidden(&*topology), 1).spread();
                assert_eq!(exact, Some(Rounds::Exact(spread)), "{name}, {agents} agents");
                assert_eq!(Reach::new(&*topology, 1).spread(), exact, "{name}, {agents} agents");
            }
        }
    }
}

/// Blocks of 512 agents, of which the last one is not full.
#[test]
fn information_of_many_agents_is_followed() {
    for agents in [511, 512, 513, 700] {
        let topology = OnePeerExponential::new(agents);
        assert_eq!(Reach::new(&Hidden(&topology), 1).spread(), topology.spread().map(Rounds::Exact), "{agents}");
    }
}

/// A ring whose links take turns: odd agents hear in one round, even ones in the next.
struct TakingTurns(usize);

impl Topology for TakingTurns {
    fn agents(&self) -> usize {
        self.0
    }

    fn graph_of(&self, round: u64) -> u64 {
        round % 2
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        graph.draw(self.0 as f64 / 2.0, |agent, sources| {
            if agent as u64 % 2 != name {
                sources.push((agent + self.0 - 1) % self.0);
            }
        });
    }

    fn period(&self) -> Option<u64> {
        Some(2)
    }
}

#[test]
fn the_work_for_a_million_agents_is_linear_in_the_links() {
    const AGENTS: usize = 1_000_000;
    let (ring, turns) = (Ring::new(AGENTS), TakingTurns(AGENTS));
    let (peers, radix) = (OnePeerExponential::new(AGENTS), MixedRadix::new(AGENTS));
    let slow = Rounds::AtMost(2 * (AGENTS as u64 - 1));
    let reports: [(&dyn Topology, Rounds, u64); 5] = [
        (&Hidden(&ring), slow, 20),
        (&turns, Rounds::AtMost(slow.bound() + 1), 20),
        (&ring, Rounds::Exact(AGENTS as u64 - 1), 0),
        (&peers, Rounds::Exact(20), 0),
        (&radix, Rounds::Exact(12), 0),
    ];
    for (topology, spread, most) in reports {
        let reach = Reach::new(topology, 1);
        assert!(reach.connected());
        assert_eq!(reach.spread(), Some(spread));
        let cycle = topology.period().unwrap() * (topology.links() as u64 + AGENTS as u64);
        assert!(reach.visited() <= most * cycle, "{} of {cycle}", reach.visited());
    }
}

#[test]
fn the_work_for_networks_that_spread_fast_is_a_few_cycles() {
    let (peers, radix) = (OnePeerExponential::new(100_000), MixedRadix::new(100_000));
    for topology in [&peers as &dyn Topology, &radix] {
        let hidden = Hidden(topology);
        let reach = Reach::new(&hidden, 1);
        let spread = topology.spread().unwrap();
        assert_eq!(reach.spread(), Some(Rounds::AtMost(2 * spread)));
        let cycle = spread * (topology.links() as u64 + 100_000);
        assert!(reach.visited() <= 5 * cycle, "{} of {cycle}", reach.visited());
    }
}

#[test]
fn the_search_for_a_window_keeps_to_its_budget() {
    let peers = OnePeerExponential::new(96);
    let sequence = GraphSequence::new(&peers, 7, 0);
    // Enough to look at each graph alone, but not at two of them together.
    let budget = 7 * 2 * 96;
    assert_eq!(smallest_window(&sequence, true, budget), Rounds::AtMost(7));
    assert!(sequence.visited() <= budget + 96, "{}", sequence.visited());
    assert_eq!(smallest_window(&sequence, true, 100 * budget), Rounds::Exact(7));
}

#[test]
fn the_work_for_graphs_that_are_drawn_in_every_round_is_bounded() {
    let random = ErdosRenyi::new(50_000, 2e-4, 3, Redraw::EveryRound).with_ring();
    let reach = Reach::new(&random, 100_000);
    assert!(reach.connected() && reach.visited() < 1_000_000, "{}", reach.visited());
    let spread = reach.spread().unwrap();
    // Ten sources each: 10^5 > 50,000, so that five rounds are needed at least.
    assert!(!spread.is_exact() && (5..=20).contains(&spread.bound()), "{spread:?}");
    assert!(reach.visited() < 400_000_000, "{}", reach.visited());
}

#[test]
fn hubs_are_reached_when_the_next_round_with_a_link_comes() {
    // The link to the hub comes in the last of three rounds, the one from it in the first.
    let (graphs, rounds) = (vec![vec![(0, 1)], vec![], vec![(1, 0)]], vec![0, 1, 2]);
    let listed = Listed { agents: 2, graphs, rounds, repeats: true, room: 0 };
    let sequence = GraphSequence::new(&listed, 3, 0);
    assert_eq!((farthest(&sequence, Flow::FromHub), farthest(&sequence, Flow::ToHub)), (1, 1));
    // What starts in the second round waits for the first of the next cycle.
    assert_eq!((listed.spread(3), bound_by_search(&sequence)), (3, 4));
}
