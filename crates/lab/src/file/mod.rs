//! From an experiment file as typed to a plan, or to a list of everything that is wrong with it.

mod diagnostic;
mod experiment;
mod grid;
mod label;
mod reader;
mod recording;
mod resolver;
mod section;
mod seeds;
mod tree;
mod unknown;

pub(crate) use diagnostic::suggest;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use experiment::Experiment;
pub(crate) use resolver::resolve;
pub use section::{RegistryEntry, Section};
pub(crate) use tree::{Entry, Node, Table};
