//! Small shapes on lines. None of them is a triangle, which marks where a line leaves its frame.

use super::canvas::{Canvas, Colour, Pen, Position};
use super::palette::WHITE;

/// The shape that a line carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Square,
    Diamond,
    Ring,
    OpenSquare,
    OpenDiamond,
    Cross,
    Plus,
}

impl Marker {
    /// The distance from the middle of a marker to its edge, in points.
    const REACH: f64 = 2.1;

    /// Draws the marker around a position.
    pub(super) fn draw(self, canvas: &mut Canvas, (x, y): Position, colour: Colour) {
        let (near, far) = (0.85 * Self::REACH, 1.2 * Self::REACH);
        let pen = Pen { colour, opacity: 1.0, width: 1.0, dashes: &[] };
        let square = [(x - near, y - near), (x + near, y - near), (x + near, y + near), (x - near, y + near)];
        let diamond = [(x, y - far), (x + far, y), (x, y + far), (x - far, y)];
        let mut open = |corners: [Position; 4]| {
            canvas.area(&corners, WHITE, 1.0);
            canvas.line(&[&corners[..], &corners[..2]].concat(), pen);
        };
        match self {
            Self::OpenSquare => open(square),
            Self::OpenDiamond => open(diamond),
            Self::Disc => canvas.disc((x, y), Self::REACH, colour),
            Self::Ring => {
                canvas.disc((x, y), Self::REACH + 0.4, colour);
                canvas.disc((x, y), Self::REACH - 0.6, WHITE);
            }
            Self::Square => canvas.area(&square, colour, 1.0),
            Self::Diamond => canvas.area(&diamond, colour, 1.0),
            Self::Cross => {
                canvas.line(&[square[0], square[2]], pen);
                canvas.line(&[square[1], square[3]], pen);
            }
            Self::Plus => {
                canvas.line(&[diamond[0], diamond[2]], pen);
                canvas.line(&[diamond[1], diamond[3]], pen);
            }
        }
    }
}

/// Draws the mark of a line that leaves its frame at the upper or lower edge: a triangle within the
/// frame, which points outwards.
pub(super) fn draw_exit(canvas: &mut Canvas, (x, y): Position, upwards: bool, colour: Colour) {
    const HEIGHT: f64 = 4.6;
    const HALF_WIDTH: f64 = 2.6;
    let base = if upwards { y + HEIGHT } else { y - HEIGHT };
    canvas.group("leaves", |canvas| {
        canvas.area(&[(x, y), (x + HALF_WIDTH, base), (x - HALF_WIDTH, base)], colour, 1.0);
    });
}
