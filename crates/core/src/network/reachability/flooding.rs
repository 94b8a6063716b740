//! How soon information has reached everybody, by following it.

use super::graph_sequence::GraphSequence;

/// Information of all agents on its way, which every agent passes on to all that hear it. It is
/// followed for a block of agents at a time: a bit for each of them at every agent.
pub(super) struct Flooding<'s, 't> {
    sequence: &'s GraphSequence<'t>,
    /// Words of a block at one agent.
    words: usize,
    knows: Vec<u64>,
    before: Vec<u64>,
    /// Operations on words that are left.
    budget: u64,
}

impl<'s, 't> Flooding<'s, 't> {
    /// A block of 512 agents has one cache line at each agent.
    const WORDS: usize = 8;

    /// Flooding on these graphs, which together must be strongly connected, with at most this many
    /// operations on words.
    pub(super) fn new(sequence: &'s GraphSequence<'t>, budget: u64) -> Self {
        let words = sequence.agents().div_ceil(64).min(Self::WORDS);
        Self { sequence, words, knows: Vec::new(), before: Vec::new(), budget }
    }

    /// The rounds after which information from any agent has reached all, whatever the round it
    /// starts in, if the sequence repeats; none if the budget does not suffice.
    pub(super) fn spread(&mut self) -> Option<u64> {
        let (rounds, end) = (self.sequence.order().rounds(), self.end(0)?);
        self.longest_between(end, (0, end), (rounds, end + rounds))
    }

    /// The same for starts in the rounds before this one.
    pub(super) fn spread_before(&mut self, starts: u64) -> Option<u64> {
        let (first, last) = (self.end(0)?, self.end(starts - 1)?);
        self.longest_between(first.max(last + 1 - starts), (0, first), (starts - 1, last))
    }

    /// The longest of what is known and of all starts between two, given when information of these
    /// two has reached all. What starts later does not arrive earlier, so most starts cannot take
    /// longer than what is known.
    fn longest_between(&mut self, known: u64, first: (u64, u64), last: (u64, u64)) -> Option<u64> {
        if first.0 + 1 >= last.0 || last.1 - (first.0 + 1) <= known {
            return Some(known);
        }
        let start = u64::midpoint(first.0, last.0);
        let end = self.end(start)?;
        let known = self.longest_between(known.max(end - start), first, (start, end))?;
        self.longest_between(known, (start, end), last)
    }

    /// The round before which information that starts in this one has reached all.
    fn end(&mut self, start: u64) -> Option<u64> {
        let (agents, block) = (self.sequence.agents(), 64 * self.words);
        let entries =
            self.sequence.visit(self.sequence.order().graph_of(start), |graph| graph.agents() + graph.edges());
        if (entries * agents.div_ceil(64)) as u64 > self.budget {
            return None;
        }
        let ends = (0..agents).step_by(block).map(|first| self.end_of_block(first, start));
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// The same for information of the agents from `first` on that fit into a block.
    fn end_of_block(&mut self, first: usize, start: u64) -> Option<u64> {
        let (agents, words) = (self.sequence.agents(), self.words);
        let block = first..first + 64 * words;
        self.knows.clear();
        // Bits of agents that do not exist are known to all.
        let unused = (0..words).map(|word| known_to_all(agents, first + 64 * word));
        self.knows.extend(unused.cycle().take(agents * words));
        for agent in block.start..block.end.min(agents) {
            self.knows[agent * words + (agent - first) / 64] |= 1 << ((agent - first) % 64);
        }
        let mut round = start;
        while self.knows.iter().any(|&word| word != u64::MAX) {
            self.pass_on(round)?;
            round += 1;
        }
        Some(round)
    }

    /// Everybody hears in this round what its sources know; none if the budget is used up.
    fn pass_on(&mut self, round: u64) -> Option<()> {
        let words = self.words;
        std::mem::swap(&mut self.knows, &mut self.before);
        self.knows.clone_from(&self.before);
        self.sequence.visit(self.sequence.order().graph_of(round), |graph| {
            self.budget = self.budget.checked_sub(((graph.edges() + 2 * graph.agents()) * words) as u64)?;
            for (agent, knows) in self.knows.chunks_exact_mut(words).enumerate() {
                for &source in graph.sources(agent) {
                    let heard = &self.before[source as usize * words..][..words];
                    knows.iter_mut().zip(heard).for_each(|(word, heard)| *word |= heard);
                }
            }
            Some(())
        })
    }
}

/// The bits of the 64 agents from `first` on that do not exist.
fn known_to_all(agents: usize, first: usize) -> u64 {
    match agents.saturating_sub(first) {
        0 => u64::MAX,
        64.. => 0,
        exist => u64::MAX << exist,
    }
}
