//! Settings: what users can tell a part of a run. Each part reads its own, and what it reads is at
//! once what is documented, checked and written down.

mod accepts;
mod reader;
mod setting;
mod source;
mod value;

use std::ops::Bound;

pub use accepts::{Accepts, Interval, alternatives};
pub use reader::SettingsReader;
pub use setting::{Setting, SettingError};
pub use source::SettingsSource;
pub use value::Value;

/// The numbers above 0.
pub const POSITIVE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Unbounded);
/// The numbers above 0 and below 1.
pub const PART: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Excluded(1.0));
