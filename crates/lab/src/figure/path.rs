//! Lines within a frame: parts outside are cut off, and invisible details are left out.

use super::canvas::Position;

/// The parts of a line that are within a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Clipped {
    pub(super) pieces: Vec<Vec<Position>>,
    /// Where the line leaves the frame, at the top (true) or at the bottom.
    pub(super) exits: Vec<(Position, bool)>,
}

/// Cuts off what is above or below these heights. Of exits that are closer together than `apart`,
/// the first is kept.
pub(super) fn clip(spots: &[Position], (top, bottom): (f64, f64), apart: f64) -> Clipped {
    let mut clipped = Clipped::default();
    let mut piece: Vec<Position> = Vec::new();
    let inside = |spot: &Position| (top..=bottom).contains(&spot.1);
    piece.extend(spots.first().filter(|spot| inside(spot)));
    for pair in spots.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if !inside(&from)
            && let Some(entry) = crossing(from, to, (top, bottom))
        {
            piece.push(entry);
        }
        if inside(&to) {
            piece.push(to);
        } else if !piece.is_empty() {
            // The line is inside so far, so that it leaves between `from` and `to`.
            let exit = crossing(to, from, (top, bottom)).unwrap_or(from);
            piece.push(exit);
            clipped.pieces.push(std::mem::take(&mut piece));
            if clipped.exits.iter().all(|(other, _)| (other.0 - exit.0).abs() >= apart) {
                clipped.exits.push((exit, to.1 < top));
            }
        }
    }
    if !piece.is_empty() {
        clipped.pieces.push(piece);
    }
    clipped
}

/// Where a segment that begins outside enters the strip between two heights, if it does.
fn crossing((x0, y0): Position, (x1, y1): Position, (top, bottom): (f64, f64)) -> Option<Position> {
    let edge = if y0 < top { top } else { bottom };
    let within = if y0 < top { y1 >= top } else { y1 <= bottom };
    within.then(|| (x0 + (x1 - x0) * (edge - y0) / (y1 - y0), edge))
}

/// The line without positions that are closer than `tolerance` to it (Douglas and Peucker 1973).
pub(super) fn simplified(spots: &[Position], tolerance: f64) -> Vec<Position> {
    let mut kept = vec![false; spots.len()];
    let mut open = vec![(0, spots.len().saturating_sub(1))];
    while let Some((first, last)) = open.pop() {
        if spots.is_empty() {
            break;
        }
        (kept[first], kept[last]) = (true, true);
        let off = |place: &usize| distance(spots[*place], spots[first], spots[last]);
        let furthest = (first + 1..last).max_by(|one, other| off(one).total_cmp(&off(other)));
        if let Some(furthest) = furthest.filter(|place| off(place) > tolerance) {
            open.extend([(first, furthest), (furthest, last)]);
        }
    }
    spots.iter().zip(kept).filter(|(_, kept)| *kept).map(|(spot, _)| *spot).collect()
}

/// The distance of a position from a segment.
fn distance(spot: Position, from: Position, to: Position) -> f64 {
    let (along, off) = ((to.0 - from.0, to.1 - from.1), (spot.0 - from.0, spot.1 - from.1));
    let length = along.0 * along.0 + along.1 * along.1;
    let part = if length > 0.0 { ((along.0 * off.0 + along.1 * off.1) / length).clamp(0.0, 1.0) } else { 0.0 };
    (off.0 - part * along.0).hypot(off.1 - part * along.1)
}

/// The height of a line at this horizontal position, if it extends to there.
pub(super) fn height_at(spots: &[Position], x: f64) -> Option<f64> {
    spots.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&x)).map(|pair| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y1 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRIP: (f64, f64) = (10.0, 20.0);

    #[test]
    fn what_is_outside_is_cut_off_where_it_leaves_and_enters() {
        let line = [(0.0, 15.0), (1.0, 5.0), (2.0, 5.0), (3.0, 15.0), (4.0, 25.0)];
        let Clipped { pieces, exits } = clip(&line, STRIP, 0.0);
        assert_eq!(pieces, [vec![(0.0, 15.0), (0.5, 10.0)], vec![(2.5, 10.0), (3.0, 15.0), (3.5, 20.0)]]);
        assert_eq!(exits, [((0.5, 10.0), true), ((3.5, 20.0), false)]);
    }

    #[test]
    fn a_line_inside_stays_whole_and_one_outside_is_nothing() {
        let line = [(0.0, 10.0), (1.0, 20.0), (2.0, 12.0)];
        assert_eq!(clip(&line, STRIP, 0.0), Clipped { pieces: vec![line.to_vec()], exits: Vec::new() });
        assert_eq!(clip(&[(0.0, 1.0), (1.0, 2.0)], STRIP, 0.0), Clipped::default());
        assert_eq!(clip(&[(0.0, 15.0)], STRIP, 0.0).pieces, [[(0.0, 15.0)]]);
        assert_eq!(clip(&[], STRIP, 0.0), Clipped::default());
    }

    #[test]
    fn a_segment_may_pass_through_from_edge_to_edge() {
        let through = clip(&[(0.0, 0.0), (3.0, 30.0)], STRIP, 0.0);
        assert_eq!(through.pieces, [[(1.0, 10.0), (2.0, 20.0)]]);
        assert_eq!(through.exits, [((2.0, 20.0), false)]);
    }

    #[test]
    fn exits_keep_their_distance() {
        let zigzag: Vec<Position> = (0..20).map(|x| (f64::from(x), if x % 2 == 0 { 15.0 } else { 5.0 })).collect();
        assert_eq!(clip(&zigzag, STRIP, 0.0).exits.len(), 10);
        assert_eq!(clip(&zigzag, STRIP, 6.0).exits.len(), 4);
    }

    #[test]
    fn simplified_lines_stay_within_the_tolerance() {
        let wave: Vec<Position> = (0..=500).map(|x| (f64::from(x), 40.0 * (f64::from(x) / 60.0).sin())).collect();
        let simple = simplified(&wave, 0.2);
        assert!(simple.len() < 120, "{}", simple.len());
        for (x, y) in &wave {
            assert!((height_at(&simple, *x).unwrap() - y).abs() < 0.4, "at {x}");
        }
        assert_eq!((simple[0], simple[simple.len() - 1]), (wave[0], wave[500]));
        assert_eq!(simplified(&[], 0.2), []);
        assert_eq!(simplified(&[(1.0, 1.0)], 0.2), [(1.0, 1.0)]);
    }
}
