//! The wire: what peers say to each other, as bytes.

mod chunk;
mod control;
mod format;
mod header;
mod message;
mod modulo;
#[cfg(test)]
pub(super) mod tests;
mod words;

pub(crate) use chunk::{CHUNK, Chunk, EncodedChunk, WordKind, write_mass, write_scalars};
pub use control::Control;
pub use format::WireFormat;
pub use header::BEGINNING;
pub(crate) use message::Body;
pub use message::{Contents, Envelope, Header, Intent, Malformed, Message};
pub use modulo::WordLength;
pub(crate) use words::scalars;
