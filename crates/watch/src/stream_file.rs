//! A stream in a file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::{Files, Frames, FramesError, Label, ReadFrames, frame_file, read_frames};

use crate::thinning::thin;
use crate::{Hello, Item, VERSION, WatchEvent, WatchFrame};

/// A stream that is being written to a file, item by item: what was written survives a crash. The
/// file is bounded; where it grows beyond that, older frames become fewer.
#[derive(Debug)]
pub struct StreamFile {
    files: Arc<dyn Files>,
    path: PathBuf,
    label: Label,
    frames: Frames,
    /// The bytes of all items.
    bytes: usize,
    limit: usize,
}

/// All items of a stream that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    /// What is run.
    pub hello: Hello,
    /// All agents, from time to time.
    pub frames: Vec<WatchFrame>,
    /// What happened in it.
    pub events: Vec<WatchEvent>,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// The file holds something else.
    #[error("{}: it is of {found}; this version reads recordings of version {VERSION}", path.display())]
    Other {
        /// The path of the file.
        path: PathBuf,
        /// The label of the file.
        found: Box<Label>,
    },
    /// Nothing was recorded yet.
    #[error("{}: nothing was recorded in it yet", .0.display())]
    Empty(PathBuf),
    /// An item has another form than it should.
    #[error("{}: item {item}: {error}", path.display())]
    Form {
        /// The path of the file.
        path: PathBuf,
        /// The number of the item, counted from 1.
        item: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

impl StreamFile {
    /// The largest number of bytes that a recording keeps, if nothing else is said.
    pub const LIMIT: usize = 16 << 20;

    /// Begins a file anew with the first item of a stream.
    pub fn begin(files: Arc<dyn Files>, path: &Path, hello: Hello, limit: usize) -> Result<Self, FramesError> {
        let label = label(hello.run.as_deref().unwrap_or("run"));
        let failed = |error| FramesError::File { path: path.to_owned(), error };
        files.remove_if_there(path).map_err(failed)?;
        let (frames, _) = Frames::open(files.clone(), path, label.clone())?;
        let mut recording = Self { files, path: path.to_owned(), label, frames, bytes: 0, limit };
        recording.add(&Item::Hello(hello)).map_err(failed)?;
        Ok(recording)
    }

    /// Adds an item.
    pub fn add(&mut self, item: &Item) -> io::Result<()> {
        let record = serde_json::to_vec(item)?;
        self.frames.append(&record)?;
        self.bytes += record.len();
        if self.bytes > self.limit { self.thin() } else { Ok(()) }
    }

    /// Writes the file anew with fewer frames, half of what there may be.
    fn thin(&mut self) -> io::Result<()> {
        let read = read_frames(&*self.files, &self.path).map_err(io::Error::other)?;
        let records: Vec<Vec<u8>> = read.iter().flat_map(ReadFrames::records).map(<[u8]>::to_vec).collect();
        let items = records.into_iter().map(|record| Ok((serde_json::from_slice(&record)?, record.len())));
        let left = thin(items.collect::<serde_json::Result<_>>()?, self.limit / 2);
        let records = left.iter().map(|(item, _)| serde_json::to_vec(item)).collect::<serde_json::Result<Vec<_>>>()?;
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        self.bytes = records.iter().map(|record| record.len()).sum();
        self.files.write_whole(&self.path, &frame_file(&self.label, &records))?;
        let opened = Frames::open(self.files.clone(), &self.path, self.label.clone());
        (self.frames, _) = opened.map_err(io::Error::other)?;
        Ok(())
    }
}

/// Reads a recording, also one that is still being written.
pub fn read_recording(files: &dyn Files, path: &Path) -> Result<RecordedRun, RecordingError> {
    let empty = || RecordingError::Empty(path.to_owned());
    let read = read_frames(files, path)?.ok_or_else(empty)?;
    let found = read.label.clone().ok_or_else(empty)?;
    if found != label(&found.run) {
        return Err(RecordingError::Other { path: path.to_owned(), found: Box::new(found) });
    }
    let (mut hello, mut frames, mut events) = (None, Vec::new(), Vec::new());
    for (item, record) in (1..).zip(read.records()) {
        let form = |error| RecordingError::Form { path: path.to_owned(), item, error };
        match serde_json::from_slice(record).map_err(form)? {
            Item::Hello(first) => hello = Some(first),
            Item::Frame(frame) => frames.push(frame),
            Item::Event(event) => events.push(event),
        }
    }
    Ok(RecordedRun { hello: hello.ok_or_else(empty)?, frames, events })
}

fn label(run: &str) -> Label {
    Label::new(&format!("watch {VERSION}"), run, 0)
}

#[cfg(test)]
mod tests {
    use fabnet_files::SystemFiles;

    use super::*;
    use crate::{RunSource, TimeUnit};

    fn hello() -> Hello {
        Hello { run: Some("a run".into()), ..Hello::new(RunSource::Run, TimeUnit::Seconds, 2) }
    }

    fn frame(time: u32) -> WatchFrame {
        WatchFrame { t: f64::from(time), k: u64::from(time), r: Some(vec![0, 1]), ..WatchFrame::default() }
    }

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let (files, path) = (Arc::new(SystemFiles::SHARED), folder.path().join("watch"));
        let mut recording = StreamFile::begin(files.clone(), &path, hello(), StreamFile::LIMIT).unwrap();
        recording.add(&Item::Frame(frame(1))).unwrap();
        recording.add(&Item::Event(WatchEvent::new(1.5, 1, "kill").of(1))).unwrap();
        let stream = read_recording(&*files, &path).unwrap();
        let events = vec![WatchEvent::new(1.5, 1, "kill").of(1)];
        assert_eq!(stream, RecordedRun { hello: hello(), frames: vec![frame(1)], events });
        let again = StreamFile::begin(files.clone(), &path, hello(), StreamFile::LIMIT).unwrap();
        assert!(read_recording(&*files, &path).unwrap().frames.is_empty(), "{again:?}");
    }

    #[test]
    fn a_recording_stays_within_its_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let (files, path) = (Arc::new(SystemFiles::SHARED), folder.path().join("watch"));
        let mut recording = StreamFile::begin(files.clone(), &path, hello(), 20_000).unwrap();
        for time in 0..5000 {
            recording.add(&Item::Frame(frame(time))).unwrap();
            assert!(recording.bytes <= 20_000);
        }
        let frames = read_recording(&*files, &path).unwrap().frames;
        assert!(frames.len() > 100 && frames.first().map(|first| first.t) == Some(0.0));
        assert_eq!(frames.last(), Some(&frame(4999)));
        assert!(frames.is_sorted_by(|one, next| one.t < next.t));
    }

    #[test]
    fn recordings_of_every_version_are_read_or_refused_with_their_version() {
        let versions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/versions");
        let run = read_recording(&SystemFiles::SHARED, &versions.join("watch-1/recording")).unwrap();
        assert_eq!((run.hello.v, run.hello.agents, run.hello.loss), (1, 3, Some(0.2)));
        assert_eq!((run.frames.last().map(|frame| frame.k), run.events[0].kind.as_str()), (Some(40), "end"));
        let track = read_recording(&SystemFiles::SHARED, &versions.join("track-2/0"));
        assert!(matches!(track, Err(RecordingError::Other { .. })), "{track:?}");
    }

    #[test]
    fn what_is_no_recording_is_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watch");
        let refused = || read_recording(&SystemFiles::SHARED, &path).unwrap_err().to_string();
        assert!(refused().contains("nothing was recorded"), "{}", refused());
        std::fs::write(&path, "something else").unwrap();
        assert!(refused().contains("not a file of frames"), "{}", refused());
        let other = Label::new("track 2", "a run", 0);
        std::fs::write(&path, frame_file(&other, &[b"{}"])).unwrap();
        assert!(refused().contains("track 2"), "{}", refused());
        std::fs::write(&path, frame_file(&label("a run"), &[br#"{"frame":{"t":"late"}}"#])).unwrap();
        assert!(refused().contains("item 1"), "{}", refused());
    }
}
