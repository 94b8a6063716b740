//! Tables in text files.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::ByteRecord;

use super::columns::Columns;
use super::row_source::{RowSource, Visitor};
use crate::error::{ImportError, failed};
use crate::flaw::Flaw;
use crate::layout::FeatureLayout;
use crate::request::ImportRequest;
use crate::row::{Features, LabelledRow, RowResult, truth_of};

/// A table: a line for each row, and one that names the columns.
pub(super) struct Table {
    path: PathBuf,
    delimiter: u8,
    header: bool,
    columns: Columns,
    layout: FeatureLayout,
}

impl Table {
    /// Reads the names of the columns, and finds those that were asked for.
    pub(super) fn open(path: &Path, request: &ImportRequest) -> Result<Self, ImportError> {
        let names = column_names(path, request)?;
        let columns = Columns::find(names, request).map_err(|problem| ImportError::input(path, problem))?;
        let names = Some(columns.feature_names());
        let layout = FeatureLayout { shape: vec![columns.features.len()], bytes: false, columns: names };
        let (delimiter, header) = (request.delimiter, request.header);
        Ok(Self { path: path.to_owned(), delimiter, header, columns, layout })
    }

    /// The row of a line, or what is wrong with it. Its numbers go into `numbers`.
    fn row<'a>(&self, line: u64, cells: &'a ByteRecord, numbers: &'a mut Vec<f64>) -> RowResult<'a> {
        let (there, expected) = (cells.len(), self.columns.names.len());
        if there != expected {
            return Err(self.flaw(line, None, format!("{there} columns, expected {expected}")));
        }
        let text = |column: usize| cell_text(&cells[column]).map_err(|problem| self.flaw(line, Some(column), problem));
        numbers.clear();
        for &column in &self.columns.features {
            let number = number(text(column)?).map_err(|problem| self.flaw(line, Some(column), problem))?;
            numbers.push(number);
        }
        let truth = |column: usize| truth(text(column)?).map_err(|problem| self.flaw(line, Some(column), problem));
        Ok(LabelledRow {
            position: line,
            label: text(self.columns.label)?,
            site: self.columns.site.map(text).transpose()?,
            verified: self.columns.verified.map(truth).transpose()?,
            features: Features::Numbers(numbers),
        })
    }

    fn flaw(&self, line: u64, column: Option<usize>, problem: String) -> Flaw {
        Flaw { place: self.place(line), column: column.map(|column| self.columns.names[column].clone()), problem }
    }

    /// A broken row with an end of line within a cell has swallowed other rows: leaving it out
    /// would lose them. In a column that is left out, texts of several lines are welcome.
    fn refuse_swallowed(&self, cells: &ByteRecord, line: u64, next: u64) -> Result<(), ImportError> {
        let spans = |column: usize| cells.get(column).is_some_and(|cell| cell.contains(&b'\n'));
        let swallowed = if cells.len() == self.columns.names.len() {
            self.columns.used().any(spans)
        } else {
            (0..cells.len()).any(spans)
        };
        if !swallowed {
            return Ok(());
        }
        let last = next - 1;
        let problem =
            format!("the row that begins in line {line} reaches to line {last}: a quotation mark is left open");
        Err(ImportError::input(&self.path, problem))
    }
}

impl RowSource for Table {
    fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    fn visit(&self, visit: &mut Visitor<'_>) -> Result<(), ImportError> {
        let mut reader = reader(&self.path, self.delimiter, self.header)?;
        let (mut cells, mut numbers) = (ByteRecord::new(), Vec::new());
        let wrong = |error: csv::Error| failed(&self.path)(error.into());
        while reader.read_byte_record(&mut cells).map_err(wrong)? {
            let line = cells.position().map_or(0, csv::Position::line);
            let next = reader.position().line();
            if next > line + 1 {
                self.refuse_swallowed(&cells, line, next)?;
            }
            visit(self.row(line, &cells, &mut numbers))?;
        }
        Ok(())
    }

    fn place(&self, position: u64) -> String {
        format!("{}:{position}", self.path.display())
    }
}

fn reader(path: &Path, delimiter: u8, header: bool) -> Result<csv::Reader<File>, ImportError> {
    let file = File::open(path).map_err(failed(path))?;
    let mut builder = csv::ReaderBuilder::new();
    Ok(builder.has_headers(header).delimiter(delimiter).flexible(true).buffer_capacity(1 << 16).from_reader(file))
}

/// The names in the first line, or the numbers of the columns.
fn column_names(path: &Path, request: &ImportRequest) -> Result<Vec<String>, ImportError> {
    let mut reader = reader(path, request.delimiter, false)?;
    let mut first = ByteRecord::new();
    if !reader.read_byte_record(&mut first).map_err(|error| failed(path)(error.into()))? {
        return Err(ImportError::input(path, "the file is empty"));
    }
    if !request.header {
        return Ok((1..=first.len()).map(|column| column.to_string()).collect());
    }
    // Programs for spreadsheets begin files with a mark of their encoding.
    let text = |cell: &[u8]| String::from_utf8_lossy(cell).trim_start_matches('\u{feff}').trim().to_owned();
    let names: Vec<String> = first.iter().map(text).collect();
    match names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        Some((_, name)) => Err(ImportError::input(path, format!("two columns are named `{name}`: rename one"))),
        None => Ok(names),
    }
}

/// The text of a cell, without blanks around it.
fn cell_text(cell: &[u8]) -> Result<&str, String> {
    match std::str::from_utf8(cell).map(str::trim) {
        Ok("") => Err("empty, expected a value".to_owned()),
        Ok(text) => Ok(text),
        Err(_) => Err("not a text in UTF-8".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("{}, expected a finite number", shortened(text)))
}

fn truth(text: &str) -> Result<bool, String> {
    truth_of(text).ok_or_else(|| format!("{}, expected 0, 1, true or false", shortened(text)))
}

/// A text in quotation marks, of a length that a message can bear.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        return format!("\"{text}\"");
    }
    format!("\"{}…\"", text.chars().take(MOST).collect::<String>())
}
