//! From SVG to pixels.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb::Database};

use super::font;

/// Pixels to the inch of a picture, and of the units of an SVG.
const SCALE: f32 = 300.0 / 96.0;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(font::DATA.to_vec());
    Arc::new(fonts)
});

/// An SVG document as a PNG file.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, String> {
    let tree = parse(svg).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the picture has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the picture is too large")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

/// An SVG document as a tree of shapes.
pub(super) fn parse(svg: &str) -> Result<Tree, usvg::Error> {
    Tree::from_str(svg, &Options { fontdb: FONTS.clone(), ..Options::default() })
}
