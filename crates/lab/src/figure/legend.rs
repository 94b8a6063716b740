//! The legend of a chart: which line is which, and how many of its runs failed.

use super::canvas::{Canvas, Position, TextAnchor};
use super::curve::Curve;
use super::font::text_width;
use super::line_style::LineStyle;
use super::palette::{TEXT, text_style};
use super::text_fit::shortened;

/// A legend: samples of lines with their names, in columns.
pub(super) struct Legend {
    entries: Vec<LegendEntry>,
    columns: usize,
    column_width: f64,
}

/// A line of the legend.
struct LegendEntry {
    style: LineStyle,
    /// The name and, in a row of its own, how many runs failed.
    rows: Vec<String>,
}

impl Legend {
    /// The width of a line's sample.
    const SAMPLE: f64 = 24.0;
    /// The gap between a sample and its name.
    const GAP: f64 = 4.0;
    /// The gap between two columns.
    const BETWEEN: f64 = 10.0;
    /// The height of a row.
    const ROW: f64 = 1.45 * TEXT;

    /// A legend of one column beside the frame, with failed runs below the name.
    pub(super) fn beside(curves: &[Curve]) -> Self {
        let entry = |curve: &Curve| {
            let rows = [&curve.label, &curve.failures].into_iter().filter(|text| !text.is_empty());
            LegendEntry { style: curve.style(), rows: rows.cloned().collect() }
        };
        Self::new(curves.iter().map(entry).collect(), 1)
    }

    /// A legend above the frame, in as many columns as this width has room for.
    pub(super) fn above(curves: &[Curve], width: f64) -> Self {
        let widest = width - Self::SAMPLE - Self::GAP;
        let entries: Vec<LegendEntry> =
            curves.iter().map(|curve| LegendEntry { style: curve.style(), rows: vec![named(curve, widest)] }).collect();
        let legend = Self::new(entries, 1);
        let columns = ((width + Self::BETWEEN) / (legend.column_width + Self::BETWEEN)) as usize;
        // Rows of equal length: four names in two rows of two, not of three and one.
        let rows = legend.entries.len().div_ceil(columns.max(1));
        Self { columns: legend.entries.len().div_ceil(rows.max(1)).max(1), ..legend }
    }

    fn new(entries: Vec<LegendEntry>, columns: usize) -> Self {
        let rows = entries.iter().flat_map(|entry| &entry.rows);
        let text = rows.map(|row| text_width(row, TEXT)).fold(0.0, f64::max);
        Self { entries, columns, column_width: Self::SAMPLE + Self::GAP + text }
    }

    /// The width of the legend.
    pub(super) fn width(&self) -> f64 {
        self.columns as f64 * (self.column_width + Self::BETWEEN) - Self::BETWEEN
    }

    /// The height of the legend.
    pub(super) fn height(&self) -> f64 {
        let in_a_column: usize = self.entries.iter().map(|entry| entry.rows.len()).sum();
        Self::ROW * in_a_column.div_ceil(self.columns) as f64
    }

    /// Draws the legend with its upper left corner here.
    pub(super) fn draw(&self, canvas: &mut Canvas, corner: Position) {
        let mut row = 0;
        for (place, entry) in self.entries.iter().enumerate() {
            let column = place % self.columns;
            let left = corner.0 + column as f64 * (self.column_width + Self::BETWEEN);
            entry.draw(canvas, (left, corner.1 + row as f64 * Self::ROW));
            if column + 1 == self.columns {
                row += entry.rows.len();
            }
        }
    }
}

impl LegendEntry {
    fn draw(&self, canvas: &mut Canvas, (left, top): Position) {
        let middle = top + Legend::ROW / 2.0;
        let right = left + Legend::SAMPLE;
        canvas.line(&[(left, middle), (right, middle)], self.style.pen());
        self.style.marker.draw(canvas, (f64::midpoint(left, right), middle), self.style.colour);
        for (row, text) in self.rows.iter().enumerate() {
            let spot = (right + Legend::GAP, middle + row as f64 * Legend::ROW);
            canvas.text(spot, text, text_style(TextAnchor::Start));
        }
    }
}

/// The name of a curve with its failed runs. Only the name is shortened if both are too wide.
pub(super) fn named(curve: &Curve, widest: f64) -> String {
    let failures = if curve.failures.is_empty() { String::new() } else { format!(" ({})", curve.failures) };
    shortened(&curve.label, TEXT, widest - text_width(&failures, TEXT)) + &failures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(place: usize, label: &str, failures: &str) -> Curve {
        let (label, failures) = (label.to_owned(), failures.to_owned());
        Curve { label, place, failures, leaves: false, points: Vec::new() }
    }

    fn texts(legend: &Legend) -> Vec<&str> {
        legend.entries.iter().flat_map(|entry| &entry.rows).map(String::as_str).collect()
    }

    #[test]
    fn legends_say_what_failed() {
        let curves = [curve(0, "fab", "7 of 10 diverged"), curve(1, "dfab", "")];
        assert_eq!(texts(&Legend::beside(&curves)), ["fab", "7 of 10 diverged", "dfab"]);
        assert_eq!(texts(&Legend::above(&curves, 220.0)), ["fab (7 of 10 diverged)", "dfab"]);
        let long = [curve(0, &"a long name ".repeat(9), "10 of 10 diverged, 10 of 20 unfinished")];
        let said = Legend::above(&long, 260.0);
        assert!(
            texts(&said)[0].ends_with("… (10 of 10 diverged, 10 of 20 unfinished)") || texts(&said)[0].contains('…')
        );
        assert!(texts(&said)[0].ends_with("(10 of 10 diverged, 10 of 20 unfinished)"));
        assert!(said.width() <= 260.0);
    }

    #[test]
    fn names_above_a_frame_are_in_even_columns_within_its_width() {
        let curves: Vec<Curve> = (0..8).map(|place| curve(place, "dfab penalty=80", "")).collect();
        for (width, columns) in [(120.0, 1), (234.0, 2), (340.0, 3), (460.0, 4)] {
            let legend = Legend::above(&curves, width);
            assert_eq!(legend.columns, columns, "in {width}");
            assert!(legend.width() <= width);
        }
        assert_eq!(Legend::above(&curves[..4], 340.0).columns, 2);
        assert!(Legend::above(&curves, 460.0).height() < Legend::beside(&curves).height());
    }
}
