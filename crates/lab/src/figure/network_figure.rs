//! The figure of a network: its graphs, phase by phase.

use fabnet_core::{Digraph, Topology};

use super::canvas::{Canvas, Colour, TextAnchor, TextStyle};
use super::font::text_width;
use super::palette::{TEXT, text_style_of};
use super::panel::{BOTH_WAYS, ONE_WAY, Panel, PanelMeasures, colour_of};
use super::text_fit::fitting_size;
use crate::plan::Group;
use crate::registry::{RegistryError, make_topology};

/// The figure of a network, which shows its first graphs.
pub(super) struct NetworkFigure {
    title: String,
    /// The seed, and how often graphs repeat.
    note: String,
    agents: usize,
    phases: Vec<Phase>,
}

/// A graph, and the rounds in which it is used.
#[derive(Debug, PartialEq)]
struct Phase {
    when: String,
    links: Vec<(usize, usize)>,
}

/// A graph by its name, and the rounds of a period in which it is used: spans with both ends
/// included.
type GraphUse = (u64, Vec<(u64, u64)>);

/// The number of rounds that are looked at if graphs do not repeat.
const FIRST_ROUNDS: u64 = 100;

impl NetworkFigure {
    /// The largest number of agents that can be told apart.
    pub(super) const MOST_AGENTS: usize = 40;
    /// The largest number of graphs that are shown.
    const MOST_PHASES: usize = 6;
    /// The largest number of panels in a row.
    const PHASES_IN_A_ROW: usize = 3;
    /// The points of a unit, so that letters of panels have the default size. Wider sheets are not
    /// filled.
    const UNIT: f64 = TEXT / PanelMeasures::TITLE;
    /// The height above the panels, with the title.
    const HEAD: f64 = 42.0;
    /// The height of a row below the panels, with a note or with the meaning of colours.
    const ROW: f64 = 24.0;
    /// The margin at the edges of the sheet.
    const MARGIN: f64 = 12.0;
    /// The size of the title's letters.
    const TITLE: f64 = 16.0;
    /// The least width of the sheet.
    const NARROWEST: f64 = 400.0;

    /// The figure of a group's network.
    pub(super) fn new(group: &Group, seed: u64) -> Result<Self, RegistryError> {
        let (topology, _) = make_topology(group, seed)?;
        let (period, uses) = (topology.period(), uses(&*topology));
        let phase = |(name, spans): &GraphUse| Phase { when: when(spans, period), links: links(&*topology, *name) };
        Ok(Self {
            title: format!("{}, {} agents", group.topology.kind, group.agents),
            note: format!("seed {seed}; {}", repetition(period, uses.len())),
            agents: group.agents,
            phases: uses.iter().take(Self::MOST_PHASES).map(phase).collect(),
        })
    }

    /// Draws the figure as an SVG document, no wider than this many points.
    pub(super) fn svg(&self, widest: f64) -> String {
        let (columns, measures) = self.columns(widest / Self::UNIT - 2.0 * Self::MARGIN);
        let (width, height) = measures.size();
        let whole = (columns as f64 * width + 2.0 * Self::MARGIN).max(Self::NARROWEST);
        let rows = self.phases.len().div_ceil(columns) as f64;
        let (left, bottom) = ((whole - columns as f64 * width) / 2.0, Self::HEAD + rows * height);
        let foot = 0.5 * Self::ROW + Self::ROW * self.foot_rows(whole) as f64;
        let mut canvas = Canvas::in_units(whole, bottom + foot, Self::UNIT.min(widest / whole));
        let size = fitting_size(&self.title, Self::TITLE, whole - 2.0 * Self::MARGIN);
        canvas.text((whole / 2.0, Self::HEAD / 2.0), &self.title, text_style_of(size, TextAnchor::Middle));
        for (place, Phase { when, links }) in self.phases.iter().enumerate() {
            let corner = (left + (place % columns) as f64 * width, Self::HEAD + (place / columns) as f64 * height);
            let title = format!("{when}: {} links", links.len());
            Panel { title: &title, agents: self.agents, links }.draw(&mut canvas, corner, measures);
        }
        self.draw_foot(&mut canvas, whole, bottom + Self::ROW);
        canvas.into_svg()
    }

