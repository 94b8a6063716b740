//! Verdicts on statements.

use super::results::CellResult;
use super::statement::{Cost, Statement, StatementSide};
use crate::results::{median, quantile};

/// The median and the quartiles of a cost over test seeds; a run that never reaches the target has
/// an infinite one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
    /// The number of runs that reached the target, and of all runs.
    pub(super) reached: [usize; 2],
}

impl Spread {
    /// The costs of a cell's runs until a target; none if it was refused.
    pub(super) fn of(result: &CellResult, cost: Cost, target: f64) -> Option<Self> {
        let needed = |run: &super::results::TestRun| {
            let at = run.reached.iter().find(|at| at.target <= target);
            at.map_or(f64::INFINITY, |at| cost.of(at))
        };
        let mut costs: Vec<f64> = result.runs.iter().map(needed).collect();
        costs.sort_by(f64::total_cmp);
        let reached = [costs.iter().filter(|cost| cost.is_finite()).count(), costs.len()];
        let median = median(&costs)?;
        Some(Self { low: quantile(&costs, 0.25), median, high: quantile(&costs, 0.75), reached })
    }

    /// The same, multiplied.
    fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, median: self.median * factor, high: self.high * factor, ..self }
    }
}

/// What a pair of cells shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairVerdict {
    /// The side that is said to be better is: its upper quartile is below the other's lower one.
    Better,
    /// The quartiles overlap.
    Tie,
    /// The other side is better.
    Worse,
    /// Neither side reaches the target in half of its runs.
    Neither,
}

impl PairVerdict {
    /// Compares the costs of two sides.
    pub(super) fn of(better: Spread, worse: Spread) -> Self {
        if better.median.is_infinite() && worse.median.is_infinite() {
            Self::Neither
        } else if better.high < worse.low {
            Self::Better
        } else if worse.high < better.low {
            Self::Worse
        } else {
            Self::Tie
        }
    }
}

/// How many pairs of cells of a statement show what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PairCounts {
    pub(super) better: usize,
    pub(super) tie: usize,
    pub(super) worse: usize,
    pub(super) neither: usize,
}

impl PairCounts {
    pub(super) fn add(&mut self, comparison: PairVerdict) {
        match comparison {
            PairVerdict::Better => self.better += 1,
            PairVerdict::Tie => self.tie += 1,
            PairVerdict::Worse => self.worse += 1,
            PairVerdict::Neither => self.neither += 1,
        }
    }

    /// The verdict in words.
    pub(super) fn verdict(self) -> &'static str {
        match (self.better, self.tie, self.worse) {
            (0, 0, 0) if self.neither > 0 => "neither side gets there",
            (0, 0, 0) => "not run",
            (0, _, 0) => "tie",
            (better, tie, 0) if better > tie => "holds",
            (_, _, 0) => "holds in part, else ties",
            (0, ..) => "does not hold",
            _ => "mixed",
        }
    }
}

/// The costs of both sides of a pair, as the statement counts them.
pub(super) fn sides(statement: &Statement, pair: [&CellResult; 2]) -> Option<[Spread; 2]> {
    let spread = |result, side: &StatementSide| {
        Spread::of(result, statement.by, statement.target).map(|spread| spread.times(side.times))
    };
    Some([spread(pair[0], &statement.better)?, spread(pair[1], &statement.worse)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(low: f64, median: f64, high: f64) -> Spread {
        Spread { low, median, high, reached: [5, 5] }
    }

    #[test]
    fn quartiles_that_overlap_are_a_tie() {
        let (fast, slow) = (spread(1.0, 2.0, 3.0), spread(4.0, 5.0, 6.0));
        assert_eq!(PairVerdict::of(fast, slow), PairVerdict::Better);
        assert_eq!(PairVerdict::of(slow, fast), PairVerdict::Worse);
        assert_eq!(PairVerdict::of(spread(1.0, 2.0, 4.0), slow), PairVerdict::Tie);
        let never = spread(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        assert_eq!(PairVerdict::of(fast, never), PairVerdict::Better);
        assert_eq!(PairVerdict::of(never, never), PairVerdict::Neither);
    }

    #[test]
    fn a_statement_holds_only_where_nothing_speaks_against_it() {
        let verdict = |better, tie, worse| PairCounts { better, tie, worse, neither: 0 }.verdict();
        assert_eq!(verdict(3, 1, 0), "holds");
        assert_eq!(verdict(1, 3, 0), "holds in part, else ties");
        assert_eq!(verdict(0, 2, 0), "tie");
        assert_eq!(verdict(0, 1, 1), "does not hold");
        assert_eq!(verdict(5, 0, 1), "mixed");
        assert_eq!(verdict(0, 0, 0), "not run");
    }
}
