//! When information between the hub and an agent arrives, by a search over all links.

use std::collections::BTreeMap;

use super::super::adjacency::{Adjacency, Neighbour};
use super::flow::Flow;
use super::graph_sequence::GraphSequence;

/// The rounds until information between the hub in round 0 and all agents has arrived.
///
/// Agents are taken in the order of arrival, and each link of an agent once, in the next round that
/// has it: the time does not depend on how many rounds pass.
pub(super) fn farthest(sequence: &GraphSequence<'_>, flow: Flow) -> u64 {
    let (links, calendar) = (links(sequence, flow), Calendar::new(sequence, flow));
    sequence.charge(links.len());
    let mut arrival = vec![u64::MAX; sequence.agents()];
    arrival[0] = 0;
    let (mut latest, mut due) = (0, BTreeMap::from([(0, vec![0])]));
    while let Some((now, agents)) = due.pop_first() {
        for agent in agents {
            if arrival[agent as usize] < now {
                continue;
            }
            latest = now;
            for (neighbour, then) in calendar.next_links(links.of(agent as usize), now) {
                if then < arrival[neighbour as usize] {
                    arrival[neighbour as usize] = then;
                    due.entry(then).or_insert_with(Vec::new).push(neighbour);
                }
            }
        }
    }
    latest
}

/// To whom an agent's information goes, or from whom it comes, in all graphs.
fn links(sequence: &GraphSequence<'_>, flow: Flow) -> Adjacency {
    Adjacency::new(sequence.agents(), |note| {
        for number in 0..sequence.order().graphs() {
            sequence.visit(number, |graph| {
                for (source, target) in graph.links() {
                    let (from, to) = if flow == Flow::FromHub { (source, target) } else { (target, source) };
                    note(from, Neighbour { agent: to as u32, graph: number as u32 });
                }
            });
        }
    })
}

/// When each graph has its turn.
struct Calendar {
    rounds: u64,
    /// The turns of all graphs in the cycle, graph by graph, ascending.
    turns: Vec<u64>,
    ends: Vec<usize>,
}

impl Calendar {
    fn new(sequence: &GraphSequence<'_>, flow: Flow) -> Self {
        let (order, rounds) = (sequence.order(), sequence.order().rounds());
        let graph = |turn: &u64| order.graph_of(flow.round(*turn, rounds));
        let mut turns: Vec<u64> = (0..rounds).collect();
        turns.sort_by_key(graph);
        let ends = (0..order.graphs()).map(|number| turns.partition_point(|turn| graph(turn) <= number)).collect();
        Self { rounds, turns, ends }
    }

    /// For each link the agent at its other end, and the round in which what is sent from now on
    /// has arrived there.
    fn next_links(&self, links: &[Neighbour], now: u64) -> impl Iterator<Item = (u32, u64)> {
        let mut last = (u32::MAX, now);
        links.iter().map(move |&Neighbour { agent, graph }| {
            // Links of one graph follow one another.
            if graph != last.0 {
                last = (graph, self.next(graph, now) + 1);
            }
            (agent, last.1)
        })
    }

    /// The first turn of a graph from now on.
    fn next(&self, graph: u32, now: u64) -> u64 {
        let graph = graph as usize;
        let turns = &self.turns[super::super::digraph::row_start(&self.ends, graph)..self.ends[graph]];
        let (cycle, within) = (now - now % self.rounds, now % self.rounds);
        match turns.get(turns.partition_point(|&turn| turn < within)) {
            Some(turn) => cycle + turn,
            None => cycle + self.rounds + turns[0],
        }
    }
}
