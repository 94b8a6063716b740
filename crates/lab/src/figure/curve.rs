//! A curve of a chart, which summarises the runs of a group.

use std::collections::BTreeSet;

use super::band::{Band, BandValue};
use super::line_style::LineStyle;
use super::records::{PlannedGroup, Row, Run, RunEnd};
use crate::results::{failures, moments};

/// A group's line and band, round by round.
///
/// A run that is done counts as staying where it is while others go on; a run that diverged counts
/// from then on as worse than any number. Interrupted runs are left out, unless there are no
/// others: then they are followed until the first of them ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) label: String,
    /// The index of its group among all groups, which decides the style.
    pub(super) place: usize,
    /// How many runs failed, in words, such as "7 of 10 diverged"; empty if none did.
    pub(super) failures: String,
    /// Whether half of the runs diverged, so that the line leaves the frame with them.
    pub(super) leaves: bool,
    pub(super) points: Vec<CurvePoint>,
}

/// The point of a curve at a recorded round. Efforts are means over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurvePoint {
    pub(super) round: f64,
    pub(super) seconds: f64,
    pub(super) bytes: f64,
    pub(super) spread: BandValue,
}

/// A metric of the records, by the index of its column.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricColumn {
    pub(super) place: usize,
    pub(super) larger_is_better: bool,
}

impl Curve {
    /// A value beyond this counts as infinite, and one below its inverse as zero, so that squares
    /// do not overflow.
    const LARGEST: f64 = 1e100;
    /// The largest number of points: more would make files larger, but no figure better.
    const POINTS: usize = 500;

    /// The curve of a group; `None` if it has neither points nor failed runs.
    pub(super) fn new(
        place: usize,
        group: &PlannedGroup,
        runs: &[Run],
        column: MetricColumn,
        band: Band,
    ) -> Option<Self> {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.label == group.label).collect();
        let count = |ending| runs.iter().filter(|run| run.ending == ending).count();
        let (settled, diverged) = (count(RunEnd::Settled), count(RunEnd::Diverged));
        let unfinished = if group.summarised { group.runs.saturating_sub(settled + diverged) } else { 0 };
        let followed = FollowedRuns::new(&runs, column, band);
        let points = followed.points();
        let curve = Self {
            label: group.label.clone(),
            place,
            failures: failures(diverged, unfinished, group.runs),
            leaves: diverged > 0 && 2 * diverged >= settled + diverged,
            points: thinned(points, Self::POINTS),
        };
        (!curve.points.is_empty() || !curve.failures.is_empty()).then_some(curve)
    }

    /// The style of its line.
    pub(super) fn style(&self) -> LineStyle {
        LineStyle::of(self.place)
    }

    /// Whether there is a band, because runs differ somewhere.
    pub(super) fn has_band(&self) -> bool {
        self.points.iter().any(|point| point.spread.low < point.spread.high)
    }
}

/// The runs that a curve is made of.
struct FollowedRuns<'r> {
    runs: Vec<&'r Run>,
    column: MetricColumn,
    band: Band,
}

impl<'r> FollowedRuns<'r> {
    fn new(runs: &[&'r Run], column: MetricColumn, band: Band) -> Self {
        let of = |wanted: &dyn Fn(RunEnd) -> bool| -> Vec<&'r Run> {
            runs.iter().copied().filter(|run| wanted(run.ending)).collect()
        };
        let mut runs = match band {
            Band::Std => of(&|ending| ending == RunEnd::Settled),
            Band::Quartiles | Band::Range => of(&|ending| ending != RunEnd::Open),
        };
        if runs.is_empty() {
            runs = of(&|ending| ending == RunEnd::Diverged);
        }
        if runs.is_empty() {
            runs = of(&|ending| ending == RunEnd::Open);
        }
        Self { runs, column, band }
    }

    /// The points up to where the line leaves the frame for good, if it does.
    fn points(&self) -> Vec<CurvePoint> {
        let mut points: Vec<CurvePoint> = self.rounds().into_iter().filter_map(|round| self.point(round)).collect();
        let last = points.iter().rposition(|point| point.spread.line.is_finite());
        points.truncate(last.map_or(0, |last| last + 2));
        points
    }

