//! What a page shows of results.

use std::collections::{BTreeMap, BTreeSet};

use super::cell::BenchCell;
use super::design::Design;
use super::results::{BenchResults, CellResult};
use super::statement::Statement;

/// What a page shows: the results that are of the design as it is now.
pub(super) struct ShownResults<'a> {
    pub(super) design: &'a Design,
    pub(super) results: BTreeMap<BenchCell, &'a CellResult>,
    /// The reasons why cells were refused, each with the number of its note.
    pub(super) notes: BTreeMap<&'a str, usize>,
}

impl<'a> ShownResults<'a> {
    /// The results that are of this design.
    pub(super) fn new(design: &'a Design, results: &'a BenchResults) -> Self {
        let of_design = results.cells.iter().filter(|result| result.digest == design.digest(&result.cell));
        let results: BTreeMap<BenchCell, &CellResult> = of_design.map(|result| (result.cell.clone(), result)).collect();
        let reasons: BTreeSet<&str> = results.values().filter_map(|result| result.refused.as_deref()).collect();
        Self { design, results, notes: reasons.into_iter().zip(1..).collect() }
    }

    /// The result of a cell, if it was run or refused.
    pub(super) fn result(&self, cell: &BenchCell) -> Option<&'a CellResult> {
        self.results.get(cell).copied()
    }

    /// The note that says why a cell was refused.
    pub(super) fn refusal(&self, result: &CellResult) -> Option<usize> {
        self.notes.get(result.refused.as_deref()?).copied()
    }

    /// The targets, the easiest first.
    pub(super) fn targets(&self) -> &[f64] {
        &self.design.spec.targets
    }

    /// A method as tables name it: those of unconfirmed recursions are our readings.
    pub(super) fn name(&self, method: &str) -> String {
        let reading = self.design.method(method).is_some_and(|known| known.reading_of.is_some());
        if reading { format!("{method} \\*") } else { method.to_owned() }
    }

    /// The papers of which the sides of a statement are our readings.
    pub(super) fn readings<'s>(&'s self, statement: &'s Statement) -> BTreeSet<&'s str> {
        let sides = [&statement.better, &statement.worse];
        let methods = sides.into_iter().filter_map(|side| self.design.method(&side.method)?.reading_of.as_deref());
        methods.chain(statement.reading_of.as_deref()).collect()
    }
}
