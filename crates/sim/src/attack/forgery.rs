//! Messages that no peer would send, with correct checksums.
//!
//! They are written here and not by core's own writer, which cannot say such things. The layout is
//! that of the `message` format.

use twox_hash::XxHash3_64;

use super::wire::{ChunkLengths, FULL, WireMessage, header};

/// A message that is made up, word by word and part by part.
#[derive(Clone, Debug)]
pub(super) struct Forgery {
    header: Vec<u64>,
    parts: Vec<(u32, Vec<u8>)>,
    body: Vec<u8>,
}

impl Forgery {
    /// A message with the header of a true one, which carries nothing.
    pub(super) fn from(message: WireMessage<'_>) -> Self {
        let mut forgery = Self { header: message.header(), parts: Vec::new(), body: Vec::new() };
        forgery.set_flags(0);
        forgery
    }

    /// Writes a word of the header.
    pub(super) fn set(&mut self, place: usize, word: u64) {
        self.header[place] = word;
    }

    /// Sets the flags that say what the message carries and what it asks for.
    pub(super) fn set_flags(&mut self, flags: u64) {
        self.header[header::FLAGS] = self.header[header::FLAGS] & (u64::MAX >> 16) | flags << 48;
    }

    /// Changes the receiver.
    pub(super) fn address(&mut self, to: u32, life: (u64, u64)) {
        self.header[header::NODES] = self.header[header::NODES] & u64::from(u32::MAX) | u64::from(to) << 32;
        (self.header[header::RECEIVER], self.header[header::RECEIVER + 1]) = life;
    }

    /// Adds a part of the control section with these words.
    pub(super) fn add_part(&mut self, kind: u32, words: impl IntoIterator<Item = u64>) {
        self.parts.push((kind, words.into_iter().flat_map(u64::to_le_bytes).collect()));
    }

    /// Adds the part with seals.
    pub(super) fn add_seals(&mut self, seals: impl IntoIterator<Item = Vec<u8>>) {
        self.parts.push((6, seals.into_iter().flatten().collect()));
    }

    /// Adds scalars and mass in full, number by number.
    pub(super) fn add_body(
        &mut self,
        lengths: &ChunkLengths,
        mut scalar: impl FnMut() -> f64,
        mut mass: impl FnMut() -> i64,
    ) {
        self.set_flags(0b11);
        self.body.extend((0..lengths.largest).flat_map(|_| scalar().to_le_bytes()));
        for &scalars in &lengths.pulled {
            self.body.push(FULL);
            self.body.extend((0..scalars).flat_map(|_| scalar().to_le_bytes()));
        }
        for &scalars in &lengths.pushed {
            self.body.push(FULL);
            self.body.extend((0..scalars).flat_map(|_| mass().to_le_bytes()));
        }
    }

    /// The message as bytes.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        let mut control = Vec::new();
        for (kind, part) in self.parts.into_iter().filter(|(_, part)| !part.is_empty()) {
            control.extend((u64::from(kind) | (part.len() as u64) << 32).to_le_bytes());
            control.extend(part);
        }
        let mask = self.header[header::CONTROL] & u64::from(u32::MAX);
        self.header[header::CONTROL] = mask | (control.len() as u64) << 32;
        // No authenticator.
        self.header[header::WORDS - 1] &= !0xFFFF;
        let mut bytes: Vec<u8> = self.header.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(control);
        bytes.extend(self.body);
        bytes.extend(XxHash3_64::oneshot(&bytes).to_le_bytes());
        bytes
    }
}
