//! Folders of images, with a folder for each class.

use std::fs;
use std::path::{Path, PathBuf};

use super::picture::{Decoded, decode};
use super::row_source::{RowSource, Visitor};
use crate::error::ImportError;
use crate::error::failed;
use crate::flaw::Flaw;
use crate::layout::FeatureLayout;
use crate::request::{Colours, ImportRequest, SiteSource, Verified};
use crate::row::{Features, LabelledRow};

/// The images of a folder, sorted by class and name.
pub(super) struct Images {
    files: Vec<ImageFile>,
    /// Files that are no images, or not in the folder of a class.
    others: Vec<PathBuf>,
    colours: Colours,
    size: (usize, usize),
    layout: FeatureLayout,
}

/// An image and its class.
struct ImageFile {
    path: PathBuf,
    class: String,
}

impl Images {
    /// Lists the images, and takes the size of the first one that can be read.
    pub(super) fn open(folder: &Path, request: &ImportRequest) -> Result<Self, ImportError> {
        if matches!(request.sites, SiteSource::Column(_)) || matches!(request.verified, Verified::Column(_)) {
            let problem = "images have no columns: give a folder for each site, or --sites N, and --checked FRACTION";
            return Err(ImportError::input(folder, problem));
        }
        let (files, others) = list(folder)?;
        let first = files.iter().find_map(|file| decode(&file.path, request.colours, None).ok());
        let Some(Decoded { size, .. }) = first else {
            let problem = "there is no readable PNG or JPEG image in its folders: it needs one folder for each class";
            return Err(ImportError::input(folder, problem));
        };
        let shape = match request.colours {
            Colours::Grey => vec![size.1, size.0],
            Colours::Rgb => vec![size.1 * size.0 * 3],
        };
        let layout = FeatureLayout { shape, bytes: true, columns: None };
        Ok(Self { files, others, colours: request.colours, size, layout })
    }
}

impl RowSource for Images {
    fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    fn visit(&self, visit: &mut Visitor<'_>) -> Result<(), ImportError> {
        for (number, ImageFile { path, class }) in self.files.iter().enumerate() {
            let image = decode(path, self.colours, Some(self.size));
            visit(match &image {
                Ok(Decoded { values, .. }) => Ok(LabelledRow {
                    position: number as u64,
                    label: class,
                    site: None,
                    verified: None,
                    features: Features::Bytes(values),
                }),
                Err(problem) => Err(Flaw { place: path.display().to_string(), column: None, problem: problem.clone() }),
            })?;
        }
        Ok(())
    }

    fn place(&self, position: u64) -> String {
        self.files[position as usize].path.display().to_string()
    }

    fn left_out(&self) -> Option<String> {
        let first = self.others.first()?;
        let count = self.others.len();
        Some(format!("{count} files are no PNG or JPEG images of a class and were left out, first {}", first.display()))
    }
}

/// The images in the folders of a folder, and everything else.
fn list(folder: &Path) -> Result<(Vec<ImageFile>, Vec<PathBuf>), ImportError> {
    let (mut files, mut others) = (Vec::new(), Vec::new());
    for entry in entries(folder)? {
        match entry.file_name().and_then(|name| name.to_str()) {
            Some(class) if entry.is_dir() => {
                let (images, rest): (Vec<_>, Vec<_>) = entries(&entry)?.into_iter().partition(|path| is_image(path));
                files.extend(images.into_iter().map(|path| ImageFile { path, class: class.to_owned() }));
                others.extend(rest);
            }
            _ => others.push(entry),
        }
    }
    Ok((files, others))
}

/// The entries of a folder, sorted by their names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let entries = fs::read_dir(folder).map_err(failed(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed(folder))?;
    paths.sort();
    Ok(paths)
}

/// Whether the name of a file is that of an image.
fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "png" | "jpg" | "jpeg")
}
