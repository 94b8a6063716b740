//! An upper bound of the spread: all information goes through one agent, the hub.

use super::earliest_arrival::farthest;
use super::flow::Flow;
use super::graph_sequence::GraphSequence;
use crate::Digraph;

/// An upper bound of the rounds after which information from any agent has reached all, whatever
/// the round it starts in, on graphs that together are strongly connected.
///
/// Where information spreads fast, the graphs are swept over in the order of the rounds, at most
/// until `budget` agents and links were visited. Otherwise, each link is looked at twice.
pub(super) fn hub_bound(sequence: &GraphSequence<'_>, budget: u64) -> u64 {
    let rounds = sequence.order().rounds();
    // Two sweeps take some four cycles; what is slower gains little from them.
    let affordable = rounds > 1 && 4.0 * rounds as f64 * sequence.entries() <= budget as f64;
    let swept = if affordable { bound_by_sweeps(sequence, sequence.visited().saturating_add(budget)) } else { None };
    swept.unwrap_or_else(|| bound_by_search(sequence))
}

/// The bound by following information to and from the hub at every round of the cycle.
///
/// What reaches the hub before round τ is what started γ(τ) rounds earlier; what the hub sends from
/// there on has reached all β(τ) rounds later. Starts after `τ − 1 − γ(τ−1)` and up to `τ − γ(τ)`
/// go by the hub at τ.
pub(super) fn bound_by_sweeps(sequence: &GraphSequence<'_>, limit: u64) -> Option<u64> {
    let from_hub = sweep(sequence, Flow::FromHub, limit)?;
    let mut to_hub = sweep(sequence, Flow::ToHub, limit)?;
    // From rounds before the last one to rounds of the cycle: 0, −1, −2… become 0, 1, 2….
    to_hub[1..].reverse();
    let rounds = from_hub.len();
    let via = |hub: usize| {
        let before = to_hub[(hub + rounds - 1) % rounds];
        (to_hub[hub] <= before).then(|| before + from_hub[hub])
    };
    (0..rounds).filter_map(via).max()
}

/// The bound by the hub in round 0 of the cycle alone: any start waits for the next one that goes
/// by the hub there, fewer rounds than the cycle has.
pub(super) fn bound_by_search(sequence: &GraphSequence<'_>) -> u64 {
    farthest(sequence, Flow::ToHub) + farthest(sequence, Flow::FromHub) + sequence.order().rounds() - 1
}

/// For each round of the cycle in the order of the flow, the rounds that information takes between
/// all agents and the hub in that round; none if these are many cycles, or beyond the limit.
///
/// One sweep does for all rounds: each agent notes the latest information of the hub that has
/// reached it.
fn sweep(sequence: &GraphSequence<'_>, flow: Flow, limit: u64) -> Option<Vec<u64>> {
    /// The wait of a search is a small part of what takes longer than this.
    const CYCLES: u64 = 5;
    let rounds = sequence.order().rounds();
    let mut taken = Vec::with_capacity(rounds as usize);
    // Rounds are counted from 1; nothing has reached anybody before.
    let mut latest = vec![0u32; sequence.agents()];
    let mut before = latest.clone();
    for elapsed in 0..CYCLES * rounds {
        latest[0] = elapsed as u32 + 1;
        before.copy_from_slice(&latest);
        let graph = sequence.order().graph_of(flow.round(elapsed, rounds));
        sequence.visit(graph, |graph| pass_on(graph, flow, &before, &mut latest));
        let reached = latest.iter().copied().min().map_or(rounds, u64::from).min(rounds);
        taken.extend((taken.len() as u64..reached).map(|start| elapsed + 1 - start));
        if reached == rounds {
            return Some(taken);
        }
        if sequence.visited() > limit {
            break;
        }
    }
    None
}

/// Passes the latest information on along the links, or against them.
fn pass_on(graph: &Digraph, flow: Flow, before: &[u32], latest: &mut [u32]) {
    for (target, &of_target) in before.iter().enumerate() {
        match flow {
            Flow::FromHub => {
                let heard = graph.sources(target).iter().map(|&source| before[source as usize]);
                latest[target] = heard.fold(of_target, u32::max);
            }
            Flow::ToHub => graph.sources(target).iter().for_each(|&source| {
                let of_source = &mut latest[source as usize];
                *of_source = of_target.max(*of_source);
            }),
        }
    }
}
