//! Pictures of the findings of problems: counts as a map of shades, and samples side by side.

use fabnet_core::finding::Picture;

use super::canvas::{Canvas, Colour, TextAnchor, TextStyle};
use super::font::text_width;
use super::palette::{BLUE, INK, WHITE, text_style_of};

/// The margin at the edges of the sheet.
const MARGIN: f64 = 18.0;
/// The height of the title's row.
const HEAD: f64 = 48.0;
/// The size of the title's letters.
const TITLE: f64 = 16.0;
/// The size of other letters.
const SMALL: f64 = 11.0;

/// Draws a table of counts: the larger a count, the darker its cell.
pub(super) fn counts(title: &str, axes: &[String; 2], rows: &[String], counts: &[Vec<u64>]) -> String {
    /// The largest number of columns that have room for numbers.
    const MOST_NUMBERED: usize = 24;
    let columns = counts.first().map_or(0, Vec::len);
    let numbered = columns <= MOST_NUMBERED;
    let (width, height) = (if numbered { 44.0 } else { (900.0 / columns as f64).max(2.0) }, 26.0);
    let left = MARGIN + 24.0 + rows.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max);
    let whole = (left + columns as f64 * width + MARGIN).max(text_width(title, TITLE) + 2.0 * MARGIN);
    let bottom = HEAD + rows.len() as f64 * height;
    let mut canvas = Canvas::in_pixels(whole, bottom + 52.0);
    canvas.text((whole / 2.0, HEAD / 2.0), title, text_style_of(TITLE, TextAnchor::Middle));
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1) as f64;
    for (row, (name, counts)) in rows.iter().zip(counts).enumerate() {
        let top = HEAD + row as f64 * height;
        canvas.text((left - 8.0, top + height / 2.0), name, text_style_of(SMALL, TextAnchor::End));
        for (column, &count) in counts.iter().enumerate() {
            let start = left + column as f64 * width;
            // Shades by the square root distinguish small counts from none.
            let shade = (count as f64 / most).sqrt();
            rectangle(&mut canvas, (start, top), (width, height), BLUE, shade);
            if numbered && count > 0 {
                let colour = if shade > 0.55 { WHITE } else { INK };
                let lettering = TextStyle { colour, ..text_style_of(SMALL, TextAnchor::Middle) };
                canvas.text((start + width / 2.0, top + height / 2.0), &count.to_string(), lettering);
            }
        }
    }
    let step = if numbered { 1 } else { columns.div_ceil(20) };
    for column in (0..columns).step_by(step) {
        let spot = (left + (column as f64 + 0.5) * width, bottom + 12.0);
        canvas.text(spot, &column.to_string(), text_style_of(SMALL, TextAnchor::Middle));
    }
    canvas.text(
        (left + columns as f64 * width / 2.0, bottom + 34.0),
        &axes[1],
        text_style_of(SMALL + 1.0, TextAnchor::Middle),
    );
    let upwards = TextStyle { upwards: true, ..text_style_of(SMALL + 1.0, TextAnchor::Middle) };
    canvas.text((MARGIN, f64::midpoint(HEAD, bottom)), &axes[0], upwards);
    canvas.into_svg()
}

/// Draws small pictures in rows, with their captions below.
pub(super) fn pictures(title: &str, pictures: &[Picture]) -> String {
    const IN_A_ROW: usize = 10;
    const SIDE: f64 = 84.0;
    const LINE: f64 = 14.0;
    let lines = pictures.iter().map(|picture| picture.caption.len()).max().unwrap_or(0) as f64;
    let (cell_width, cell_height) = (SIDE + 14.0, SIDE + lines * LINE + 16.0);
    let columns = pictures.len().clamp(1, IN_A_ROW);
    let whole = (columns as f64 * cell_width + 2.0 * MARGIN).max(text_width(title, TITLE) + 2.0 * MARGIN);
    let rows = pictures.len().div_ceil(IN_A_ROW) as f64;
    let mut canvas = Canvas::in_pixels(whole, HEAD + rows * cell_height + MARGIN);
    canvas.text((whole / 2.0, HEAD / 2.0), title, text_style_of(TITLE, TextAnchor::Middle));
    for (place, picture) in pictures.iter().enumerate() {
        let left = MARGIN + (place % IN_A_ROW) as f64 * cell_width + 7.0;
        let top = HEAD + (place / IN_A_ROW) as f64 * cell_height;
        draw(&mut canvas, picture, (left, top), SIDE / picture.width.max(1) as f64);
        for (line, text) in picture.caption.iter().enumerate() {
            let spot = (left + SIDE / 2.0, top + SIDE + 10.0 + line as f64 * LINE);
            canvas.text(spot, text, text_style_of(SMALL - 1.0, TextAnchor::Middle));
        }
    }
    canvas.into_svg()
}

/// Draws a picture with few enough shades that neighbouring pixels of one shade become one
/// rectangle.
fn draw(canvas: &mut Canvas, picture: &Picture, (left, top): (f64, f64), pixel: f64) {
    const SHADES: f32 = 24.0;
    let height = picture.pixels.len() / picture.width.max(1);
    let black = Colour(0, 0, 0);
    rectangle(canvas, (left, top), (picture.width as f64 * pixel, height as f64 * pixel), black, 1.0);
    for (line, row) in picture.pixels.chunks(picture.width.max(1)).enumerate() {
        let shades: Vec<u8> = row.iter().map(|value| (value.clamp(0.0, 1.0) * SHADES).round() as u8).collect();
        let mut start = 0;
        for run in shades.chunk_by(|a, b| a == b) {
            if run[0] > 0 {
                let grey = (f32::from(run[0]) / SHADES * 255.0) as u8;
                let corner = (left + start as f64 * pixel, top + line as f64 * pixel);
                rectangle(canvas, corner, (run.len() as f64 * pixel, pixel), Colour(grey, grey, grey), 1.0);
            }
            start += run.len();
        }
    }
}

/// Draws a filled rectangle with its upper left corner here.
fn rectangle(canvas: &mut Canvas, (x, y): (f64, f64), (width, height): (f64, f64), colour: Colour, opacity: f64) {
    canvas.area(&[(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour, opacity);
}
