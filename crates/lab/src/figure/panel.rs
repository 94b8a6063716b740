//! The picture of one graph: agents on a circle, and an arrow for each link.

use std::f64::consts::{FRAC_PI_2, TAU};

use super::canvas::{Canvas, Colour, Pen, Position, TextAnchor, TextStyle};
use super::palette::{BLUE, INK, VERMILION, WHITE, text_style_of};
use super::text_fit::fitting_size;

/// A graph to draw. Links are arcs that bend to the left, so that the two links of a pair stay
/// apart.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) title: &'a str,
    pub(super) agents: usize,
    pub(super) links: &'a [(usize, usize)],
}

/// The measures of a panel, which all panels of a figure share.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelMeasures {
    /// The radius of the circle of agents.
    radius: f64,
    /// The radius of an agent.
    disc: f64,
}

/// The arrow of a link, from the edge of one agent to the edge of another.
struct Arrow {
    /// The line up to where the head begins.
    shaft: Vec<Position>,
    head: [Position; 3],
}

/// The colour of links one way.
pub(super) const ONE_WAY: Colour = BLUE;
/// The colour of links both ways.
pub(super) const BOTH_WAYS: Colour = VERMILION;

impl PanelMeasures {
    /// The size of the title's letters.
    pub(super) const TITLE: f64 = 14.0;
    /// The margin around the circle, as arcs between neighbours are outside of it.
    const MARGIN: f64 = 14.0;
    /// The gap between neighbours, which has room for an arrow.
    const GAP: f64 = 20.0;

    /// The measures for this many agents.
    pub(super) fn new(agents: usize, least_radius: f64) -> Self {
        let disc = (14.0 - agents as f64 / 6.0).clamp(8.5, 12.0);
        Self { disc, radius: (agents as f64 * (2.0 * disc + Self::GAP) / TAU).max(least_radius) }
    }

    /// The width and the height of a panel.
    pub(super) fn size(self) -> (f64, f64) {
        let width = 2.0 * (self.radius + self.disc + Self::MARGIN);
        (width, width + 1.6 * Self::TITLE)
    }

    /// The position of an agent, relative to the centre: clockwise from the top.
    fn agent(self, agent: usize, of: usize) -> Position {
        let angle = TAU * agent as f64 / of as f64 - FRAC_PI_2;
        (self.radius * angle.cos(), self.radius * angle.sin())
    }
}

impl Panel<'_> {
    /// Draws the panel with its upper left corner here.
    pub(super) fn draw(&self, canvas: &mut Canvas, corner: Position, measures: PanelMeasures) {
        let (width, height) = measures.size();
        let (middle, size) = (corner.0 + width / 2.0, fitting_size(self.title, PanelMeasures::TITLE, width));
        canvas.text((middle, corner.1 + PanelMeasures::TITLE), self.title, text_style_of(size, TextAnchor::Middle));
        let centre = (middle, corner.1 + height - width / 2.0);
        self.draw_links(canvas, centre, measures);
        self.draw_agents(canvas, centre, measures);
    }

    /// Draws an arrow for each link.
    fn draw_links(&self, canvas: &mut Canvas, centre: Position, measures: PanelMeasures) {
        let place = |agent| plus(centre, measures.agent(agent, self.agents));
        let thickness = self.thickness();
        for &(source, target) in self.links {
            let pull = if self.are_neighbours(source, target) { 0.0 } else { Arrow::PULL };
            let control = towards(towards(place(source), place(target), 0.5), centre, pull);
            let arrow = Arrow::new([place(source), control, place(target)], measures.disc, thickness);
            let colour = colour_of(self.links, (source, target));
            canvas.line(&arrow.shaft, Pen { colour, opacity: thickness.min(0.9), width: thickness, dashes: &[] });
            canvas.area(&arrow.head, colour, 1.0);
        }
    }

    /// Draws a numbered disc for each agent.
    fn draw_agents(&self, canvas: &mut Canvas, centre: Position, measures: PanelMeasures) {
        let number = TextStyle { colour: WHITE, ..text_style_of(1.05 * measures.disc, TextAnchor::Middle) };
        for agent in 0..self.agents {
            let place = plus(centre, measures.agent(agent, self.agents));
            canvas.disc(place, measures.disc, INK);
            canvas.text(place, &agent.to_string(), number);
        }
    }

    /// Whether two agents are next to each other on the circle.
    fn are_neighbours(&self, one: usize, other: usize) -> bool {
        let apart = one.abs_diff(other);
        apart.min(self.agents - apart) == 1
    }

    /// The thickness of links, which are finer where agents have many.
    fn thickness(&self) -> f64 {
        let links_of_each = self.links.len() as f64 / self.agents.max(1) as f64;
        (4.0 / links_of_each).clamp(0.5, 1.6)
    }
}

