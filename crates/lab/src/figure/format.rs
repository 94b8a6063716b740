//! The formats in which a figure is written, all made of one SVG document.

use std::path::Path;
use std::str::FromStr;

use super::band::UnknownWord;
use super::{pdf, raster};

/// A format of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For pages of the web, and to be edited.
    Svg,
    /// Pixels, 300 to the inch.
    Png,
    /// For papers; fonts are embedded.
    Pdf,
}

impl Format {
    const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];
    /// What is written if nothing is said.
    pub(super) const USUAL: [Self; 2] = [Self::Svg, Self::Png];

    /// How names of files end.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format of a file of this name, if it ends as one.
    pub fn of_file(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.to_ascii_lowercase().parse().ok()
    }

    /// The contents of a file.
    pub(super) fn encode(self, svg: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Svg => Ok(svg.as_bytes().to_vec()),
            Self::Png => raster::png(svg),
            Self::Pdf => pdf::pdf(svg),
        }
    }
}

impl FromStr for Format {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|format| format.extension() == word).ok_or(UnknownWord("pdf, svg, png"))
    }
}
