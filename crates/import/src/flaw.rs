//! A broken row.

use std::fmt;

/// What is wrong with a row that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where it is: a file with a line or an index, or an image.
    pub place: String,
    /// The column, if it is one.
    pub column: Option<String>,
    /// What is there, and what was expected.
    pub problem: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(column) = &self.column {
            write!(f, "column `{column}`: ")?;
        }
        f.write_str(&self.problem)
    }
}