    /// The rounds at which some run was recorded; those of interrupted runs until the first of them
    /// ends.
    fn rounds(&self) -> BTreeSet<u64> {
        let open = self.runs.iter().all(|run| run.ending == RunEnd::Open);
        let ends = self.runs.iter().filter_map(|run| run.rows.last()).map(|row| row.round);
        let end = if open { ends.min() } else { ends.max() }.unwrap_or(0);
        self.runs.iter().flat_map(|run| run.rows.iter().map(|row| row.round)).filter(|round| *round <= end).collect()
    }

    /// The point at a round; `None` if no run has a value.
    fn point(&self, round: u64) -> Option<CurvePoint> {
        let values = self.runs.iter().filter_map(|run| self.value(run, round)).collect();
        let spread = self.band.of(values)?;
        let effort = |part: fn(&Row) -> f64| {
            let rows =
                |runs: Vec<&&Run>| -> Vec<f64> { runs.iter().filter_map(|run| run.at(round)).map(part).collect() };
            // A run that has diverged takes no more time, and must not make the others look fast.
            let going = self.runs.iter().filter(|run| !run.has_left_by(round)).collect();
            moments(&rows(going)).0.or_else(|| moments(&rows(self.runs.iter().collect())).0)
        };
        let (seconds, bytes) = (effort(|row| row.seconds)?, effort(|row| row.bytes)?);
        Some(CurvePoint { round: round as f64, seconds, bytes, spread })
    }

    /// The value of a run at a round; `None` where the metric means nothing.
    fn value(&self, run: &Run, round: u64) -> Option<f64> {
        let worst = if self.column.larger_is_better { f64::NEG_INFINITY } else { f64::INFINITY };
        let value = run.at(round)?.values[self.column.place];
        match value {
            _ if run.has_left_by(round) => Some(worst),
            value if value.is_nan() => (run.ending == RunEnd::Diverged).then_some(worst),
            value if value.abs() >= Curve::LARGEST => Some(f64::INFINITY.copysign(value)),
            value if value.abs() * Curve::LARGEST < 1.0 => Some(0.0),
            value => Some(value),
        }
    }
}

