//! The legend of a chart: which line is which.

use super::canvas::{Canvas, Pen, Side};
use super::curve::Curve;
use super::lettering::{shortened, text_width};
use super::palette::letters;

/// A column of lines with their names, from the top down.
pub(super) struct Legend {
    entries: Vec<(Pen, String)>,
    size: f64,
    pub(super) width: f64,
}

impl Legend {
    /// Of the sample of a line, and of the gap behind it.
    const SAMPLE: f64 = 30.0;
    const GAP: f64 = 7.0;
    /// What names may take; longer ones are shortened.
    const WIDEST: f64 = 265.0;
    const SIZES: [f64; 2] = [9.0, 13.0];
    /// Of a row, relative to the letters.
    const ROW: f64 = 1.5;

    /// For these curves, in no more than this height if that can be read.
    pub(super) fn new(curves: &[Curve], height: f64) -> Self {
        let [smallest, largest] = Self::SIZES;
        let names: Vec<String> = curves.iter().map(name).collect();
        let widest = names.iter().map(|name| text_width(name, largest)).fold(1.0, f64::max);
        let by_height = height / (Self::ROW * names.len().max(1) as f64);
        let by_width = largest * Self::WIDEST / widest;
        let size = largest.min(by_height).min(by_width).max(smallest);
        let entries: Vec<(Pen, String)> =
            curves.iter().zip(&names).map(|(curve, name)| (curve.pen(), shortened(name, size, Self::WIDEST))).collect();
        let text = entries.iter().map(|(_, name)| text_width(name, size)).fold(0.0, f64::max);
        Self { entries, size, width: Self::SAMPLE + Self::GAP + text }
    }

    /// How high it is.
    pub(super) fn height(&self) -> f64 {
        Self::ROW * self.size * self.entries.len() as f64
    }

    /// Draws it with its upper left corner here.
    pub(super) fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        for (place, (pen, name)) in self.entries.iter().enumerate() {
            let middle = top + (place as f64 + 0.5) * Self::ROW * self.size;
            canvas.line(&[(left, middle), (left + Self::SAMPLE, middle)], *pen);
            canvas.text((left + Self::SAMPLE + Self::GAP, middle), name, letters(self.size, Side::Start));
        }
    }
}

fn name(curve: &Curve) -> String {
    let remark = if curve.diverged { " (diverged)" } else { "" };
    format!("{}{remark}", curve.label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(label: &str, diverged: bool) -> Curve {
        Curve { label: label.to_owned(), place: 0, diverged, points: Vec::new() }
    }

    #[test]
    fn many_names_get_smaller_letters_until_they_fit() {
        let legend = |count| Legend::new(&vec![curve("dfab penalty=80", false); count], 450.0);
        assert_eq!(legend(3).size, 13.0);
        for count in [3, 24, 30] {
            assert!(legend(count).height() <= 450.0 + 1e-9, "{count} names");
        }
        assert_eq!(legend(200).size, 9.0);
    }

    #[test]
    fn a_group_that_diverged_is_dotted_and_says_so() {
        let legend = Legend::new(&[curve("fab", false), curve("fab", true)], 400.0);
        let [(solid, first), (dotted, second)] = &legend.entries[..] else { panic!("two names") };
        assert_eq!((first.as_str(), second.as_str()), ("fab", "fab (diverged)"));
        assert_eq!((solid.dashes, dotted.dashes), (&[][..], &[1.5, 3.0][..]));
    }
}
