//! A directed graph by the sources of each agent.

use std::ops::Range;

/// Who hears whom in a round: for each agent its sources, in ascending order. Everybody hears
/// itself, which is no link and counts in no degree.
///
/// The memory is kept from graph to graph.
#[derive(Clone, Debug)]
pub struct Digraph {
    /// Where rows end; each begins with the agent itself.
    ends: Vec<usize>,
    sources: Vec<u32>,
    out_degrees: Vec<u32>,
    /// The weights that the topology brings, entry by entry of `sources`; empty if it brings none.
    weights: Vec<f64>,
    /// Where threads draw their rows, before these are put together.
    pieces: Vec<GraphPiece>,
}

/// The rows of some agents, drawn by one thread.
#[derive(Clone, Debug, Default)]
struct GraphPiece {
    agents: Range<usize>,
    ends: Vec<usize>,
    sources: Vec<u32>,
}

impl Digraph {
    /// Links that make a piece worth handing to another thread.
    const GRAIN: f64 = 8192.0;
    const PIECES: usize = 16;

    /// A graph of this many agents without links.
    pub fn new(agents: usize) -> Self {
        Self {
            ends: (1..=agents).collect(),
            sources: (0..agents as u32).collect(),
            out_degrees: vec![0; agents],
            weights: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// Replaces the graph by one with these rows, without weights: `row` names the sources of an
    /// agent. Large graphs are drawn by all threads, with the same result.
    pub fn draw(&mut self, expected_links: f64, row: impl Fn(usize, &mut Sources<'_>) + Sync) {
        let (agents, count) = (self.agents(), (expected_links / Self::GRAIN).clamp(1.0, Self::PIECES as f64) as usize);
        self.pieces.resize_with(count, GraphPiece::default);
        let share = (expected_links + agents as f64) / count as f64;
        for (index, piece) in self.pieces.iter_mut().enumerate() {
            piece.agents = index * agents / count..(index + 1) * agents / count;
            // Six standard deviations of a random graph: later rounds do not allocate.
            piece.sources.reserve((share + 6.0 * share.sqrt()) as usize);
        }
        draw_pieces(&mut self.pieces, &row);
        self.join_pieces();
    }

    /// Replaces the graph by one with these links (source, target), in any order; repeated links
    /// and loops are dropped.
    pub fn set_links(&mut self, links: &mut Vec<(usize, usize)>) {
        links.retain(|(source, target)| source != target);
        links.sort_unstable_by_key(|&(source, target)| (target, source));
        links.dedup();
        self.draw(links.len() as f64, |target, sources| {
            let first = links.partition_point(|&(_, t)| t < target);
            links[first..].iter().take_while(|&&(_, t)| t == target).for_each(|&(source, _)| sources.push(source));
        });
    }

    /// Brings mixing weights for the links as they are: `weight` is told the target and the source.
    /// Rows and columns sum to less than 1, and weights of links both ways are equal.
    pub fn set_weights(&mut self, weight: impl Fn(usize, usize) -> f64) {
        self.weights.clear();
        for target in 0..self.agents() {
            let row = &self.sources[row_start(&self.ends, target)..self.ends[target]];
            self.weights.extend(row.iter().map(|&source| weight(target, source as usize)));
        }
    }

    /// The mixing weights that the topology brings for the sources of an agent, if it brings any.
    pub fn weights(&self, agent: usize) -> Option<&[f64]> {
        self.weights.get(self.start(agent) + 1..self.ends[agent])
    }

    /// Takes over the weights of a graph with the same links.
    pub(crate) fn set_weights_of(&mut self, same: &Self) {
        self.weights.clone_from(&same.weights);
    }

    /// The sources of an agent, ascending, without itself.
    pub fn sources(&self, agent: usize) -> &[u32] {
        &self.sources[self.start(agent) + 1..self.ends[agent]]
    }

    /// Where the row of an agent starts, if rows with the agent itself as the first entry follow
    /// one another.
    pub(crate) fn start(&self, agent: usize) -> usize {
        row_start(&self.ends, agent)
    }

    /// Gives all rows away, each with the agent itself first, in exchange for memory to use. The
    /// graph is to be drawn anew.
    pub(crate) fn take_rows(&mut self, ends: &mut Vec<usize>, sources: &mut Vec<u32>) {
        std::mem::swap(&mut self.ends, ends);
        std::mem::swap(&mut self.sources, sources);
    }

    /// A copy without the memory for drawing.
    pub(crate) fn compact(&self) -> Self {
        let (ends, sources) = (self.ends.clone(), self.sources.clone());
        let (out_degrees, weights) = (self.out_degrees.clone(), self.weights.clone());
        Self { ends, sources, out_degrees, weights, pieces: Vec::new() }
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.out_degrees.len()
    }

    /// The number of links.
    pub fn edges(&self) -> usize {
        self.sources.len() - self.agents()
    }

    /// The number of sources of an agent.
    pub fn in_degree(&self, agent: usize) -> usize {
        self.ends[agent] - self.start(agent) - 1
    }

    /// The number of agents to which an agent sends.
    pub fn out_degree(&self, agent: usize) -> usize {
        self.out_degrees[agent] as usize
    }

    /// The links, as pairs of source and target.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.agents()).flat_map(|target| self.sources(target).iter().map(move |&source| (source as usize, target)))
    }

    fn join_pieces(&mut self) {
        self.ends.clear();
        self.sources.clear();
        self.weights.clear();
        self.out_degrees.fill(0);
        for piece in &self.pieces {
            let before = self.sources.len();
            self.ends.extend(piece.ends.iter().map(|end| before + end));
            self.sources.extend_from_slice(&piece.sources);
            for &source in &piece.sources {
                self.out_degrees[source as usize] += 1;
            }
        }
        self.out_degrees.iter_mut().for_each(|degree| *degree -= 1);
    }
}

/// The sources of one agent, while they are being named: in ascending order, or sorted at the end.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The rows before this one are none of its business.
    all: &'a mut Vec<u32>,
    start: usize,
}

impl Sources<'_> {
    /// The next source of the agent.
    #[inline]
    pub fn push(&mut self, source: usize) {
        self.all.push(source as u32);
    }

    /// Puts them into ascending order, for who could not name them so.
    pub fn sort(&mut self) {
        self.all[self.start..].sort_unstable();
    }
}

/// Where a row starts, given where all end.
pub(crate) fn row_start(ends: &[usize], agent: usize) -> usize {
    if agent == 0 { 0 } else { ends[agent - 1] }
}

fn draw_pieces(pieces: &mut [GraphPiece], row: &(impl Fn(usize, &mut Sources<'_>) + Sync)) {
    if let [piece] = pieces {
        piece.ends.clear();
        piece.sources.clear();
        for agent in piece.agents.clone() {
            piece.sources.push(agent as u32);
            let start = piece.sources.len();
            row(agent, &mut Sources { all: &mut piece.sources, start });
            piece.ends.push(piece.sources.len());
        }
    } else {
        let (left, right) = pieces.split_at_mut(pieces.len() / 2);
        rayon::join(|| draw_pieces(left, row), || draw_pieces(right, row));
    }
}
