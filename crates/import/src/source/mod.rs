//! Inputs: each format gives its rows one after the other.

mod arrays;
mod columns;
mod images;
mod npy;
mod picture;
mod row_source;
mod table;

pub(crate) use row_source::RowSource;

use std::path::Path;

use crate::error::ImportError;
use crate::request::{ImportRequest, InputFormat};

/// Opens an input.
pub(crate) fn open(path: &Path, request: &ImportRequest) -> Result<Box<dyn RowSource>, ImportError> {
    Ok(match format(path, request)? {
        InputFormat::Csv => Box::new(table::Table::open(path, request)?),
        InputFormat::Npz => Box::new(arrays::Arrays::open(path, request)?),
        InputFormat::Images => Box::new(images::Images::open(path, request)?),
    })
}

/// The format that was asked for, or that the name of an input says.
fn format(path: &Path, request: &ImportRequest) -> Result<InputFormat, ImportError> {
    if let Some(format) = request.format {
        return Ok(format);
    }
    if path.is_dir() {
        return Ok(InputFormat::Images);
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "csv" | "tsv" | "txt" => Ok(InputFormat::Csv),
        "npz" => Ok(InputFormat::Npz),
        _ => Err(ImportError::input(
            path,
            "its format is not known by its name: give --format csv, npz or images (a folder with a folder for \
             each class)",
        )),
    }
}
