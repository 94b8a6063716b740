//! Strongly connected components of several graphs together, found graph by graph.

use super::super::adjacency::{Adjacency, Neighbour};
use super::components::Components;
use super::graph_sequence::GraphSequence;

/// The strongly connected components of the union of graphs. Graphs are added one by one and
/// forgotten; an agent keeps one link only, which closes a circle through its component.
pub(super) struct Condensation {
    /// The next agent on the circle through an agent's component.
    next: Vec<u32>,
    components: usize,
}

impl Condensation {
    /// The components of these graphs of a sequence together.
    ///
    /// What one graph connects is merged first, which is all for many networks. Links between what
    /// is left are then looked at together, because circles may take links of several graphs.
    pub(super) fn of(sequence: &GraphSequence<'_>, graphs: &[usize]) -> Self {
        let mut merged = Self { next: (0..sequence.agents() as u32).collect(), components: sequence.agents() };
        for &graph in graphs {
            sequence.visit(graph, |graph| merged.add(|agent, place| graph.sources(agent).get(place).copied()));
            if merged.is_connected() {
                return merged;
            }
        }
        if graphs.len() > 1 {
            let links = merged.links_between(sequence, graphs);
            sequence.charge(links.len());
            merged.add(|agent, place| links.of(agent).get(place).map(|source| source.agent));
        }
        merged
    }

    /// Whether there is one component.
    pub(super) fn is_connected(&self) -> bool {
        self.components <= 1
    }

    /// The components by their agents.
    pub(super) fn components(&self) -> Components {
        let labels = self.labels();
        let mut components = vec![Vec::new(); self.components];
        labels.iter().enumerate().for_each(|(agent, &label)| components[label as usize].push(agent));
        Components::sorted(components)
    }

    /// Merges components that links close to circles. `source(agent, place)` lists the sources of
    /// an agent.
    fn add(&mut self, source: impl Fn(usize, usize) -> Option<u32>) {
        let mut search = Search::new(self.next.len());
        self.components = 0;
        for agent in 0..self.next.len() as u32 {
            if search.is_new(agent) {
                self.explore(agent, &mut search, &source);
            }
        }
    }

    /// Tarjan's algorithm from one agent, along the circle of its component and its sources.
    fn explore(&mut self, from: u32, search: &mut Search, source: &impl Fn(usize, usize) -> Option<u32>) {
        search.enter(from);
        while let Some((agent, place)) = search.advance() {
            let other = match place.checked_sub(1) {
                None => Some(self.next[agent as usize]),
                Some(place) => source(agent as usize, place),
            };
            match other {
                Some(other) => search.look(agent, other),
                None if search.leave(agent) => self.close(agent, search),
                None => {}
            }
        }
    }

    /// Makes a circle of the component whose first agent the search has left.
    fn close(&mut self, first: u32, search: &mut Search) {
        self.components += 1;
        let mut next = first;
        while let Some(agent) = search.finish() {
            self.next[agent as usize] = std::mem::replace(&mut next, agent);
            if agent == first {
                break;
            }
        }
    }

    /// The links between different components: for each agent its sources.
    fn links_between(&self, sequence: &GraphSequence<'_>, graphs: &[usize]) -> Adjacency {
        let labels = self.labels();
        Adjacency::new(labels.len(), |note| {
            for &number in graphs {
                sequence.visit(number, |graph| {
                    let apart = |(source, target): &(usize, usize)| labels[*source] != labels[*target];
                    for (source, target) in graph.links().filter(apart) {
                        note(target, Neighbour { agent: source as u32, graph: number as u32 });
                    }
                });
            }
        })
    }

    /// The number of each agent's component.
    fn labels(&self) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let (mut labels, mut components) = (vec![NONE; self.next.len()], 0);
        for first in 0..labels.len() {
            let mut agent = first;
            if labels[first] == NONE {
                components += 1;
            }
            while labels[agent] == NONE {
                labels[agent] = components - 1;
                agent = self.next[agent] as usize;
            }
        }
        labels
    }
}

/// The state of a depth-first search by Tarjan's algorithm, without recursion.
struct Search {
    times: Vec<Times>,
    /// Agents whose component is not known yet, in the order in which they were entered.
    open: Vec<u32>,
    /// The agents from the first one to the current one, each with its next place to look at.
    path: Vec<(u32, u32)>,
    count: u32,
}

/// Times of an agent, counted from 1.
#[derive(Clone, Copy, Default)]
struct Times {
    /// When it was entered; 0 if it was not.
    entered: u32,
    /// When the earliest agent of an open component was entered that it is known to hear of.
    earliest: u32,
}

impl Search {
    /// In place of the time when an agent was entered, once its component is known.
    const FINISHED: u32 = u32::MAX;

    fn new(agents: usize) -> Self {
        Self { times: vec![Times::default(); agents], open: Vec::new(), path: Vec::new(), count: 0 }
    }

    fn is_new(&self, agent: u32) -> bool {
        self.times[agent as usize].entered == 0
    }

    fn enter(&mut self, agent: u32) {
        self.count += 1;
        self.times[agent as usize] = Times { entered: self.count, earliest: self.count };
        self.open.push(agent);
        self.path.push((agent, 0));
    }

    /// The current agent, and the place that is to be looked at.
    fn advance(&mut self) -> Option<(u32, usize)> {
        let (agent, place) = self.path.last_mut()?;
        *place += 1;
        Some((*agent, *place as usize - 1))
    }

    /// Follows a link of the current agent.
    fn look(&mut self, agent: u32, other: u32) {
        match self.times[other as usize].entered {
            0 => self.enter(other),
            entered => self.hear_of(agent, entered),
        }
    }

    /// Goes back from the current agent; true if it is the first one of its component.
    fn leave(&mut self, agent: u32) -> bool {
        self.path.pop();
        let Times { entered, earliest } = self.times[agent as usize];
        if let Some(&(before, _)) = self.path.last() {
            self.hear_of(before, earliest);
        }
        earliest == entered
    }

    fn hear_of(&mut self, agent: u32, entered: u32) {
        let earliest = &mut self.times[agent as usize].earliest;
        *earliest = entered.min(*earliest);
    }

    /// Takes the last open agent, whose component is now known.
    fn finish(&mut self) -> Option<u32> {
        let agent = self.open.pop()?;
        self.times[agent as usize].entered = Self::FINISHED;
        Some(agent)
    }
}
