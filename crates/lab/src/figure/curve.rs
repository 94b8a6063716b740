//! A line of a chart: what the runs of a group have in common.

use std::collections::BTreeSet;

use super::canvas::Pen;
use super::palette;
use super::records::{Ending, Row, Run};
use crate::summary::moments;

/// The mean over the runs of a group, round by round, and how far they are spread around it.
///
/// A run that ended because it was done stays where it is while others go on. Runs that diverged are left out, and so are interrupted ones;
/// a group that has no others is followed until the first of them ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) label: String,
    /// Of its group among all groups.
    pub(super) place: usize,
    /// Whether all runs did.
    pub(super) diverged: bool,
    pub(super) points: Vec<Point>,
}

/// A recorded round, on average over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) round: f64,
    pub(super) seconds: f64,
    pub(super) bytes: f64,
    pub(super) mean: f64,
    /// The standard deviation, of the sample.
    pub(super) deviation: f64,
}

impl Curve {
    /// Beyond this a value is as good as infinite, and below its inverse as good as zero: squares still have to be numbers.
    const LARGEST: f64 = 1e100;
    /// More points than this would make files larger, but no figure better.
    const POINTS: usize = 500;

    /// The curve of a metric over the runs of the group of this label, if there is any number.
    pub(super) fn new(place: usize, label: &str, runs: &[Run], metric: usize) -> Option<Self> {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.label == label).collect();
        let ending = runs.iter().map(|run| run.ending).min()?;
        let believed: Vec<&Run> = runs.into_iter().filter(|run| run.ending == ending).collect();
        let diverged = ending == Ending::Diverged;
        let points = rounds(&believed, ending).into_iter().filter_map(|round| Point::new(round, &believed, metric));
        // How far runs are spread that go astray says nothing.
        let points = points.map(|point| if diverged { Point { deviation: 0.0, ..point } } else { point }).collect();
        let curve = Self { label: label.to_owned(), place, diverged, points: thinned(points, Self::POINTS) };
        (!curve.points.is_empty()).then_some(curve)
    }

    /// What it is drawn with.
    pub(super) fn pen(&self) -> Pen {
        let usual = palette::pen(self.place);
        if self.diverged { Pen { dashes: palette::DOTS, ..usual } } else { usual }
    }
}

impl Point {
    fn new(round: u64, runs: &[&Run], metric: usize) -> Option<Self> {
        let rows = runs.iter().filter_map(|run| run.at(round));
        let rows: Vec<&Row> = rows.filter(|row| row.values[metric].abs() < Curve::LARGEST).collect();
        let of = |part: fn(&Row) -> f64| moments(&rows.iter().map(|row| part(row)).collect::<Vec<_>>()).0;
        let value = |row: &&Row| if row.values[metric].abs() * Curve::LARGEST < 1.0 { 0.0 } else { row.values[metric] };
        let (mean, deviation) = moments(&rows.iter().map(value).collect::<Vec<_>>());
        Some(Self {
            round: round as f64,
            seconds: of(|row| row.seconds)?,
            bytes: of(|row| row.bytes)?,
            mean: mean?,
            deviation: deviation.unwrap_or(0.0),
        })
    }
}

/// The rounds at which some run was recorded, up to the end of the last of them if they are done and of the first if not.
fn rounds(runs: &[&Run], ending: Ending) -> BTreeSet<u64> {
    let ends = runs.iter().filter_map(|run| run.rows.last()).map(|row| row.round);
    let end = if ending == Ending::Settled { ends.max() } else { ends.min() }.unwrap_or(0);
    runs.iter().flat_map(|run| run.rows.iter().map(|row| row.round)).filter(|round| *round <= end).collect()
}

