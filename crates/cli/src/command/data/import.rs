//! `fabnet data import`: own data of agents, from tables, arrays and folders of images.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fabnet_import::{Colours, FilePrecision, ImportRequest, InputFormat, ScalingKind, SiteSource, Verified};

use crate::command::existing::require_path;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet data import patients.csv --label diagnosis --site hospital --drop id --out data
  fabnet data import north/ south/ --out data          folders of images, a site each
  fabnet data import train.npz --sites 5 --out data    arrays x and y, divided among five agents
  fabnet data import mine.csv --label diagnosis --like own/import.json --first-agent 2 --out data

Broken rows are refused, and the first ten are named; --skip-broken leaves them out and counts them. \
docs/learning.md explains the formats, and how sites that do not show each other their data import \
it in the same way.")]
pub(crate) struct Import {
    /// Files or folders of one format; each is the data of a site, unless --site or --sites says
    /// otherwise
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The folder for the files own/AGENT.safetensors
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The format; if not given, it follows from the names of the inputs
    #[arg(long)]
    format: Option<FormatName>,
    /// The column of labels; of NPZ files the array, `y` if not given
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// The array of inputs in an NPZ file
    #[arg(long, value_name = "ARRAY", default_value = "x")]
    features: String,
    /// Columns to leave out, such as identifiers
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    drop: Vec<String>,
    /// The table has no line that names its columns: they count from 1
    #[arg(long)]
    no_header: bool,
    /// What separates columns: a character, or `tab`
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// What pixels become
    #[arg(long, default_value = "grey")]
    colours: ColourName,
    /// Rows with one value in this column are the data of a site
    #[arg(long, value_name = "COLUMN", conflicts_with = "sites")]
    site: Option<String>,
    /// Divide all rows among this many sites at random
    #[arg(long, value_name = "N")]
    sites: Option<usize>,
    /// The agent of the first site
    #[arg(long, value_name = "AGENT", default_value_t = 0)]
    first_agent: usize,
    /// All classes in their order; if not given, those that are found, sorted
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "like")]
    classes: Option<Vec<String>>,
    /// The fraction of each site's rows that counts as verified
    #[arg(long, value_name = "FRACTION", default_value_t = 0.1, conflicts_with = "checked_column")]
    checked: f64,
    /// Rows with 1 or true in this column are verified, and no others
    #[arg(long, value_name = "COLUMN")]
    checked_column: Option<String>,
    /// The fraction of each site's rows that is kept for tests, in own/test.safetensors
    #[arg(long, value_name = "FRACTION", default_value_t = 0.1)]
    test: f64,
    /// How features are scaled; the numbers are kept in own/import.json
    #[arg(long, default_value = "none", conflicts_with = "like")]
    scale: ScaleName,
    /// The precision of features in the files
    #[arg(long, default_value = "f64")]
    precision: PrecisionName,
    /// Take over columns, classes and scaling of another import, from its own/import.json
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
    /// Leave broken rows out and count them, instead of refusing the import
    #[arg(long)]
    skip_broken: bool,
    /// The seed of everything that is drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// A table in a text file
    Csv,
    /// Arrays as numpy.savez writes them
    Npz,
    /// PNG and JPEG images, in a folder for each class
    Images,
}

#[derive(Clone, Copy, ValueEnum)]
enum ColourName {
    /// One grey value
    Grey,
    /// Red, green and blue
    Rgb,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScaleName {
    /// Not at all
    None,
    /// Each feature to the range from 0 to 1
    Range,
    /// Each feature to mean 0 and standard deviation 1
    Standard,
}

#[derive(Clone, Copy, ValueEnum)]
enum PrecisionName {
    F32,
    F64,
}

impl Import {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        self.inputs.iter().chain(&self.like).try_for_each(|input| require_path(input))?;
        print_line(self.request().carry_out()?);
        Ok(ExitCode::SUCCESS)
    }

    fn request(self) -> ImportRequest {
        ImportRequest {
            inputs: self.inputs,
            format: self.format.map(|format| match format {
                FormatName::Csv => InputFormat::Csv,
                FormatName::Npz => InputFormat::Npz,
                FormatName::Images => InputFormat::Images,
            }),
            label: self.label,
            features: self.features,
            drop: self.drop,
            header: !self.no_header,
            delimiter: self.delimiter,
            colours: match self.colours {
                ColourName::Grey => Colours::Grey,
                ColourName::Rgb => Colours::Rgb,
            },
            sites: match (self.site, self.sites) {
                (Some(column), _) => SiteSource::Column(column),
                (None, Some(count)) => SiteSource::Divide(count),
                (None, None) => SiteSource::Inputs,
            },
            first_agent: self.first_agent,
            classes: self.classes,
            verified: self.checked_column.map_or(Verified::Fraction(self.checked), Verified::Column),
            test: self.test,
            scaling: match self.scale {
                ScaleName::None => ScalingKind::None,
                ScaleName::Range => ScalingKind::Range,
                ScaleName::Standard => ScalingKind::Standard,
            },
            precision: match self.precision {
                PrecisionName::F32 => FilePrecision::Single,
                PrecisionName::F64 => FilePrecision::Double,
            },
            like: self.like,
            skip_broken: self.skip_broken,
            seed: self.seed,
            out: self.out,
        }
    }
}

/// The byte of a character that separates columns.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] => Ok(*byte),
        _ => Err("expected one ASCII character, or `tab`".to_owned()),
    }
}
