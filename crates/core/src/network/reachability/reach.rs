//! Who can hear of whom, whatever the weights.

use std::cell::OnceCell;

use super::components::Components;
use super::condensation::Condensation;
use super::flooding::Flooding;
use super::graph_sequence::GraphSequence;
use super::hub::hub_bound;
use super::rounds::Rounds;
use super::window::smallest_window;
use crate::Topology;

/// Who can hear of whom, whatever the weights: the part of the report that a run needs.
///
/// Everything is found when it is asked for, in a time that is linear in the links of the rounds or
/// bounded.
pub struct Reach<'t> {
    topology: &'t dyn Topology,
    sequence: GraphSequence<'t>,
    connected: OnceCell<bool>,
}

impl<'t> Reach<'t> {
    /// Agents and links that may be visited to find the smallest window.
    const WINDOW_WORK: u64 = 20_000_000;
    /// Operations on words of 64 bits that may be used to find the exact spread.
    const FLOODING_WORK: u64 = 200_000_000;
    /// Agents and links that may be visited to bound the spread by sweeps.
    const SWEEP_WORK: u64 = 300_000_000;

    /// A sequence without a period is judged by its first `window` rounds, as if these repeated.
    pub fn new(topology: &'t dyn Topology, window: u64) -> Self {
        let sequence = GraphSequence::new(topology, topology.period().unwrap_or(window), GraphSequence::ROOM);
        Self { topology, sequence, connected: OnceCell::new() }
    }

    /// The rounds looked at: the period of the sequence, or the window asked for.
    pub fn rounds(&self) -> u64 {
        self.sequence.order().rounds()
    }

    /// Whether the graphs of all rounds together are strongly connected, so that agents can work
    /// together at all.
    pub fn connected(&self) -> bool {
        *self.connected.get_or_init(|| self.topology.spread().is_some() || self.condensation().is_connected())
    }

    /// The smallest C for which the union of the graphs of each C successive rounds, `kC ≤ round <
    /// (k+1)C`, is strongly connected: 1 if every round is; none if no C is found. All rounds
    /// together are the upper bound where the search takes too long.
    pub fn window(&self) -> Option<Rounds> {
        let repeats = self.topology.period().is_some();
        self.connected().then(|| smallest_window(&self.sequence, repeats, Self::WINDOW_WORK))
    }

    /// The strongly connected components of all rounds together: one if agents can work together.
    pub fn components(&self) -> Components {
        self.condensation().components()
    }

    /// The rounds after which information from any agent has reached all, whatever the round it
    /// starts in: what automatic step sizes need to know. None if that does not happen. An upper
    /// bound where the exact number takes too long. Of a sequence without a period, the number says
    /// nothing about later rounds than those looked at.
    pub fn spread(&self) -> Option<Rounds> {
        if let Some(spread) = self.topology.spread() {
            return Some(Rounds::Exact(spread));
        }
        self.connected().then(|| self.exact_spread().map_or_else(|| Rounds::AtMost(self.bound()), Rounds::Exact))
    }

    /// Agents and links that were visited so far, each as often as it was.
    pub fn visited(&self) -> u64 {
        self.sequence.visited()
    }

    fn condensation(&self) -> Condensation {
        let graphs: Vec<usize> = (0..self.sequence.order().graphs()).collect();
        Condensation::of(&self.sequence, &graphs)
    }

    /// The spread, if it is found within a budget of work.
    fn exact_spread(&self) -> Option<u64> {
        let mut flooding = Flooding::new(&self.sequence, Self::FLOODING_WORK);
        if self.topology.period().is_some() {
            return flooding.spread();
        }
        // Information that starts late in the window cannot be followed far enough.
        let (rounds, agents) = (self.rounds(), self.topology.agents() as u64);
        let followed = if agents < rounds { self.window()?.bound() * agents } else { rounds };
        flooding.spread_before(rounds.saturating_sub(followed).max(1))
    }

    /// An upper bound of the spread. Of a sequence without a period, fewer rounds are looked at
    /// where graphs are large, if these rounds alone are connected.
    fn bound(&self) -> u64 {
        // Two sweeps of up to four cycles each.
        let affordable = (Self::SWEEP_WORK as f64 / 8.0 / self.sequence.entries()).max(1.0) as u64;
        if self.topology.period().is_none() && affordable < self.rounds() {
            let first = Self::new(self.topology, affordable);
            let bound = first.connected().then(|| hub_bound(&first.sequence, Self::SWEEP_WORK));
            self.sequence.charge(first.visited() as usize);
            if let Some(bound) = bound {
                return bound;
            }
        }
        hub_bound(&self.sequence, Self::SWEEP_WORK)
    }
}
