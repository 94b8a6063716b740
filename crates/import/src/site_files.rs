//! The files of one site: its tensors, and where each row came from.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use safetensors::Dtype;

use crate::error::ImportError;
use crate::error::failed;
use crate::layout::FeatureLayout;
use crate::request::FilePrecision;
use crate::row::Features;
use crate::scaling::FeatureScaling;
use crate::tensor_writer::{TensorSpec, TensorWriter};

/// Two files that are filled row by row under names of their own, and get their final names when
/// all is done.
pub(crate) struct SiteFiles {
    /// The final path of the tensors and of the list of origins.
    paths: [PathBuf; 2],
    tensors: TensorWriter,
    /// The parts, and how many rows each has so far.
    parts: Vec<(&'static str, usize)>,
    origins: Vec<u8>,
    precision: FilePrecision,
    /// The smallest and the largest feature that was written.
    range: (f64, f64),
}

/// The rows of one part of a site, and their labels.
pub(crate) struct PartSpec {
    /// The name of the tensor of rows.
    pub(crate) rows: &'static str,
    /// The name of the tensor of labels.
    pub(crate) labels: &'static str,
    /// The number of rows.
    pub(crate) count: usize,
}

impl PartSpec {
    fn tensors(&self, layout: &FeatureLayout, precision: FilePrecision) -> [TensorSpec; 2] {
        let dtype = match (layout.bytes, precision) {
            (true, _) => Dtype::U8,
            (false, FilePrecision::Single) => Dtype::F32,
            (false, FilePrecision::Double) => Dtype::F64,
        };
        let shape = [vec![self.count], layout.shape.clone()].concat();
        [
            TensorSpec { name: self.rows, dtype, shape },
            TensorSpec { name: self.labels, dtype: Dtype::U32, shape: vec![self.count] },
        ]
    }
}

/// The ending of a file that is not complete yet.
const UNFINISHED: &str = "part";
/// A list of origins is written when it is this long.
const BUFFER: usize = 1 << 16;

impl SiteFiles {
    /// Begins the files of a site, with parts of these many rows.
    pub(crate) fn begin(
        stem: &Path,
        parts: &[PartSpec],
        (layout, precision): (&FeatureLayout, FilePrecision),
    ) -> Result<Self, ImportError> {
        let paths = ["safetensors", "csv"].map(|ending| with_ending(stem, ending));
        if let Some(path) = paths.iter().find(|path| path.exists()) {
            let problem = "it is there already: choose another folder with --out, or remove it first";
            return Err(ImportError::input(path, problem));
        }
        let specs = parts.iter().flat_map(|part| part.tensors(layout, precision));
        let unfinished = unfinished(&paths[0]);
        let tensors = TensorWriter::create(&unfinished, specs.collect()).map_err(failed(&unfinished))?;
        Ok(Self {
            paths,
            tensors,
            parts: parts.iter().map(|part| (part.rows, 0)).collect(),
            origins: b"part,sample,label,source\n".to_vec(),
            precision,
            range: (f64::INFINITY, f64::NEG_INFINITY),
        })
    }

    /// Adds a row to a part, with its class, the name of it, and where the row came from.
    pub(crate) fn add(
        &mut self,
        part: usize,
        (features, scaling): (Features<'_>, &FeatureScaling),
        (class, label, source): (u32, &str, &str),
    ) -> Result<(), ImportError> {
        self.add_features(part, features, scaling);
        self.tensors.buffer(2 * part + 1).extend_from_slice(&class.to_le_bytes());
        let path = unfinished(&self.paths[0]);
        for tensor in [2 * part, 2 * part + 1] {
            self.tensors.flush_full(tensor).map_err(failed(&path))?;
        }
        self.add_origin(part, label, source)
    }

    fn add_features(&mut self, part: usize, features: Features<'_>, scaling: &FeatureScaling) {
        let (precision, range) = (self.precision, &mut self.range);
        let buffer = self.tensors.buffer(2 * part);
        if let Features::Bytes(bytes) = features {
            buffer.extend_from_slice(bytes);
        }
        features.for_each(|number, value| {
            let value = scaling.apply(number, value);
            *range = (range.0.min(value), range.1.max(value));
            match (features, precision) {
                (Features::Bytes(_), _) => {}
                (_, FilePrecision::Single) => buffer.extend_from_slice(&(value as f32).to_le_bytes()),
                (_, FilePrecision::Double) => buffer.extend_from_slice(&value.to_le_bytes()),
            }
        });
    }

    /// Adds a line on where a row came from.
    fn add_origin(&mut self, part: usize, label: &str, source: &str) -> Result<(), ImportError> {
        let (name, count) = &mut self.parts[part];
        let path = unfinished(&self.paths[1]);
        let mut line = csv::Writer::from_writer(&mut self.origins);
        let written = line.write_record([*name, &count.to_string(), label, source]);
        written.map_err(|error| failed(&path)(error.into()))?;
        *count += 1;
        drop(line);
        if self.origins.len() >= BUFFER {
            self.flush_origins().map_err(failed(&path))?;
        }
        Ok(())
    }

    fn flush_origins(&mut self) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(unfinished(&self.paths[1]))?;
        file.write_all(&self.origins)?;
        self.origins.clear();
        file.sync_all()
    }

    /// Completes both files, still under their names of unfinished ones.
    pub(crate) fn complete(&mut self) -> Result<(), ImportError> {
        let [tensors, origins] = self.paths.each_ref().map(|path| unfinished(path));
        self.tensors.finish().map_err(failed(&tensors))?;
        self.flush_origins().map_err(failed(&origins))
    }

    /// Gives both files their final names.
    pub(crate) fn publish(&self) -> Result<(), ImportError> {
        self.paths.iter().try_for_each(|path| fs::rename(unfinished(path), path).map_err(failed(path)))
    }

    /// Removes files that are not complete; what cannot be removed keeps its name of an unfinished
    /// file.
    pub(crate) fn discard(&self) {
        self.paths.iter().for_each(|path| _ = fs::remove_file(unfinished(path)));
    }

    /// The smallest and the largest feature that was written.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.range
    }
}

/// The name of a file while it is not complete.
fn unfinished(path: &Path) -> PathBuf {
    with_ending(path, UNFINISHED)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}
