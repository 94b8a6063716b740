//! Files that consist of frames: a label, then one record after another, each with a checksum.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the signature `FABNETF1` |
//! | 4 | the length of the frame's contents, little-endian like all numbers here |
//! | 4 | a checksum of that length and of the frame's place in the file |
//! | n | the contents |
//! | 8 | a checksum (XXH3) of the contents and of the frame's place in the file |
//!
//! and so on from the second row. The first frame is the [`Label`]. Because the length has a
//! checksum of its own, a file that was cut off while a frame was written can be told from one that
//! was damaged later: the first is repaired, the second is reported.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::XxHash3_64;

use crate::{Files, Label};

const SIGNATURE: &[u8; 8] = b"FABNETF1";
/// Length and its checksum.
const HEAD: usize = 8;
/// The checksum of the contents.
const TAIL: usize = 8;

/// A file of frames that is written at its end. A frame is written whole or not at all.
#[derive(Debug)]
pub struct Frames {
    files: Arc<dyn Files>,
    path: PathBuf,
    label: Label,
    /// Bytes of whole frames.
    length: u64,
    /// Whether there may be more bytes than that: a write has failed.
    overhang: bool,
}

/// Why a file of frames cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    /// The file system.
    #[error("{}: {error}; check the folder's space and rights", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It has no signature or no label.
    #[error("{}: this is not a file of frames with a label; it is damaged or from an earlier version", .0.display())]
    Unlabelled(PathBuf),
    /// The label is another one.
    #[error("{}: it is of {found}, not of {expected}", path.display())]
    Label {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: Box<Label>,
        /// What it was to say.
        expected: Box<Label>,
    },
    /// A frame in the middle is damaged.
    #[error("{}: record {record}, at byte {at}, is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The record's number, counted from 1.
        record: usize,
        /// Where it begins.
        at: u64,
    },
}

/// Where the frames of a file end before the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The last frame was not written whole, from this byte on.
    Torn {
        /// Where it begins.
        at: u64,
        /// How much of it there is.
        bytes: u64,
    },
    /// The frame at this byte was changed after it had been written; what follows is not read.
    Damaged {
        /// Where it begins.
        at: u64,
    },
}

/// What a file of frames holds.
#[derive(Debug)]
pub struct ReadFrames {
    /// What the file is; none if nothing was written whole.
    pub label: Option<Label>,
    /// Whether the frames end before the file does.
    pub interruption: Option<Interruption>,
    bytes: Vec<u8>,
    records: Vec<Range<usize>>,
    intact: u64,
}

impl ReadFrames {
    /// The records in order, without the label.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.records.iter().map(|place| &self.bytes[place.clone()])
    }
}

/// A whole file: a label and these records.
pub fn frame_file(label: &Label, records: &[&[u8]]) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    put_frame(&mut bytes, 0, label.to_text().as_bytes());
    for record in records {
        put_frame(&mut bytes, 0, record);
    }
    bytes
}

/// Reads a file of frames; none if it does not exist.
pub fn read_frames(files: &dyn Files, path: &Path) -> Result<Option<ReadFrames>, FramesError> {
    let read = files.read_if_there(path).map_err(|error| FramesError::File { path: path.to_owned(), error })?;
    read.map(|bytes| decode(bytes).ok_or_else(|| FramesError::Unlabelled(path.to_owned()))).transpose()
}

impl Frames {
    /// Goes on with a file, or begins it with the first record. What the process that wrote it left
    /// of a frame is cut off; how many bytes that were is returned.
    pub fn open(files: Arc<dyn Files>, path: &Path, label: Label) -> Result<(Self, u64), FramesError> {
        let mut frames = Self { files, path: path.to_owned(), label, length: 0, overhang: false };
        let Some(read) = read_frames(&*frames.files, path)? else { return Ok((frames, 0)) };
        if let Some(found) = read.label.as_ref().filter(|found| **found != frames.label) {
            let (path, expected) = (path.to_owned(), Box::new(frames.label));
            return Err(FramesError::Label { path, found: Box::new(found.clone()), expected });
        }
        match read.interruption {
            // Not even the label was written whole: the file begins anew.
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

    /// Cuts off the bytes after the whole frames, of which there are this many.
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
            // Whether what was written could be cut off again is not known.
            Err(_) => self.overhang = self.files.length(&self.path).is_ok(),
        }
        written
    }

    /// Returns when all records would survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        if self.length == 0 { Ok(()) } else { self.files.sync(&self.path) }
    }
}

/// Puts a frame at the end of `bytes`, which stand in their file after this many others.
fn put_frame(bytes: &mut Vec<u8>, before: u64, contents: &[u8]) {
    let place = before + bytes.len() as u64;
    // Contents of 4 GiB would need a longer field: no record comes near that.
    let length = u32::try_from(contents.len()).unwrap_or(u32::MAX);
    bytes.extend(length.to_le_bytes());
    bytes.extend(head_checksum(place, length).to_le_bytes());
    bytes.extend(contents);
    bytes.extend(checksum(place, contents).to_le_bytes());
}

fn head_checksum(place: u64, length: u32) -> u32 {
    let low = XxHash3_64::oneshot_with_seed(place, &length.to_le_bytes());
    low as u32
}

fn checksum(place: u64, contents: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(place, contents)
}

/// Reads frames as far as they are whole; none if these bytes never were a file of frames.
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
        match next_frame(&bytes, at) {
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

/// Where the contents of the frame at this place are.
fn next_frame(bytes: &[u8], at: usize) -> Result<Range<usize>, Interruption> {
    let place = at as u64;
    let torn = Interruption::Torn { at: place, bytes: (bytes.len() - at) as u64 };
    let damaged = Interruption::Damaged { at: place };
    let Some((head, rest)) = bytes[at..].split_first_chunk::<HEAD>() else { return Err(torn) };
    let (length, check) = head.split_at(4);
    let length = length.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    if check != head_checksum(place, length).to_le_bytes() {
        // A file system may have noted the length of a file before its contents: then zeros follow.
        return Err(if bytes[at..].iter().all(|&byte| byte == 0) { torn } else { damaged });
    }
    let contents = at + HEAD..at + HEAD + length as usize;
    let Some(tail) = rest.get(length as usize..).and_then(|rest| rest.first_chunk::<TAIL>()) else { return Err(torn) };
    if *tail != checksum(place, &bytes[contents.clone()]).to_le_bytes() {
        return Err(damaged);
    }
    Ok(contents)
}
