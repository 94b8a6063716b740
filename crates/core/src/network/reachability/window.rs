//! The smallest number of rounds whose graphs together are connected, wherever they begin.

use std::ops::Range;

use super::condensation::Condensation;
use super::graph_sequence::GraphSequence;
use super::rounds::Rounds;

/// The smallest C for which the union of the graphs of each C successive rounds, `kC ≤ round <
/// (k+1)C`, is strongly connected. All rounds together must be.
///
/// Each C is tried in turn on all windows until the pattern repeats (or, without a period, until
/// the rounds end). When more than `budget` agents and links were visited, all rounds together are
/// the upper bound. If the sequence repeats, whether C is 1 is found in any case.
pub(super) fn smallest_window(sequence: &GraphSequence<'_>, repeats: bool, budget: u64) -> Rounds {
    let (rounds, limit) = (sequence.order().rounds(), sequence.visited() + budget);
    let mut strong = Vec::with_capacity(sequence.order().graphs());
    for graph in 0..sequence.order().graphs() {
        if sequence.visited() > limit && (!repeats || strong.contains(&false)) {
            return Rounds::AtMost(rounds);
        }
        strong.push(Condensation::of(sequence, &[graph]).is_connected());
    }
    if !strong.contains(&false) {
        return Rounds::Exact(1);
    }
    for length in 2..rounds {
        let windows = if repeats { rounds / gcd(rounds, length) } else { rounds / length };
        if (0..windows).all(|window| connected(sequence, &strong, window * length..(window + 1) * length, limit)) {
            return Rounds::Exact(length);
        }
        if sequence.visited() > limit {
            return Rounds::AtMost(rounds);
        }
    }
    Rounds::Exact(rounds)
}

/// Whether the union of the graphs of these rounds is strongly connected; false beyond the limit.
fn connected(sequence: &GraphSequence<'_>, strong: &[bool], rounds: Range<u64>, limit: u64) -> bool {
    sequence.charge((rounds.end - rounds.start) as usize);
    let mut graphs: Vec<usize> = rounds.map(|round| sequence.order().graph_of(round)).collect();
    graphs.sort_unstable();
    graphs.dedup();
    let known = graphs.iter().any(|&graph| strong[graph]);
    sequence.visited() <= limit && (known || Condensation::of(sequence, &graphs).is_connected())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
