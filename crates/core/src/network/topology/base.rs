//! Base-(k+1) graphs: exact averages of any number of agents.

use super::{Topology, halved};
use crate::{Digraph, Sources};

/// Sequences of graphs of degree at most k after which all agents hold the average, for any number
/// of agents (Takezawa, Sato, Bao, Niwa, Yamada: *Beyond exponential graph: communication-efficient
/// topologies for decentralized learning via finite-time convergence*, NeurIPS 2023).
///
/// For `n = p·q`, where p has the prime factors up to k + 1, agents are p groups of q. A group
/// averages by `SimpleBase`, then agents of the same place average across groups by `Digits`; if
/// that takes more rounds, all agents are one group. All links go both ways. The topology brings
/// doubly stochastic weights, and averages are exact only with these
/// ([`crate::weights::FromTopology`]). Unlike the authors' graphs, these have no links between
/// agents whose values are equal by then.
#[derive(Clone, Debug)]
pub struct Base {
    agents: usize,
    degree: usize,
    group: SimpleBase,
    across: Digits,
}

/// What an agent does in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meeting {
    /// It has nothing to average.
    Rest,
    /// All of `count` agents average, of which the first has place `first`.
    Clique { first: usize, stride: usize, count: usize },
    /// It exchanges with `count` agents of earlier or later blocks, by this weight.
    Bridge { first: usize, stride: usize, count: usize, weight: f64 },
}

impl Base {
    /// Graphs of this many agents, each of which has at most `degree` neighbours.
    pub fn new(agents: usize, degree: usize) -> Self {
        let radix = degree.clamp(1, agents.max(2) - 1) + 1;
        let (across, rest) = Digits::of_smooth_part(agents, radix);
        let (whole, group) = (SimpleBase::new(agents, radix), SimpleBase::new(rest, radix));
        if whole.rounds() < group.rounds() + across.rounds() {
            return Self { agents, degree, group: whole, across: Digits::default() };
        }
        Self { agents, degree, group, across }
    }

    fn meeting(&self, round: usize, agent: usize) -> Meeting {
        let (group, place) = (agent / self.group.agents, agent % self.group.agents);
        match round.checked_sub(self.group.rounds()) {
            None => self.group.meeting(round, place).moved(1, group * self.group.agents),
            Some(digit) => self.across.meeting(digit, group).moved(self.group.agents, place),
        }
    }
}

impl Topology for Base {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        round % (self.group.rounds() + self.across.rounds()).max(1) as u64
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        let round = name as usize;
        graph.draw(self.links(), |agent, sources| self.meeting(round, agent).name_sources(agent, sources));
        graph.set_weights(|target, _| self.meeting(round, target).weight());
    }

    fn period(&self) -> Option<u64> {
        Some((self.group.rounds() + self.across.rounds()).max(1) as u64)
    }

    fn links(&self) -> f64 {
        let within = (self.agents / self.group.agents) * self.group.links();
        within.max(self.agents * self.across.largest_degree()) as f64
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        Some(Box::new(Self::new(halved(self.agents, most), self.degree)))
    }
}

impl Meeting {
    /// The same between agents whose places are multiplied by `factor` and then moved by `offset`.
    fn moved(self, factor: usize, offset: usize) -> Self {
        match self {
            Self::Rest => Self::Rest,
            Self::Clique { first, stride, count } => {
                Self::Clique { first: first * factor + offset, stride: stride * factor, count }
            }
            Self::Bridge { first, stride, count, weight } => {
                Self::Bridge { first: first * factor + offset, stride: stride * factor, count, weight }
            }
        }
    }

    fn name_sources(self, agent: usize, sources: &mut Sources<'_>) {
        let (Self::Clique { first, stride, count } | Self::Bridge { first, stride, count, .. }) = self else { return };
        (0..count).map(|step| first + step * stride).filter(|&source| source != agent).for_each(|s| sources.push(s));
    }

    /// The weight of each of its links.
    fn weight(self) -> f64 {
        match self {
            Self::Rest => 0.0,
            Self::Clique { count, .. } => 1.0 / count as f64,
            Self::Bridge { weight, .. } => weight,
        }
    }
}

/// The hyper-hypercube: for `n = r₁⋯r_m`, agents whose numbers differ in digit j only average in
/// round j, with digit 1 the one of stride 1. It is `MixedRadix` with links both ways.
#[derive(Clone, Debug, Default)]
struct Digits {
    radices: Vec<usize>,
}

