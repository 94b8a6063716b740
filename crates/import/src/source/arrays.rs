//! Arrays of `NumPy` in one file (NPZ).

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::npy::{ArrayHeader, Element};
use super::row_source::{RowSource, Visitor};
use crate::error::ImportError;
use crate::error::failed;
use crate::flaw::Flaw;
use crate::layout::FeatureLayout;
use crate::request::{ImportRequest, SiteSource, Verified};
use crate::row::{Features, LabelledRow};

/// An array of features, and one of labels. Rows of features are read one after the other; labels
/// are kept.
pub(super) struct Arrays {
    path: PathBuf,
    features: String,
    header: ArrayHeader,
    labels: Vec<i64>,
    sites: Option<Vec<i64>>,
    verified: Option<Vec<bool>>,
    layout: FeatureLayout,
}

/// The array of labels if none is named.
const USUAL_LABELS: &str = "y";

impl Arrays {
    /// Reads the header of the features, and the other arrays.
    pub(super) fn open(path: &Path, request: &ImportRequest) -> Result<Self, ImportError> {
        let header = with_array(path, &request.features, |array| ArrayHeader::read(array))?;
        if header.shape.len() < 2 || header.row() == 0 {
            let problem = format!("`{}` is {:?}: expected rows of features", request.features, header.shape);
            return Err(ImportError::input(path, problem));
        }
        let label = request.label.as_deref().unwrap_or(USUAL_LABELS);
        let of_rows = |name: &str| row_numbers(path, name, header.shape[0]);
        let labels = of_rows(label)?;
        let sites = match &request.sites {
            SiteSource::Column(name) => Some(of_rows(name)?),
            _ => None,
        };
        let verified = match &request.verified {
            Verified::Column(name) => Some(of_rows(name)?.iter().map(|&number| number != 0).collect()),
            Verified::Fraction(_) => None,
        };
        // Bytes in rows and columns are pictures; in one row they may be anything.
        let bytes = header.element == Element::Unsigned(1) && header.shape.len() > 2;
        let shape = if header.shape.len() == 3 { header.shape[1..].to_vec() } else { vec![header.row()] };
        let layout = FeatureLayout { shape, bytes, columns: None };
        let features = request.features.clone();
        Ok(Self { path: path.to_owned(), features, header, labels, sites, verified, layout })
    }

    /// Visits the rows that `array` holds after its header.
    fn visit_rows(&self, array: &mut dyn Read, visit: &mut Visitor<'_>) -> Result<(), ImportError> {
        let mut bytes = vec![0; self.header.row() * self.header.element.size()];
        let mut numbers = Vec::with_capacity(self.header.row());
        for row in 0..self.header.shape[0] {
            array.read_exact(&mut bytes).map_err(failed(&self.path))?;
            let label = self.labels[row].to_string();
            let site = self.sites.as_ref().map(|sites| sites[row].to_string());
            let features = self.features_of(row, &bytes, &mut numbers);
            visit(features.map(|features| LabelledRow {
                position: row as u64,
                label: &label,
                site: site.as_deref(),
                verified: self.verified.as_ref().map(|verified| verified[row]),
                features,
            }))?;
        }
        Ok(())
    }

    /// The features that the bytes of a row stand for. Its numbers go into `numbers`.
    fn features_of<'a>(&self, row: usize, bytes: &'a [u8], numbers: &'a mut Vec<f64>) -> Result<Features<'a>, Flaw> {
        if self.layout.bytes {
            return Ok(Features::Bytes(bytes));
        }
        let element = self.header.element;
        numbers.clear();
        numbers.extend(bytes.chunks_exact(element.size()).map_while(|bytes| element.number(bytes)));
        if numbers.len() < self.header.row() {
            Err(self.flaw(row, numbers.len()))
        } else {
            Ok(Features::Numbers(numbers))
        }
    }

    fn flaw(&self, row: usize, column: usize) -> Flaw {
        Flaw {
            place: self.place(row as u64),
            column: Some(column.to_string()),
            problem: "not a finite number that a float64 holds".to_owned(),
        }
    }
}

impl RowSource for Arrays {
    fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    fn visit(&self, visit: &mut Visitor<'_>) -> Result<(), ImportError> {
        let mut result = Ok(());
        with_array(&self.path, &self.features, |array| {
            let header = ArrayHeader::read(array)?;
            if header != self.header {
                return Err("it has changed while it was read".to_owned());
            }
            result = self.visit_rows(array, visit);
            Ok(())
        })?;
        result
    }

    fn place(&self, position: u64) -> String {
        format!("{}[{position}]", self.path.display())
    }
}

/// Reads an array of an archive.
fn with_array<R>(
    path: &Path,
    name: &str,
    read: impl FnOnce(&mut BufReader<&mut dyn Read>) -> Result<R, String>,
) -> Result<R, ImportError> {
    let file = BufReader::new(File::open(path).map_err(failed(path))?);
    let wrong = |problem: String| ImportError::input(path, problem);
    let mut archive = ZipArchive::new(file).map_err(|error| wrong(format!("it is not an NPZ file: {error}")))?;
    let there: Vec<String> = archive.file_names().map(|name| name.trim_end_matches(".npy").to_owned()).collect();
    let mut array = archive.by_name(&format!("{name}.npy")).map_err(|error| match error {
        zip::result::ZipError::FileNotFound => wrong(format!(
            "there is no array `{name}`; it has {}: name others with --features and --label",
            there.join(", ")
        )),
        error => wrong(format!("`{name}`: {error}")),
    })?;
    let array: &mut dyn Read = &mut array;
    read(&mut BufReader::new(array)).map_err(|problem| wrong(format!("`{name}`: {problem}")))
}

/// An array with a whole number for each row.
fn row_numbers(path: &Path, name: &str, rows: usize) -> Result<Vec<i64>, ImportError> {
    let numbers = whole_numbers(path, name)?;
    if numbers.len() == rows {
        return Ok(numbers);
    }
    let problem = format!("`{name}` has {} rows, the features have {rows}", numbers.len());
    Err(ImportError::input(path, problem))
}

/// All elements of an array of whole numbers.
fn whole_numbers(path: &Path, name: &str) -> Result<Vec<i64>, ImportError> {
    with_array(path, name, |array| {
        let header = ArrayHeader::read(array)?;
        let mut element = vec![0; header.element.size()];
        let rows = header.shape.iter().product::<usize>();
        let number = |row: usize| {
            array.read_exact(&mut element).map_err(|error| error.to_string())?;
            let number = header.element.whole(&element).and_then(|number| i64::try_from(number).ok());
            number.ok_or_else(|| format!("element {row} is not a whole number; classes and sites are"))
        };
        (0..rows).map(number).collect()
    })
}
