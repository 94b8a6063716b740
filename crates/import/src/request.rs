//! What is to be imported, and how.

use std::path::PathBuf;

use crate::scaling::ScalingKind;

/// An import: where rows come from, and what becomes of them.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// Files or folders of one format. Unless `sites` says otherwise, each is the data of a site.
    pub inputs: Vec<PathBuf>,
    /// The format; if not given, it follows from the names of the inputs.
    pub format: Option<InputFormat>,
    /// The column or array of labels.
    pub label: Option<String>,
    /// The array of inputs in an NPZ file.
    pub features: String,
    /// Columns of a table that are left out.
    pub drop: Vec<String>,
    /// Whether the first line of a table names its columns; without names, columns count from 1.
    pub header: bool,
    /// What separates the columns of a table.
    pub delimiter: u8,
    /// Whether images have grey values or colours.
    pub colours: Colours,
    /// Which rows belong to one site.
    pub sites: SiteSource,
    /// The agent of the first site.
    pub first_agent: usize,
    /// The classes in their order; if not given, all that are found, sorted.
    pub classes: Option<Vec<String>>,
    /// Which labels are verified.
    pub verified: Verified,
    /// The fraction of the rows of each site that is kept for tests.
    pub test: f64,
    /// How features are scaled.
    pub scaling: ScalingKind,
    /// The precision of features in the files.
    pub precision: FilePrecision,
    /// A recipe of another import, whose columns, classes and scaling are taken over.
    pub like: Option<PathBuf>,
    /// Whether broken rows are left out and counted, instead of refusing the import.
    pub skip_broken: bool,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// The folder in which `own/` is made.
    pub out: PathBuf,
}

/// A format of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// A table in a text file.
    Csv,
    /// Arrays as `numpy.savez` writes them.
    Npz,
    /// A folder of images with a folder for each class.
    Images,
}

/// How the pixels of images become features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// One grey value for each pixel; colours are converted by their luminance.
    Grey,
    /// Red, green and blue for each pixel.
    Rgb,
}

/// Which rows belong to one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteSource {
    /// Those of one input.
    Inputs,
    /// Those with one value in this column or array.
    Column(String),
    /// All rows are divided among this many sites at random.
    Divide(usize),
}

/// Which labels are verified.
#[derive(Clone, Debug, PartialEq)]
pub enum Verified {
    /// A fraction of the rows of each site, at random.
    Fraction(f64),
    /// Those with `1` or `true` in this column or array.
    Column(String),
}

/// The precision of features in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePrecision {
    /// Four bytes a feature.
    Single,
    /// Eight bytes a feature.
    Double,
}