    /// The number of columns that there is room for, and the measures of a panel.
    fn columns(&self, room: f64) -> (usize, PanelMeasures) {
        let most = self.phases.len().clamp(1, Self::PHASES_IN_A_ROW);
        let measures = |columns: usize| PanelMeasures::new(self.agents, if columns == 1 { 150.0 } else { 105.0 });
        let fit = |columns: &usize| *columns as f64 * measures(*columns).size().0 <= room;
        let columns = (1..=most).rev().find(fit).unwrap_or(1);
        (columns, measures(columns))
    }

    /// Draws a note at the left and the meaning of colours at the right, or below it where they do
    /// not fit beside each other.
    fn draw_foot(&self, canvas: &mut Canvas, width: f64, height: f64) {
        let size = fitting_size(&self.note, PanelMeasures::TITLE, width - 2.0 * Self::MARGIN);
        canvas.text((Self::MARGIN, height), &self.note, text_style_of(size, TextAnchor::Start));
        let below = height + (self.foot_rows(width) - 1) as f64 * Self::ROW;
        let mut right = width - Self::MARGIN;
        for (colour, meaning) in self.meanings() {
            canvas.text(
                (right, below),
                meaning,
                TextStyle { colour, ..text_style_of(PanelMeasures::TITLE, TextAnchor::End) },
            );
            right -= text_width(meaning, PanelMeasures::TITLE) + Self::MARGIN;
        }
    }

    /// The number of rows that the note and the meaning of colours take.
    fn foot_rows(&self, width: f64) -> usize {
        let wide = |text: &str| text_width(text, PanelMeasures::TITLE) + Self::MARGIN;
        let needed = wide(&self.note) + self.meanings().map(|(_, meaning)| wide(meaning)).sum::<f64>();
        if needed + Self::MARGIN <= width { 1 } else { 2 }
    }

    /// The meaning of the colours that are used.
    fn meanings(&self) -> impl Iterator<Item = (Colour, &'static str)> {
        let all = [(BOTH_WAYS, "→ both ways"), (ONE_WAY, "→ one way")];
        all.into_iter().filter(|(colour, _)| self.has_links_of(*colour))
    }

    /// Whether a graph has links of this colour.
    fn has_links_of(&self, colour: Colour) -> bool {
        self.phases.iter().any(|Phase { links, .. }| links.iter().any(|link| colour_of(links, *link) == colour))
    }
}

/// The graphs of a period, or of the first rounds, in the order in which they are first used.
fn uses(topology: &dyn Topology) -> Vec<GraphUse> {
    /// The largest number of rounds that are looked at.
    const MOST_ROUNDS: u64 = 10_000;
    let mut uses: Vec<GraphUse> = Vec::new();
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

/// The links of a graph.
fn links(topology: &dyn Topology, name: u64) -> Vec<(usize, usize)> {
    let mut graph = Digraph::new(topology.agents());
    topology.draw(name, &mut graph);
    graph.links().collect()
}

/// The rounds of a graph in words, such as "rounds 0–9, 20–29" or "every round".
fn when(spans: &[(u64, u64)], period: Option<u64>) -> String {
    /// The largest number of spans that fit above a panel.
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

/// How many graphs there are and when they repeat, in words.
fn repetition(period: Option<u64>, graphs: usize) -> String {
    let part =
        if graphs > NetworkFigure::MOST_PHASES { format!("{} of ", NetworkFigure::MOST_PHASES) } else { String::new() };
    match period {
        Some(1) => "one graph".to_owned(),
        Some(period) => format!("{part}{graphs} graphs, repeated every {period} rounds"),
        None => format!("{part}{graphs} graphs in the first {FIRST_ROUNDS} rounds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that repeats graphs with these names.
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