impl Arrow {
    /// How far arcs bend to the left, relative to their length.
    const BEND: f64 = 0.16;
    /// How far arcs are drawn to the centre, to pass by the agents between.
    const PULL: f64 = 0.25;
    /// Half the width of a head, relative to its length.
    const SLENDERNESS: f64 = 0.4;
    /// The number of straight pieces of an arc.
    const PIECES: usize = 12;

    /// The arrow from one disc to another, drawn aside by the control point between.
    fn new([from, control, to]: [Position; 3], disc: f64, thickness: f64) -> Self {
        let across = (to.0 - from.0, to.1 - from.1);
        let length = across.0.hypot(across.1).max(1.0);
        let control = plus(control, (Self::BEND * across.1, -Self::BEND * across.0));
        let arc = |part: f64| towards(towards(from, control, part), towards(control, to, part), part);
        let (start, tip) = (disc / length, 1.0 - (disc + 1.0) / length);
        let neck = (tip - (2.4 + 3.5 * thickness) / length).max(start);
        let part = |piece: usize| start + (neck - start) * piece as f64 / Self::PIECES as f64;
        Self { shaft: (0..=Self::PIECES).map(|piece| arc(part(piece))).collect(), head: head(arc(neck), arc(tip)) }
    }
}

/// The colour of a link among others.
pub(super) fn colour_of(links: &[(usize, usize)], (source, target): (usize, usize)) -> Colour {
    if links.contains(&(target, source)) { BOTH_WAYS } else { ONE_WAY }
}

/// The triangle of an arrow's head, from its neck to its tip.
fn head(neck: Position, tip: Position) -> [Position; 3] {
    let aside = (Arrow::SLENDERNESS * (tip.1 - neck.1), -Arrow::SLENDERNESS * (tip.0 - neck.0));
    [tip, plus(neck, aside), plus(neck, (-aside.0, -aside.1))]
}

/// The sum of two vectors.
fn plus(a: Position, b: Position) -> Position {
    (a.0 + b.0, a.1 + b.1)
}

/// The point at this fraction of the way from one position to another.
fn towards(from: Position, to: Position, part: f64) -> Position {
    (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Position, b: Position) -> f64 {
        (a.0 - b.0).hypot(a.1 - b.1)
    }

    #[test]
    fn agents_go_clockwise_from_the_top() {
        let measures = PanelMeasures { radius: 100.0, disc: 10.0 };
        let expected = [(0.0, -100.0), (100.0, 0.0), (0.0, 100.0), (-100.0, 0.0)];
        for (agent, place) in expected.into_iter().enumerate() {
            assert!(distance(measures.agent(agent, 4), place) < 1e-9, "agent {agent}");
        }
    }

    #[test]
    fn neighbours_have_room_for_an_arrow() {
        for agents in 2..=40 {
            let measures = PanelMeasures::new(agents, 105.0);
            let between = distance(measures.agent(0, agents), measures.agent(1, agents)) - 2.0 * measures.disc;
            assert!(between > 15.0, "{between} between {agents} agents");
        }
    }

    #[test]
    fn arrows_go_from_edge_to_edge() {
        let (from, to) = ((0.0, 0.0), (100.0, 0.0));
        let Arrow { shaft, head } = Arrow::new([from, (50.0, 0.0), to], 10.0, 1.0);
        assert!((distance(from, shaft[0]) - 10.0).abs() < 1.0, "it starts at {:?}", shaft[0]);
        assert!((distance(to, head[0]) - 11.0).abs() < 1.0, "it ends at {:?}", head[0]);
        assert!(distance(head[0], to) < distance(head[1], to) && distance(head[0], to) < distance(head[2], to));
        let neck = towards(head[1], head[2], 0.5);
        assert!(distance(neck, shaft[Arrow::PIECES]) < 1e-9, "the head sits on the shaft");
    }

    #[test]
    fn the_two_links_of_a_pair_stay_apart() {
        let (one, other) = ((0.0, 50.0), (80.0, 50.0));
        let middle = |from, to| Arrow::new([from, towards(one, other, 0.5), to], 10.0, 1.0).shaft[Arrow::PIECES / 2];
        // Both bend to the left: one is above the straight line, the other below it.
        assert!(middle(one, other).1 < 46.0 && middle(other, one).1 > 54.0);
        assert_eq!(colour_of(&[(0, 1), (1, 0), (2, 0)], (0, 1)), BOTH_WAYS);
        assert_eq!(colour_of(&[(0, 1), (1, 0), (2, 0)], (2, 0)), ONE_WAY);
    }

    #[test]
    fn links_are_finer_where_there_are_many() {
        let thickness = |links: &[(usize, usize)]| Panel { title: "", agents: 10, links }.thickness();
        assert_eq!(thickness(&[(0, 1); 10]), 1.6);
        assert_eq!(thickness(&[(0, 1); 40]), 1.0);
        assert_eq!(thickness(&[(0, 1); 400]), 0.5);
    }
}