impl Digits {
    /// With the largest divisor of n whose factors are at most this radix, and what is left of n.
    fn of_smooth_part(mut n: usize, largest: usize) -> (Self, usize) {
        let mut radices = Vec::new();
        for radix in (2..=largest).rev() {
            while n.is_multiple_of(radix) {
                radices.push(radix);
                n /= radix;
            }
        }
        (Self { radices }, n)
    }

    fn rounds(&self) -> usize {
        self.radices.len()
    }

    fn largest_degree(&self) -> usize {
        self.radices.iter().max().map_or(0, |radix| radix - 1)
    }

    /// What happens at a place in the round of this digit: nothing if there is no such digit.
    fn meeting(&self, digit: usize, place: usize) -> Meeting {
        let Some(&count) = self.radices.get(digit) else { return Meeting::Rest };
        let stride: usize = self.radices[..digit].iter().product();
        Meeting::Clique { first: place - place / stride % count * stride, stride, count }
    }
}

/// The simple base-(k+1) graph. By the digits of `n = Σ a_l (k+1)^(p_l)`, largest first, agents are
/// blocks of `a_l` pieces of `(k+1)^(p_l)` agents.
///
/// 1. Each block averages.
/// 2. For each block but the last, in turn: every agent of later blocks exchanges with one agent of
///    each of its pieces, by the weight `|V_l|/(a_l Σ_{m≥l} |V_m|)`. Then every piece has the mean
///    that it had together with the later blocks, and so have these.
/// 3. From then on, the pieces of that block average.
#[derive(Clone, Debug)]
struct SimpleBase {
    agents: usize,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    first: usize,
    pieces: usize,
    /// The agents of a piece.
    size: usize,
    /// The digits of places in the block: those within a piece, then that of the piece.
    digits: Digits,
}

impl SimpleBase {
    fn new(agents: usize, radix: usize) -> Self {
        let mut blocks = Vec::new();
        let (mut first, mut size) = (0, 1);
        while size <= agents / radix {
            size *= radix;
        }
        while first < agents {
            let pieces = (agents - first) / size;
            if pieces > 0 {
                blocks.push(Block::new(first, pieces, size, radix));
                first += pieces * size;
            }
            size /= radix;
        }
        Self { agents, blocks }
    }

    fn rounds(&self) -> usize {
        match self.blocks.as_slice() {
            [] => 0,
            [only] => only.digits.rounds(),
            [largest, ..] => largest.digits.rounds() + 1 + largest.piece_digits(),
        }
    }

    /// The links of the first round, which has the most.
    fn links(&self) -> usize {
        let links = |block: &Block| block.agents() * block.digits.radices.first().map_or(0, |radix| radix - 1);
        self.blocks.iter().map(links).sum()
    }

    fn meeting(&self, round: usize, place: usize) -> Meeting {
        let own = self.blocks.partition_point(|block| block.first <= place) - 1;
        let block = &self.blocks[own];
        let Some(turn) = round.checked_sub(self.blocks[0].digits.rounds()) else {
            return block.meeting(round, place);
        };
        if own == self.blocks.len() - 1 && turn >= own {
            return Meeting::Rest;
        }
        match turn.cmp(&own) {
            std::cmp::Ordering::Less => self.bridge(&self.blocks[turn], place),
            std::cmp::Ordering::Equal => self.bridge(block, place),
            std::cmp::Ordering::Greater if turn - own <= block.piece_digits() => block.meeting(turn - own - 1, place),
            std::cmp::Ordering::Greater => Meeting::Rest,
        }
    }

    /// What happens at a place of this block or of a later one, when the block has its turn.
    fn bridge(&self, block: &Block, place: usize) -> Meeting {
        let later = block.first + block.agents();
        let weight = block.size as f64 / (self.agents - block.first) as f64;
        if place >= later {
            let first = block.first + (place - later);
            return Meeting::Bridge { first, stride: block.size, count: block.pieces, weight };
        }
        let partner = later + (place - block.first) % block.size;
        if partner >= self.agents {
            return Meeting::Rest;
        }
        Meeting::Bridge { first: partner, stride: 1, count: 1, weight }
    }
}

impl Block {
    fn new(first: usize, pieces: usize, size: usize, radix: usize) -> Self {
        let (mut digits, _) = Digits::of_smooth_part(size, radix);
        digits.radices.extend((pieces > 1).then_some(pieces));
        Self { first, pieces, size, digits }
    }