/// At most this many of the points, evenly chosen, with the first and the last.
fn thinned<P: Copy>(points: Vec<P>, most: usize) -> Vec<P> {
    if points.len() <= most {
        return points;
    }
    (0..most).map(|place| points[place * (points.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: f64 = f64::INFINITY;
    const COLUMN: MetricColumn = MetricColumn { place: 0, larger_is_better: false };

    /// A run of group "a", recorded every ten rounds; a round takes half a second and four bytes.
    fn run(ending: RunEnd, values: &[f64]) -> Run {
        let row = |(place, &value): (usize, &f64)| {
            let round = 10 * place as u64;
            Row { round, seconds: 0.5 * round as f64, bytes: 4.0 * round as f64, values: vec![value] }
        };
        Run { label: "a".to_owned(), ending, rows: values.iter().enumerate().map(row).collect() }
    }

    fn group(runs: usize) -> PlannedGroup {
        PlannedGroup { label: "a".to_owned(), runs, summarised: true }
    }

    fn curve_of(runs: &[Run], band: Band) -> Curve {
        Curve::new(0, &group(runs.len()), runs, COLUMN, band).unwrap()
    }

    fn line(runs: &[Run], band: Band) -> Vec<f64> {
        curve_of(runs, band).points.iter().map(|point| point.spread.line).collect()
    }

    #[test]
    fn points_are_medians_and_quartiles_or_means_and_deviations() {
        let runs = [[2.0, 1.0], [4.0, 1.0], [9.0, 4.0]].map(|values| run(RunEnd::Settled, &values));
        let point = |round: f64, [line, low, high]: [f64; 3]| CurvePoint {
            round,
            seconds: 0.5 * round,
            bytes: 4.0 * round,
            spread: BandValue { line, low, high },
        };
        let curve = curve_of(&runs, Band::Quartiles);
        assert_eq!(curve.points, [point(0.0, [4.0, 3.0, 6.5]), point(10.0, [1.0, 1.0, 2.5])]);
        let (first, last) = (13f64.sqrt(), 3f64.sqrt());
        let expected = [point(0.0, [5.0, 5.0 - first, 5.0 + first]), point(10.0, [2.0, 2.0 - last, 2.0 + last])];
        assert_eq!(curve_of(&runs, Band::Std).points, expected);
        assert!(curve.failures.is_empty() && !curve.leaves && curve.has_band());
    }

    #[test]
    fn a_run_that_is_done_stays_where_it_is() {
        let runs = [run(RunEnd::Settled, &[8.0, 2.0]), run(RunEnd::Settled, &[8.0, 6.0, 4.0, 0.0])];
        assert_eq!(line(&runs, Band::Std), [8.0, 4.0, 3.0, 1.0]);
        // A run that is done takes no more time: 5 s of the one and 15 s of the other have a mean
        // of 10 s.
        assert_eq!(curve_of(&runs, Band::Std).points[3].seconds, 10.0);
    }

    #[test]
    fn a_run_that_diverged_counts_as_worst_from_then_on() {
        let settled = |end| run(RunEnd::Settled, &[8.0, 6.0, end]);
        let runs = [run(RunEnd::Diverged, &[8.0, 1e9]), settled(4.0), settled(2.0)];
        let curve = curve_of(&runs, Band::Quartiles);
        assert_eq!(line(&runs, Band::Quartiles), [8.0, 6.0, 4.0]);
        assert_eq!((curve.points[2].spread.high, curve.points[2].seconds), (FAR, 10.0));
        assert_eq!((curve.failures.as_str(), curve.leaves), ("1 of 3 diverged", false));
        assert_eq!(line(&runs, Band::Std), [8.0, 6.0, 3.0], "a mean leaves it out");
        let better = MetricColumn { larger_is_better: true, ..COLUMN };
        let accuracy = Curve::new(0, &group(3), &runs, better, Band::Range).unwrap();
        assert_eq!(accuracy.points[2].spread, BandValue { line: 2.0, low: -FAR, high: 4.0 });
    }

    #[test]
    fn a_line_leaves_with_half_of_its_runs() {
        let runs = [run(RunEnd::Diverged, &[1.0, 10.0, 1e9, f64::NAN]), run(RunEnd::Diverged, &[1.0, 20.0])];
        let curve = curve_of(&runs, Band::Quartiles);
        assert_eq!(line(&runs, Band::Quartiles), [1.0, 15.0, FAR]);
        assert_eq!((curve.failures.as_str(), curve.leaves), ("2 of 2 diverged", true));
    }

    #[test]
    fn interrupted_runs_count_only_if_there_are_no_others() {
        let open = [run(RunEnd::Open, &[4.0, 2.0, 1.0]), run(RunEnd::Open, &[2.0])];
        assert_eq!(line(&open, Band::Quartiles), [3.0]);
        let with_settled = [open[0].clone(), run(RunEnd::Settled, &[4.0, 4.0])];
        assert_eq!(line(&with_settled, Band::Quartiles), [4.0, 4.0]);
        assert_eq!(curve_of(&with_settled, Band::Quartiles).failures, "1 of 2 unfinished");
        let missing = Curve::new(0, &group(5), &[], COLUMN, Band::Quartiles).unwrap();
        assert_eq!((missing.points.len(), missing.failures.as_str()), (0, "5 of 5 unfinished"));
    }

    #[test]
    fn what_is_no_number_is_no_point() {
        let none = [run(RunEnd::Settled, &[f64::NAN, f64::NAN])];
        assert_eq!(Curve::new(0, &group(1), &none, COLUMN, Band::Quartiles), None);
        let runs = [run(RunEnd::Settled, &[f64::NAN, 3.0]), run(RunEnd::Settled, &[5.0, 5.0])];
        assert_eq!(line(&runs, Band::Quartiles), [5.0, 4.0]);
        assert_eq!(line(&[run(RunEnd::Settled, &[1e-99, -1e-101])], Band::Quartiles), [1e-99, 0.0]);
        assert_eq!(line(&[run(RunEnd::Settled, &[1.0, 1e200, -1e200])], Band::Quartiles), [1.0, FAR]);
    }

    #[test]
    fn thinning_keeps_the_first_and_the_last() {
        let thin = thinned((0..=10_000).collect(), 101);
        assert_eq!((thin.len(), thin[0], thin[100]), (101, 0, 10_000));
        assert!(thin.windows(2).all(|pair| pair[1] - pair[0] == 100));
        assert_eq!(thinned(vec![1, 2, 3], 3), [1, 2, 3]);
        let long: Vec<f64> = (0..=2000).map(f64::from).collect();
        assert_eq!(curve_of(&[run(RunEnd::Settled, &long)], Band::Quartiles).points.len(), Curve::POINTS);
    }
}
