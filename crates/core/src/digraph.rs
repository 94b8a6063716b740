//! A directed graph by the sources of each agent.

/// Who hears whom in a round: for each agent its sources, in ascending order and without itself.
///
/// Rows are appended agent by agent; the memory is kept from graph to graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digraph {
    ends: Vec<usize>,
    sources: Vec<u32>,
    out_degrees: Vec<u32>,
}

impl Digraph {
    /// A graph that will have this many agents.
    pub fn new(agents: usize) -> Self {
        Self { ends: Vec::with_capacity(agents), sources: Vec::new(), out_degrees: vec![0; agents] }
    }

    /// Forgets all edges, and makes room for about this many.
    pub fn clear(&mut self, expected_edges: f64) {
        self.ends.clear();
        self.sources.clear();
        self.out_degrees.fill(0);
        // Six standard deviations of a random graph: later rounds do not allocate.
        self.sources.reserve((expected_edges + 6.0 * expected_edges.sqrt()) as usize);
    }

    /// Appends the sources of the next agent, in ascending order.
    pub fn push_row(&mut self, sources: impl IntoIterator<Item = usize>) {
        for source in sources {
            self.sources.push(source as u32);
            self.out_degrees[source] += 1;
        }
        self.ends.push(self.sources.len());
    }

    /// The sources of an agent, ascending.
    pub fn sources(&self, agent: usize) -> &[u32] {
        let start = if agent == 0 { 0 } else { self.ends[agent - 1] };
        &self.sources[start..self.ends[agent]]
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.out_degrees.len()
    }

    /// How many links there are.
    pub fn edges(&self) -> usize {
        self.sources.len()
    }

    /// How many sources an agent has.
    pub fn in_degree(&self, agent: usize) -> usize {
        self.sources(agent).len()
    }

    /// To how many agents an agent sends.
    pub fn out_degree(&self, agent: usize) -> usize {
        self.out_degrees[agent] as usize
    }

    /// The links as (source, target).
    pub fn links(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.agents()).flat_map(|target| self.sources(target).iter().map(move |&source| (source as usize, target)))
    }

    /// Replaces the graph by one with these links (source, target), in any order; repeated links and loops are dropped.
    pub fn set_links(&mut self, links: &mut Vec<(usize, usize)>) {
        links.retain(|(source, target)| source != target);
        links.sort_unstable_by_key(|&(source, target)| (target, source));
        links.dedup();
        self.clear(links.len() as f64);
        let mut rest = links.as_slice();
        for target in 0..self.agents() {
            let (row, after) = rest.split_at(rest.partition_point(|&(_, t)| t <= target));
            self.push_row(row.iter().map(|&(source, _)| source));
            rest = after;
        }
    }
}
