//! The turns of HGP.

use crate::direction::Itd;
use crate::settings::{POSITIVE, SettingsReader};

/// How often agents do what.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    inner_rounds: u64,
    terms: u64,
    pushes: u64,
    pub(super) damping: Option<f64>,
}

/// What a round is for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Turn {
    /// Agents step along the lower gradient.
    Lower,
    /// Agents push a term of the series.
    Series {
        /// Whether this is the first round of the series.
        begins: bool,
        /// Whether this is the last round of the term.
        ends_term: bool,
    },
    /// Agents step along the hypergradient.
    Upper,
}

impl Turn {
    /// The same for an agent that starts here: a series whose beginning it has missed begins now,
    /// and has fewer terms.
    pub(super) fn at_a_start(self) -> Self {
        match self {
            Self::Series { ends_term, .. } => Self::Series { begins: true, ends_term },
            other => other,
        }
    }

    /// The block that moves.
    pub(super) fn block(self) -> usize {
        usize::from(self == Self::Lower)
    }
}

impl Turns {
    /// Reads how often agents do what.
    pub(in crate::algorithm) fn read(keys: &mut SettingsReader<'_>) -> Self {
        let about = "δ of the Neumann series, at most 1/L of g; the step size of y if not given";
        Self {
            inner_rounds: Itd::read(keys),
            terms: keys.whole("terms", 10, 1.., "terms of the Neumann series"),
            pushes: keys.whole("pushes", 3, 1.., "exchanges for each term"),
            damping: keys.optional_number("damping", POSITIVE, about),
        }
    }

    /// What a round is for.
    pub(super) fn turn(&self, round: u64) -> Turn {
        let series = self.terms.saturating_mul(self.pushes);
        let place = round % (self.inner_rounds.saturating_add(series).saturating_add(1));
        match place.checked_sub(self.inner_rounds) {
            None => Turn::Lower,
            Some(push) if push < series => {
                Turn::Series { begins: push == 0, ends_term: (push + 1).is_multiple_of(self.pushes) }
            }
            Some(_) => Turn::Upper,
        }
    }
}
