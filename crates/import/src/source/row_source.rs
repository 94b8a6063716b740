//! What every format of inputs can do.

use crate::error::ImportError;
use crate::layout::FeatureLayout;
use crate::row::RowResult;

/// What is called for each row of an input.
pub(crate) type Visitor<'v> = dyn FnMut(RowResult<'_>) -> Result<(), ImportError> + 'v;

/// An input that can be read more than once.
pub(crate) trait RowSource {
    /// What its rows consist of.
    fn layout(&self) -> &FeatureLayout;

    /// Visits all rows in their order, the broken ones as flaws.
    fn visit(&self, visit: &mut Visitor<'_>) -> Result<(), ImportError>;

    /// What people find a row by: a line, an index or a file.
    fn place(&self, position: u64) -> String;

    /// A sentence on what was left out beside broken rows, if anything was.
    fn left_out(&self) -> Option<String> {
        None
    }
}
