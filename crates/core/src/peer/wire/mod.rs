//! The wire: what peers say to each other, as bytes.

mod format;
mod message;
#[cfg(test)]
mod tests;
mod words;

pub use format::{BEGINNING, WireFormat};
pub(crate) use message::Draft;
pub use message::{Contents, Envelope, Header, Intent, Malformed, Message};
pub(crate) use words::{mass, scalars};
