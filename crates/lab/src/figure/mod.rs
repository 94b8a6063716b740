//! Figures of the results of experiments: charts of every metric by rounds, seconds and bytes, and
//! the networks that runs were carried out on.

mod axis;
mod band;
mod canvas;
mod chart;
mod cost_ranges;
mod curve;
mod draw;
mod drawing;
mod effort;
mod encode_error;
mod error;
mod finding;
mod font;
mod format;
mod frame;
mod histogram;
mod legend;
mod length;
mod limits;
mod line_style;
mod marker;
mod multiples;
mod network_figure;
mod number;
mod palette;
mod panel;
mod path;
#[cfg(feature = "pictures")]
mod pdf;
#[cfg(feature = "pictures")]
mod pdf_font;
mod plot_area;
#[cfg(feature = "pictures")]
mod raster;
mod records;
mod request;
mod request_error;
mod results;
mod single_frame;
mod text_fit;

pub use band::{Band, UnknownWord};
pub(crate) use cost_ranges::CostRanges;
pub(crate) use draw::draw_finding;
pub use draw::{draw, draw_as, draw_together};
pub(crate) use drawing::write;
pub use effort::Effort;
pub use encode_error::EncodeError;
pub use error::FigureError;
pub use format::Format;
pub use length::{Length, LengthError};
pub(crate) use records::{Row, read_runs};
pub use request::Request;
pub use request_error::RequestError;