/// At most so many of them, evenly, with the first and the last.
fn thinned<P: Copy>(points: Vec<P>, most: usize) -> Vec<P> {
    if points.len() <= most {
        return points;
    }
    (0..most).map(|place| points[place * (points.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of group "a", recorded every ten rounds; a round takes half a second and four bytes.
    fn run(ending: Ending, values: &[f64]) -> Run {
        let row = |(place, &value): (usize, &f64)| {
            let round = 10 * place as u64;
            Row { round, seconds: 0.5 * round as f64, bytes: 4.0 * round as f64, values: vec![value] }
        };
        Run { label: "a".to_owned(), ending, rows: values.iter().enumerate().map(row).collect() }
    }

    fn curve(runs: &[Run]) -> Curve {
        Curve::new(0, "a", runs, 0).unwrap()
    }

    fn means(curve: &Curve) -> Vec<f64> {
        curve.points.iter().map(|point| point.mean).collect()
    }

    #[test]
    fn points_are_means_and_sample_deviations() {
        let runs = [[2.0, 1.0], [4.0, 1.0], [9.0, 4.0]].map(|values| run(Ending::Settled, &values));
        let points = curve(&runs).points;
        // Deviations from 5 are 3, 1, 4: their squares sum to 26, over n − 1 = 2.
        let start = Point { round: 0.0, seconds: 0.0, bytes: 0.0, mean: 5.0, deviation: 13f64.sqrt() };
        let end = Point { round: 10.0, seconds: 5.0, bytes: 40.0, mean: 2.0, deviation: 3f64.sqrt() };
        assert_eq!(points, [start, end]);
    }

    #[test]
    fn a_run_that_is_done_stays_where_it_is() {
        let runs = [run(Ending::Settled, &[8.0, 2.0]), run(Ending::Settled, &[8.0, 6.0, 4.0, 0.0])];
        let curve = curve(&runs);
        assert_eq!(means(&curve), [8.0, 4.0, 3.0, 1.0]);
        // It takes no more time either: 5 s of the one, 15 s of the other.
        assert_eq!(curve.points[3].seconds, 10.0);
    }

    #[test]
    fn diverged_runs_are_left_out() {
        let runs = [run(Ending::Diverged, &[8.0, 1e9]), run(Ending::Settled, &[8.0, 6.0, 4.0])];
        let curve = curve(&runs);
        assert_eq!(means(&curve), [8.0, 6.0, 4.0]);
        assert!(!curve.diverged);
    }

    #[test]
    fn a_group_that_diverged_is_followed_until_the_first_run_leaves() {
        let runs = [run(Ending::Diverged, &[1.0, 10.0, 1e9, f64::INFINITY]), run(Ending::Diverged, &[1.0, 20.0])];
        let curve = curve(&runs);
        assert_eq!(means(&curve), [1.0, 15.0]);
        assert!(curve.diverged && curve.points.iter().all(|point| point.deviation == 0.0));
    }

    #[test]
    fn interrupted_runs_count_only_if_there_are_no_others() {
        let open = [run(Ending::Open, &[4.0, 2.0, 1.0]), run(Ending::Open, &[2.0])];
        assert_eq!(means(&curve(&open)), [3.0]);
        let with_settled = [open[0].clone(), run(Ending::Settled, &[4.0, 4.0])];
        assert_eq!(means(&curve(&with_settled)), [4.0, 4.0]);
    }

    #[test]
    fn what_is_no_number_is_no_point() {
        assert_eq!(Curve::new(0, "a", &[run(Ending::Settled, &[f64::NAN, f64::INFINITY, 1e200])], 0), None);
        let runs = [run(Ending::Settled, &[f64::NAN, 3.0]), run(Ending::Settled, &[5.0, 5.0])];
        assert_eq!(means(&curve(&runs)), [5.0, 4.0]);
        assert_eq!(Curve::new(0, "b", &runs, 0), None);
        assert_eq!(means(&curve(&[run(Ending::Settled, &[1e-99, -1e-101])])), [1e-99, 0.0]);
    }

    #[test]
    fn thinning_keeps_the_first_and_the_last() {
        let thin = thinned((0..=10_000).collect(), 101);
        assert_eq!((thin.len(), thin[0], thin[100]), (101, 0, 10_000));
        assert!(thin.windows(2).all(|pair| pair[1] - pair[0] == 100));
        assert_eq!(thinned(vec![1, 2, 3], 3), [1, 2, 3]);
        let long: Vec<f64> = (0..=2000).map(f64::from).collect();
        assert_eq!(curve(&[run(Ending::Settled, &long)]).points.len(), Curve::POINTS);
    }
}
