//! One row of an input, as every format gives it.

use crate::flaw::Flaw;

/// A row with its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelledRow<'a> {
    /// Where it stands in its input: a line, an index, or the number of a file.
    pub(crate) position: u64,
    /// The name of its class.
    pub(crate) label: &'a str,
    /// The name of its site, if a column says so.
    pub(crate) site: Option<&'a str>,
    /// Whether its label is verified, if a column says so.
    pub(crate) verified: Option<bool>,
    /// The features of the row.
    pub(crate) features: Features<'a>,
}

/// The features of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Features<'a> {
    /// Values from 0 to 255 that stand for 0 to 1.
    Bytes(&'a [u8]),
    /// Numbers as they are.
    Numbers(&'a [f64]),
}

impl Features<'_> {
    /// Visits each feature by its number. Bytes are what they stand for.
    pub(crate) fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Bytes(bytes) => {
                bytes.iter().enumerate().for_each(|(number, &byte)| visit(number, f64::from(byte) / 255.0));
            }
            Self::Numbers(numbers) => numbers.iter().enumerate().for_each(|(number, &value)| visit(number, value)),
        }
    }
}

/// The answer of an input for one of its rows.
pub(crate) type RowResult<'a> = Result<LabelledRow<'a>, Flaw>;

/// The number of a text such as `1`, `true`, `0` or `false`; anything else is no answer.
pub(crate) fn truth_of(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}
