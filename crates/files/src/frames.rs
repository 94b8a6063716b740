//! Files of frames: a label, then one record after another, each with a checksum.
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | the signature `FABNETF1` |
//! | 4 | the length of the frame's contents, little-endian like all numbers here |
//! | 4 | a checksum of that length and of the frame's place in the file |
//! | n | the contents |
//! | 8 | a checksum (XXH3) of the contents and of the frame's place in the file |
//!
//! The rows after the signature repeat for each frame. The first frame is the [`Label`]. Because
//! the length has a checksum of its own, a file that was cut off while a frame was written can be
//! told from one that was damaged later: the first is repaired, the second is reported.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::XxHash3_64;

use crate::{Files, Label};

const SIGNATURE: &[u8; 8] = b"FABNETF1";
/// Bytes before the contents of a frame: the length and its checksum.
const HEAD: usize = 8;
/// Bytes after the contents of a frame: their checksum.
const TAIL: usize = 8;

/// A file of frames to which records are appended. A frame is written whole or not at all.
#[derive(Debug)]
pub struct Frames {
    files: Arc<dyn Files>,
    path: PathBuf,
    label: Label,
    /// The length in bytes of all whole frames.
    length: u64,
    /// Whether a write has failed, so that the file may have more bytes than that.
    overhang: bool,
}

/// Why a file of frames cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FramesError {
    /// The file system reported an error.
    #[error("{}: {error}; check the folder's space and rights", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file has no signature or no label.
    #[error("{}: this is not a file of frames with a label; it is damaged or from an earlier version", .0.display())]
    Unlabelled(PathBuf),
    /// The file belongs to something else than expected.
    #[error("{}: it is of {found}, not of {expected}", path.display())]
    Label {
        /// The path of the file.
        path: PathBuf,
        /// The label of the file.
        found: Box<Label>,
        /// The label that was expected.
        expected: Box<Label>,
    },
    /// A frame in the middle is damaged.
    #[error("{}: record {record}, at byte {at}, is damaged", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The record's number, counted from 1.
        record: usize,
        /// The byte at which it begins.
        at: u64,
    },
}

/// Where the frames of a file end before the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The last frame was not written whole, from this byte on.
    Torn {
        /// The byte at which it begins.
        at: u64,
        /// The number of its bytes that are there.
        bytes: u64,
    },
    /// The frame at this byte was changed after it had been written; what follows is not read.
    Damaged {
        /// The byte at which it begins.
        at: u64,
    },
}

/// The contents of a file of frames.
#[derive(Debug)]
pub struct ReadFrames {
    /// The label of the file; none if not even the label was written whole.
    pub label: Option<Label>,
    /// Why the frames end before the file does, if they do.
    pub interruption: Option<Interruption>,
    bytes: Vec<u8>,
    records: Vec<Range<usize>>,
    /// The length in bytes of all whole frames.
    intact: u64,
}

impl ReadFrames {
    /// The records in the order in which they were written, without the label.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.records.iter().map(|place| &self.bytes[place.clone()])
    }
}

/// Makes the bytes of a whole file with a label and these records.
pub fn frame_file(label: &Label, records: &[&[u8]]) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    put_frame(&mut bytes, 0, label.to_text().as_bytes());
    for record in records {
        put_frame(&mut bytes, 0, record);
    }
    bytes
}

/// Reads a file of frames; returns none if it does not exist.
pub fn read_frames(files: &dyn Files, path: &Path) -> Result<Option<ReadFrames>, FramesError> {
    let read = files.read_if_there(path).map_err(|error| FramesError::File { path: path.to_owned(), error })?;
    read.map(|bytes| decode(bytes).ok_or_else(|| FramesError::Unlabelled(path.to_owned()))).transpose()
}

impl Frames {
    /// Opens a file to append records; it is made with the first record if it does not exist. An
    /// incomplete frame at its end is cut off; the number of bytes cut off is returned.
    pub fn open(files: Arc<dyn Files>, path: &Path, label: Label) -> Result<(Self, u64), FramesError> {
        let mut frames = Self { files, path: path.to_owned(), label, length: 0, overhang: false };
        let Some(read) = read_frames(&*frames.files, path)? else { return Ok((frames, 0)) };
        if let Some(found) = read.label.as_ref().filter(|found| **found != frames.label) {
            let (path, expected) = (path.to_owned(), Box::new(frames.label));
            return Err(FramesError::Label { path, found: Box::new(found.clone()), expected });
        }
        match read.interruption {
            // Not even the label was written whole, so the file begins again.
            _ if read.label.is_none() => frames.cut_off(read.bytes.len() as u64),
            Some(Interruption::Damaged { at }) => {
                Err(FramesError::Damaged { path: path.to_owned(), record: read.records.len() + 1, at })
            }
            interruption => {
                frames.length = read.intact;
                let torn = matches!(interruption, Some(Interruption::Torn { .. }));
                frames.cut_off(if torn { read.bytes.len() as u64 - read.intact } else { 0 })
            }
        }
    }

    /// Cuts off this many bytes after the whole frames.
    fn cut_off(self, bytes: u64) -> Result<(Self, u64), FramesError> {
        if bytes > 0 {
            let cut = self.files.truncate(&self.path, self.length);
            cut.map_err(|error| FramesError::File { path: self.path.clone(), error })?;
        }
        Ok((self, bytes))
    }

