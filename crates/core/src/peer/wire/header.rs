//! The header of a message: sixteen words.
//!
//! | word | what |
//! |---|---|
//! | 0 | magic number, version, flags |
//! | 1 | run |
//! | 2 | sender and receiver |
//! | 3–4, 5–6 | the incarnations of both |
//! | 7–10 | epoch, round, sequence, generation |
//! | 11–13 | held, heartbeat, digest |
//! | 14 | mask, and the bytes of the control section |
//! | 15 | the bytes of an authenticator, the piece and the number of pieces, the bits of a word |
//!
//! There is no authenticator yet, and every message is one piece: both have their place, so that
//! they can come without another header.

use super::message::{Contents, Header, Intent, Malformed};
use super::modulo::WordLength;
use super::words::{halves, join, put};
use crate::Mask;
use crate::peer::membership::Incarnation;

/// The bytes of a header.
pub(super) const HEADER: usize = 128;

const MAGIC: u32 = u32::from_le_bytes(*b"FABN");
const VERSION: u16 = 3;

/// The first six bytes of every message: the magic number and the version.
pub const BEGINNING: [u8; 6] = {
    let ([m, a, g, i], [low, high]) = (MAGIC.to_le_bytes(), VERSION.to_le_bytes());
    [m, a, g, i, low, high]
};

/// What a header says beside [`Header`]: how the rest of the message is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageLayout {
    pub(super) run: u64,
    /// The bytes of the control section.
    pub(super) control: usize,
    /// The bytes of the authenticator.
    pub(super) authenticator: usize,
}

/// Writes a header.
pub(super) fn write_header(header: &Header, run: u64, control: usize, words: WordLength, bytes: &mut Vec<u8>) {
    let Contents { pulled, mass, intent } = header.contents;
    let flags = u16::from(pulled) | u16::from(mass) << 1 | (intent as u16) << 2;
    let (own, other) = (header.incarnation, header.to_incarnation);
    let first = u64::from(MAGIC) | u64::from(VERSION) << 32 | u64::from(flags) << 48;
    put(bytes, [first, run, join(header.from, header.to)]);
    put(bytes, [own.counter, own.nonce, other.counter, other.nonce]);
    put(bytes, [header.epoch, header.round, header.sequence, header.generation]);
    put(bytes, [header.held, header.beat, header.digest, join(header.mask.bits(), control as u32)]);
    put(bytes, [layout_word(0, words)]);
}

/// The last word: the bytes of the authenticator, the first of one pieces, and the bits of a word.
fn layout_word(authenticator: u16, words: WordLength) -> u64 {
    u64::from(authenticator) | 1 << 32 | u64::from(words.bits()) << 48
}

/// Reads a header, or says why the bytes have none of this version.
pub(super) fn read_header(bytes: &[u8], words: WordLength) -> Result<(Header, MessageLayout), Malformed> {
    check_version(bytes)?;
    let header = bytes.as_chunks::<8>().0.first_chunk::<{ HEADER / 8 }>().ok_or(Malformed::Length)?;
    let [first, run, nodes, c, n, tc, tn, epoch, round, sequence, generation, held, beat, digest, mask, layout] =
        header.map(u64::from_le_bytes);
    let ((from, to), (mask, control)) = (halves(nodes), halves(mask));
    let authenticator = layout as u16;
    if layout != layout_word(authenticator, words) {
        return Err(Malformed::Layout);
    }
    let header = Header {
        from,
        to,
        incarnation: Incarnation { counter: c, nonce: n },
        to_incarnation: Incarnation { counter: tc, nonce: tn },
        epoch,
        round,
        sequence,
        generation,
        held,
        beat,
        digest,
        mask: Mask::from_bits(mask),
        contents: contents((first >> 48) as u32),
    };
    Ok((header, MessageLayout { run, control: control as usize, authenticator: usize::from(authenticator) }))
}

/// Checks the first six bytes.
fn check_version(bytes: &[u8]) -> Result<(), Malformed> {
    let (beginning, _) = bytes.split_first_chunk::<6>().ok_or(Malformed::Length)?;
    let [magic @ .., low, high] = *beginning;
    match u16::from_le_bytes([low, high]) {
        _ if magic != MAGIC.to_le_bytes() => Err(Malformed::Foreign),
        VERSION => Ok(()),
        theirs => Err(Malformed::Version { theirs, ours: VERSION }),
    }
}

/// What stands in the flags of a header.
fn contents(flags: u32) -> Contents {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let intent = match (flag(2), flag(3)) {
        (false, false) => Intent::News,
        (true, _) => Intent::Answer,
        (false, true) => Intent::RequestShare,
    };
    Contents { pulled: flag(0), mass: flag(1), intent }
}
