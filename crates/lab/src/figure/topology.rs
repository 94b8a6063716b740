//! The figure of a network: its graphs, phase by phase.

use fabnet_core::{Digraph, Topology};

use plotters::style::RGBColor;

use super::canvas::{Canvas, Lettering, Side};
use super::lettering::text_width;
use super::palette::letters;
use super::panel::{BOTH_WAYS, Measures, ONE_WAY, Panel, colour_of};
use crate::plan::Group;
use crate::setup::{SetupError, read_topology};

/// A network by its first graphs.
pub(super) struct Network {
    title: String,
    note: String,
    agents: usize,
    phases: Vec<Phase>,
}

/// A graph, and when it is used.
#[derive(Debug, PartialEq)]
struct Phase {
    when: String,
    links: Vec<(usize, usize)>,
}

/// A graph by its name, and the rounds of a period in which it is used: from … to, both included.
type Use = (u64, Vec<(u64, u64)>);

/// What is looked at of a network that does not repeat itself.
const FIRST_ROUNDS: u64 = 100;

impl Network {
    /// More agents than this could not be told apart.
    pub(super) const MOST_AGENTS: usize = 40;
    const MOST_PHASES: usize = 6;
    const PHASES_IN_A_ROW: usize = 3;
    /// Above the panels, with the title; below them, with a note.
    const HEAD: f64 = 48.0;
    const FOOT: f64 = 40.0;
    const MARGIN: f64 = 18.0;
    const TITLE: f64 = 17.0;
    const NOTE: f64 = 12.0;
    const NARROWEST: f64 = 440.0;

    /// The network of a group.
    pub(super) fn new(group: &Group, seed: u64) -> Result<Self, SetupError> {
        let (topology, _) = read_topology(group, seed)?;
        let (period, uses) = (topology.period(), uses(&*topology));
        let phase = |(name, spans): &Use| Phase { when: when(spans, period), links: links(&*topology, *name) };
        Ok(Self {
            title: format!("{}, {} agents", group.topology.kind, group.agents),
            note: format!("seed {seed}; {}", repetition(period, uses.len())),
            agents: group.agents,
            phases: uses.iter().take(Self::MOST_PHASES).map(phase).collect(),
        })
    }

    /// The figure as an SVG document.
    pub(super) fn svg(&self) -> String {
        let columns = self.phases.len().clamp(1, Self::PHASES_IN_A_ROW);
        let measures = Measures::new(self.agents, if columns == 1 { 150.0 } else { 105.0 });
        let (width, height) = measures.size();
        let whole = (columns as f64 * width + 2.0 * Self::MARGIN).max(Self::NARROWEST);
        let (left, bottom) = ((whole - columns as f64 * width) / 2.0, Self::HEAD + self.rows(columns) * height);
        let mut canvas = Canvas::new(whole, bottom + Self::FOOT);
        canvas.text((whole / 2.0, Self::HEAD / 2.0), &self.title, letters(Self::TITLE, Side::Middle));
        for (place, Phase { when, links }) in self.phases.iter().enumerate() {
            let corner = (left + (place % columns) as f64 * width, Self::HEAD + (place / columns) as f64 * height);
            let title = format!("{when}: {} links", links.len());
            Panel { title: &title, agents: self.agents, links }.draw(&mut canvas, corner, measures);
        }
        self.draw_foot(&mut canvas, whole, bottom + Self::FOOT / 2.0);
        canvas.into_svg()
    }

    fn rows(&self, columns: usize) -> f64 {
        self.phases.len().div_ceil(columns) as f64
    }

    /// A note at the left, the meaning of colours at the right.
    fn draw_foot(&self, canvas: &mut Canvas, width: f64, height: f64) {
        canvas.text((Self::MARGIN, height), &self.note, letters(Self::NOTE, Side::Start));
        let mut right = width - Self::MARGIN;
        for (colour, meaning) in [(BOTH_WAYS, "→ both ways"), (ONE_WAY, "→ one way")] {
            if self.has_links_of(colour) {
                canvas.text((right, height), meaning, Lettering { colour, ..letters(Self::NOTE, Side::End) });
                right -= text_width(meaning, Self::NOTE) + Self::MARGIN;
            }
        }
    }

