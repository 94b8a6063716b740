//! Why a figure cannot be turned into another format than SVG.

#[cfg(feature = "pictures")]
use resvg::usvg;

use crate::missing_feature::MissingFeature;

/// Why a figure cannot be turned into another format than SVG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The format is not built.
    #[error(transparent)]
    NotBuilt(#[from] MissingFeature),
    /// The SVG document cannot be parsed.
    #[cfg(feature = "pictures")]
    #[error(transparent)]
    Svg(#[from] usvg::Error),
    /// The figure has no pixels.
    #[error("the picture has no size")]
    NoSize,
    /// The figure has more pixels than a picture can have.
    #[error("the picture is too large")]
    TooLarge,
    /// The pixels cannot be written as PNG.
    #[error("{reason}")]
    Png {
        /// What the encoder says.
        reason: String,
    },
    /// The font that is part of the program cannot be read.
    #[error("the font within the program is damaged")]
    Font,
    /// The font is too large to be embedded.
    #[error(transparent)]
    FontSize(#[from] std::num::TryFromIntError),
    /// The SVG document has something that figures do not have.
    #[error("it has {0}, which figures do not have")]
    Unsupported(&'static str),
    /// A part of the PDF document cannot be compressed.
    #[error(transparent)]
    Compression(#[from] std::io::Error),
}
