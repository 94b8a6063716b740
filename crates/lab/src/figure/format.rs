//! The formats in which a figure is written, all made from one SVG document.

use std::path::Path;
use std::str::FromStr;

use super::band::UnknownWord;
use super::encode_error::EncodeError;
#[cfg(feature = "pictures")]
use super::{pdf, raster};
#[cfg(not(feature = "pictures"))]
use crate::missing_feature::MissingFeature;

/// A file format of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Vector graphics, for web pages and for editing.
    Svg,
    /// Pixels, 300 to the inch.
    Png,
    /// Vector graphics for papers, with embedded fonts.
    Pdf,
}

impl Format {
    const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];
    /// The formats that are written if none is requested.
    pub(super) const DEFAULTS: &[Self] =
        if cfg!(feature = "pictures") { &[Self::Svg, Self::Png] } else { &[Self::Svg] };

    /// The extension of file names.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format that the extension of a file name says, if it does.
    pub fn of_file(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.to_ascii_lowercase().parse().ok()
    }

    /// The contents of a file in this format.
    pub(super) fn encode(self, svg: &str) -> Result<Vec<u8>, EncodeError> {
        match self {
            Self::Svg => Ok(svg.as_bytes().to_vec()),
            #[cfg(feature = "pictures")]
            Self::Png => raster::png(svg),
            #[cfg(feature = "pictures")]
            Self::Pdf => pdf::pdf(svg),
            #[cfg(not(feature = "pictures"))]
            Self::Png | Self::Pdf => {
                Err(MissingFeature::new(format!("the format {}", self.extension()), "pictures").into())
            }
        }
    }
}

impl FromStr for Format {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|format| format.extension() == word).ok_or(UnknownWord("pdf, svg, png"))
    }
}