    fn has_links_of(&self, colour: RGBColor) -> bool {
        self.phases.iter().any(|Phase { links, .. }| links.iter().any(|link| colour_of(links, *link) == colour))
    }
}

/// The graphs of a period, or of the first rounds, by when each is first used.
fn uses(topology: &dyn Topology) -> Vec<Use> {
    /// Enough of a long period.
    const MOST_ROUNDS: u64 = 10_000;
    let mut uses: Vec<Use> = Vec::new();
    for round in 0..topology.period().map_or(FIRST_ROUNDS, |period| period.min(MOST_ROUNDS)) {
        let name = topology.graph_of(round);
        match uses.iter_mut().find(|(known, _)| *known == name) {
            None => uses.push((name, vec![(round, round)])),
            Some((_, spans)) => match spans.last_mut() {
                Some((_, last)) if *last + 1 == round => *last = round,
                _ => spans.push((round, round)),
            },
        }
    }
    uses
}

fn links(topology: &dyn Topology, name: u64) -> Vec<(usize, usize)> {
    let mut graph = Digraph::new(topology.agents());
    topology.draw(name, &mut graph);
    graph.links().collect()
}

/// "rounds 0–9, 20–29", or "every round".
fn when(spans: &[(u64, u64)], period: Option<u64>) -> String {
    /// More would not fit above a panel.
    const MOST_SPANS: usize = 2;
    let span = |&(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}–{last}") }
    };
    let listed: Vec<String> = spans.iter().take(MOST_SPANS).map(span).collect();
    match spans {
        _ if period == Some(1) => "every round".to_owned(),
        [(first, last)] if first == last => format!("round {first}"),
        _ => format!("rounds {}{}", listed.join(", "), if spans.len() > MOST_SPANS { " …" } else { "" }),
    }
}

fn repetition(period: Option<u64>, graphs: usize) -> String {
    let part = if graphs > Network::MOST_PHASES { format!("{} of ", Network::MOST_PHASES) } else { String::new() };
    match period {
        Some(1) => "one graph".to_owned(),
        Some(period) => format!("{part}{graphs} graphs, repeated every {period} rounds"),
        None => format!("{part}{graphs} graphs in the first {FIRST_ROUNDS} rounds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that uses graphs with these names, again and again.
    struct Sequence(&'static [u64]);

    impl Topology for Sequence {
        fn agents(&self) -> usize {
            2
        }

        fn graph_of(&self, round: u64) -> u64 {
            self.0[round as usize % self.0.len()]
        }

        fn draw(&self, _: u64, _: &mut Digraph) {}

        fn period(&self) -> Option<u64> {
            (self.0.len() < 100).then_some(self.0.len() as u64)
        }
    }

    #[test]
    fn graphs_are_listed_with_their_rounds() {
        assert_eq!(uses(&Sequence(&[7])), [(7, vec![(0, 0)])]);
        let expected = [(5, vec![(0, 1), (3, 3)]), (4, vec![(2, 2)]), (9, vec![(4, 6)])];
        assert_eq!(uses(&Sequence(&[5, 5, 4, 5, 9, 9, 9])), expected);
        assert_eq!(uses(&Sequence(&[1; 500])), [(1, vec![(0, FIRST_ROUNDS - 1)])]);
    }

    #[test]
    fn rounds_are_put_into_words() {
        assert_eq!(when(&[(0, 0)], Some(1)), "every round");
        assert_eq!(when(&[(3, 3)], Some(5)), "round 3");
        assert_eq!(when(&[(0, 9)], Some(30)), "rounds 0–9");
        assert_eq!(when(&[(0, 9), (20, 20)], Some(30)), "rounds 0–9, 20");
        assert_eq!(when(&[(0, 0), (2, 2), (4, 4)], Some(30)), "rounds 0, 2 …");
    }

    #[test]
    fn the_note_says_what_is_not_shown() {
        assert_eq!(repetition(Some(1), 1), "one graph");
        assert_eq!(repetition(Some(30), 3), "3 graphs, repeated every 30 rounds");
        assert_eq!(repetition(Some(9), 8), "6 of 8 graphs, repeated every 9 rounds");
        assert_eq!(repetition(None, 100), "6 of 100 graphs in the first 100 rounds");
    }
}
