//! Images of PNG and JPEG, decoded to grey values or colours of eight bits.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::request::Colours;

/// A decoded image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The width and the height in pixels.
    pub(super) size: (usize, usize),
    /// The values row by row: one for each pixel, or three.
    pub(super) values: Vec<u8>,
}

/// The most pixels that an image may have: it is a sample, not a photograph of a wall.
const MOST_PIXELS: usize = 1 << 24;

/// Reads an image. If a size is expected, another one is refused before anything is decoded.
pub(super) fn decode(path: &Path, colours: Colours, expected: Option<(usize, usize)>) -> Result<Decoded, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot be read ({error})"))?;
    let is_jpeg = bytes.starts_with(&[0xff, 0xd8]);
    let check = |size: (usize, usize)| check_size(size, expected);
    let (size, channels, values) = if is_jpeg { jpeg(&bytes, check) } else { png(&bytes, check) }?;
    let values = convert(&values, channels, colours);
    Ok(Decoded { size, values })
}

fn check_size(size: (usize, usize), expected: Option<(usize, usize)>) -> Result<(), String> {
    match expected {
        Some(expected) if size != expected => {
            Err(format!("{}×{} pixels, expected {}×{}", size.0, size.1, expected.0, expected.1))
        }
        _ if size.0.saturating_mul(size.1) > MOST_PIXELS => {
            Err(format!("{}×{} pixels, at most {MOST_PIXELS} in all are read", size.0, size.1))
        }
        _ => Ok(()),
    }
}

/// The size, the number of channels, and the values of all pixels.
type Pixels = ((usize, usize), usize, Vec<u8>);

fn png(bytes: &[u8], check: impl Fn((usize, usize)) -> Result<(), String>) -> Result<Pixels, String> {
    let wrong = |error: png::DecodingError| format!("not a readable PNG or JPEG image ({error})");
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    // Palettes become colours, fewer bits become eight, and sixteen are rounded to eight.
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(wrong)?;
    let size = (reader.info().width as usize, reader.info().height as usize);
    check(size)?;
    let length = reader.output_buffer_size().ok_or("it does not fit in memory")?;
    let mut values = vec![0; length];
    reader.next_frame(&mut values).map_err(wrong)?;
    Ok((size, reader.output_color_type().0.samples(), values))
}

fn jpeg(bytes: &[u8], check: impl Fn((usize, usize)) -> Result<(), String>) -> Result<Pixels, String> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(zune_jpeg::zune_core::bytestream::ZCursor::new(bytes), options);
    let wrong = |error: zune_jpeg::errors::DecodeErrors| format!("not a readable JPEG image ({error})");
    decoder.decode_headers().map_err(wrong)?;
    let size = decoder.dimensions().ok_or("its size is missing")?;
    check(size)?;
    Ok((size, 3, decoder.decode().map_err(wrong)?))
}

/// Pixels of 1 (grey), 2 (grey and opacity), 3 (colours) or 4 channels as what is wanted. Opacity
/// is left out.
fn convert(values: &[u8], channels: usize, colours: Colours) -> Vec<u8> {
    let pixels = values.chunks_exact(channels);
    match colours {
        Colours::Grey if channels <= 2 => pixels.map(|pixel| pixel[0]).collect(),
        Colours::Grey => pixels.map(luminance).collect(),
        Colours::Rgb if channels <= 2 => pixels.flat_map(|pixel| [pixel[0]; 3]).collect(),
        Colours::Rgb => pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
    }
}

/// The luminance of a colour (ITU-R BT.601), as most programs convert colours to grey values.
fn luminance(pixel: &[u8]) -> u8 {
    let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(u32::from);
    ((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_grey_by_their_luminance_and_opacity_is_left_out() {
        let pixels = [255, 255, 255, 9, 255, 0, 0, 9, 0, 255, 0, 9];
        assert_eq!(convert(&pixels, 4, Colours::Grey), [255, 76, 150]);
        assert_eq!(convert(&pixels, 4, Colours::Rgb), [255, 255, 255, 255, 0, 0, 0, 255, 0]);
        assert_eq!(convert(&[7, 255, 8, 0], 2, Colours::Grey), [7, 8]);
        assert_eq!(convert(&[7, 8], 1, Colours::Rgb), [7, 7, 7, 8, 8, 8]);
    }
}
