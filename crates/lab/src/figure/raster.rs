//! Turning SVG documents into pixels.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb::Database};

use super::encode_error::EncodeError;
use super::font;

/// Pixels per unit: a picture has 300 to the inch, and an SVG document 96.
const SCALE: f32 = 300.0 / 96.0;

/// The font of figures, and no other: pictures are the same on every machine.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(font::DATA.to_vec());
    Arc::new(fonts)
});

/// Turns an SVG document into a PNG file.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, EncodeError> {
    let tree = parse(svg)?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or(EncodeError::NoSize)?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or(EncodeError::TooLarge)?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| EncodeError::Png { reason: error.to_string() })
}

/// Parses an SVG document into a tree of shapes.
pub(super) fn parse(svg: &str) -> Result<Tree, usvg::Error> {
    Tree::from_str(svg, &Options { fontdb: FONTS.clone(), ..Options::default() })
}