    /// Writes a record at the end, whole or not at all.
    pub fn append(&mut self, record: &[u8]) -> io::Result<()> {
        if self.overhang {
            self.files.truncate(&self.path, self.length)?;
            self.overhang = false;
        }
        let mut bytes = if self.length == 0 { frame_file(&self.label, &[]) } else { Vec::new() };
        put_frame(&mut bytes, self.length, record);
        let written = self.files.append_whole(&self.path, self.length, &bytes);
        match &written {
            Ok(()) => self.length += bytes.len() as u64,
            // It is not known whether the part that was written could be cut off again.
            Err(_) => self.overhang = self.files.length(&self.path).is_ok(),
        }
        written
    }

    /// Returns when all records would survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        if self.length == 0 { Ok(()) } else { self.files.sync(&self.path) }
    }
}

/// Appends a frame to `bytes`, which stand in their file after `before` other bytes.
fn put_frame(bytes: &mut Vec<u8>, before: u64, contents: &[u8]) {
    let place = before + bytes.len() as u64;
    // Contents of 4 GiB would need a longer field; no record comes near that.
    let length = u32::try_from(contents.len()).unwrap_or(u32::MAX);
    bytes.extend(length.to_le_bytes());
    bytes.extend(head_checksum(place, length).to_le_bytes());
    bytes.extend(contents);
    bytes.extend(checksum(place, contents).to_le_bytes());
}

/// The checksum of a length. It depends on the place of the frame, so that a frame which was moved
/// to another place is found.
fn head_checksum(place: u64, length: u32) -> u32 {
    // The low half is enough to tell an interrupted write from damage.
    let low = XxHash3_64::oneshot_with_seed(place, &length.to_le_bytes());
    low as u32
}

/// The checksum of the contents of a frame at this place.
fn checksum(place: u64, contents: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(place, contents)
}

/// Reads the records of a file of frames after this byte, which ends one, as far as they are whole.
/// Returns them with the byte after the last. From byte 0 on, the label is left out.
pub fn read_frames_after(files: &dyn Files, path: &Path, start: u64) -> Result<(Vec<Vec<u8>>, u64), FramesError> {
    if start == 0 {
        let Some(read) = read_frames(files, path)? else { return Ok((Vec::new(), 0)) };
        return Ok((read.records().map(<[u8]>::to_vec).collect(), read.intact));
    }
    let bytes = files.read_from(path, start).map_err(|error| FramesError::File { path: path.to_owned(), error })?;
    let (mut at, mut records) = (0, Vec::new());
    loop {
        match next_frame(&bytes, at, start) {
            Ok(contents) => {
                at = contents.end + TAIL;
                records.push(bytes[contents].to_vec());
            }
            Err(Interruption::Torn { .. }) => return Ok((records, start + at as u64)),
            Err(Interruption::Damaged { at }) => {
                return Err(FramesError::Damaged { path: path.to_owned(), record: records.len() + 1, at });
            }
        }
    }
}

/// Reads frames as far as they are whole; none if these bytes were never a file of frames.
fn decode(bytes: Vec<u8>) -> Option<ReadFrames> {
    if !bytes.starts_with(SIGNATURE) {
        // The first write was cut off within the signature, or this is something else.
        let torn = Interruption::Torn { at: 0, bytes: bytes.len() as u64 };
        let interruption = (!bytes.is_empty()).then_some(torn);
        return SIGNATURE.starts_with(&bytes).then_some(ReadFrames {
            label: None,
            interruption,
            bytes,
            records: Vec::new(),
            intact: 0,
        });
    }
    let (mut at, mut frames, mut interruption) = (SIGNATURE.len(), Vec::new(), None);
    while at < bytes.len() && interruption.is_none() {
        match next_frame(&bytes, at, 0) {
            Ok(contents) => {
                at = contents.end + TAIL;
                frames.push(contents);
            }
            Err(found) => interruption = Some(found),
        }
    }
    let mut frames = frames.into_iter();
    let label = match frames.next() {
        Some(place) => Some(Label::parse(std::str::from_utf8(&bytes[place]).ok()?)?),
        None if matches!(interruption, Some(Interruption::Damaged { .. })) => return None,
        None => None,
    };
    let records = frames.collect();
    Some(ReadFrames { label, interruption, records, intact: at as u64, bytes })
}

/// Finds the contents of the frame that begins at this byte of these, which are those of a file
/// from `start` on.
fn next_frame(bytes: &[u8], at: usize, start: u64) -> Result<Range<usize>, Interruption> {
    let place = start + at as u64;
    let torn = Interruption::Torn { at: place, bytes: (bytes.len() - at) as u64 };
    let damaged = Interruption::Damaged { at: place };
    let Some((head, rest)) = bytes[at..].split_first_chunk::<HEAD>() else { return Err(torn) };
    let (length, check) = head.split_at(4);
    let length = length.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    if check != head_checksum(place, length).to_le_bytes() {
        // After a power cut, a file system may know the new length of a file but not its contents;
        // then it fills the end with zeros.
        return Err(if bytes[at..].iter().all(|&byte| byte == 0) { torn } else { damaged });
    }
    let contents = at + HEAD..at + HEAD + length as usize;
    let Some(tail) = rest.get(length as usize..).and_then(|rest| rest.first_chunk::<TAIL>()) else { return Err(torn) };
    if *tail != checksum(place, &bytes[contents.clone()]).to_le_bytes() {
        return Err(damaged);
    }
    Ok(contents)
}
