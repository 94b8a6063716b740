//! Own data of agents, made from tables, arrays and folders of images.
//!
//! [`ImportRequest::carry_out`] reads the inputs twice: once to survey them (sites, classes,
//! ranges, duplicates, flaws), and once to write the rows where they belong. In between it keeps a
//! few dozen bytes for each row, and never the rows themselves.

mod classes;
mod duplicates;
mod error;
mod flaw;
mod import;
mod layout;
mod names;
mod parts;
mod ranges;
mod recipe;
mod report;
mod request;
mod row;
mod scaling;
mod site_files;
mod source;
mod survey;
mod tensor_writer;

pub use error::ImportError;
pub use flaw::Flaw;
pub use report::{ImportReport, SiteReport};
pub use request::{Colours, FilePrecision, ImportRequest, InputFormat, SiteSource, Verified};
pub use scaling::ScalingKind;
