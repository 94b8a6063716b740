//! A figure that is drawn, and how it is written to files.

use std::path::{Path, PathBuf};

use fabnet_files::Files;

use super::error::FigureError;
use super::format::Format;

/// A figure that is drawn, but not yet written.
#[derive(Clone)]
pub(super) struct Drawing {
    /// The name of its files, without an extension.
    pub(super) name: String,
    /// The figure as an SVG document.
    pub(super) svg: String,
}

impl Drawing {
    /// Writes the figure to this path, a file for each format, and returns the paths of the files.
    pub(super) fn write(
        &self,
        files: &dyn Files,
        path: &Path,
        formats: &[Format],
    ) -> Result<Vec<PathBuf>, FigureError> {
        let write_as = |format: &Format| {
            // Not `with_extension`: names may hold dots.
            let path = PathBuf::from(format!("{}.{}", path.display(), format.extension()));
            let contents = format.encode(&self.svg);
            let contents = contents.map_err(|error| FigureError::encode(&path, error))?;
            write(files, &path, &contents).map(|()| path)
        };
        formats.iter().map(write_as).collect()
    }
}

/// Writes a file in one step.
pub(crate) fn write(files: &dyn Files, path: &Path, contents: &[u8]) -> Result<(), FigureError> {
    files.write_whole(path, contents).map_err(|error| FigureError::Files { path: path.to_owned(), error })
}
