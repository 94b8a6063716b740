//! Reports: documents whose numbers come from summaries, never by hand.

mod error;
mod filled;
mod number;
mod reduced;
mod summaries;
mod template;

pub use error::ReportError;
pub use filled::{report, report_lines};
pub(crate) use number::written;
pub use reduced::{Reduced, reduce};