    fn agents(&self) -> usize {
        self.pieces * self.size
    }

    /// The digits within a piece.
    fn piece_digits(&self) -> usize {
        self.digits.rounds() - usize::from(self.pieces > 1)
    }

    fn meeting(&self, digit: usize, place: usize) -> Meeting {
        self.digits.meeting(digit, place - self.first).moved(1, self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mixing;
    use crate::rng::{EVERYONE, Purpose, Stream};
    use crate::topology::Undirected;
    use crate::weights::FromTopology;

    /// Every round of a period, after checks of its degrees and weights.
    fn rounds(topology: &dyn Topology, degree: usize) -> Vec<Mixing> {
        let mut graph = Digraph::new(topology.agents());
        let checked = |name| {
            let mut mixing = Mixing::default();
            mixing.draw(topology, name, &FromTopology, &mut graph);
            check_weights(&mixing, degree);
            mixing
        };
        (0..topology.period().unwrap()).map(checked).collect()
    }

    /// Weights are symmetric, at least 0 and sum to 1, and agents have at most this many sources.
    fn check_weights(mixing: &Mixing, degree: usize) {
        let weight = |target: usize, source: u32| {
            let row = mixing.row(target);
            row.sources.iter().position(|&other| other == source).map(|place| row.pull[place])
        };
        for agent in 0..mixing.agents() {
            let row = mixing.row(agent);
            assert!(row.sources.len() <= degree + 1, "agent {agent} has {:?}", row.sources);
            assert!((row.pull.iter().sum::<f64>() - 1.0).abs() < 1e-14 && row.pull.iter().all(|&a| a > 0.0));
            for ((&source, &a), &b) in row.sources.iter().zip(row.pull).zip(row.push) {
                assert!((a - b).abs() < 1e-14, "A and B are the same: {a} and {b}");
                let back = weight(source as usize, agent as u32).expect("links go both ways");
                assert!((a - back).abs() < 1e-14, "{agent} and {source}: {a} and {back}");
            }
        }
    }

    fn mixed(mixing: &Mixing, values: &[f64]) -> Vec<f64> {
        let rows = (0..values.len()).map(|agent| mixing.row(agent));
        rows.map(|row| row.sources.iter().zip(row.pull).map(|(&source, a)| a * values[source as usize]).sum()).collect()
    }

    #[test]
    fn averages_are_exact_after_a_period_for_any_number_of_agents() {
        for (agents, degree) in (2..=200).flat_map(|agents| [1, 2, 3].map(|degree| (agents, degree))) {
            let topology = Base::new(agents, degree);
            let mut values: Vec<f64> = Stream::new(1, EVERYONE, 0, Purpose::Probe).normals(agents, 1.0);
            let mean = values.iter().sum::<f64>() / agents as f64;
            let rounds = rounds(&topology, degree);
            // The authors' bound on the number of rounds.
            let bound = 2.0 * (agents as f64).ln() / ((degree + 1) as f64).ln() + 2.0;
            assert!(rounds.len() as f64 <= bound + 1e-9, "{agents} agents, k = {degree}: {} rounds", rounds.len());
            for mixing in &rounds {
                values = mixed(mixing, &values);
            }
            let worst = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{agents} agents, k = {degree}: {worst:e}");
        }
    }

    /// Six agents are the example of a figure of the paper. By blocks of four and two they need
    /// five rounds, but four if two groups of three average first.
    #[test]
    fn rounds_are_those_of_the_paper() {
        let rounds = |agents, degree| Base::new(agents, degree).period().unwrap();
        assert_eq!([5, 6, 7, 8, 9].map(|agents| rounds(agents, 1)), [5, 4, 5, 3, 7]);
        assert_eq!([5, 6, 7, 8, 9].map(|agents| rounds(agents, 2)), [3, 2, 4, 3, 2]);
        assert_eq!((rounds(1, 1), rounds(4, 100), rounds(1, 100)), (1, 1, 1));
    }

    /// Undirected methods run on links both ways, and there weights must not be lost.
    #[test]
    fn the_undirected_variant_keeps_the_weights() {
        let (plain, both) = (Base::new(13, 2), Undirected::new(Box::new(Base::new(13, 2))));
        assert_eq!(rounds(&plain, 2), rounds(&both, 2));
    }
}
