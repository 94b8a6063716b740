//! The wire: what peers say to each other, as bytes.

mod chunk;
mod control;
mod format;
mod guard;
mod header;
mod message;
mod modulo;
#[cfg(test)]
pub(super) mod tests;
mod words;

pub(crate) use chunk::{Chunk, EncodedChunk, WordKind, write_full, write_full_mass, write_numbers};
pub use control::Control;
pub use format::WireFormat;
pub(crate) use guard::CHUNK;
pub use header::BEGINNING;
pub(crate) use message::Body;
pub use message::{Contents, Envelope, Header, Intent, Malformed, Message};
pub use modulo::WordLength;
pub(crate) use words::scalars;
