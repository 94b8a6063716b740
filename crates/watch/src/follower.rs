//! Follows a recording while it is written.

use std::path::{Path, PathBuf};

use fabnet_files::{Files, FramesError, read_frames_after};

/// Reads a recording as it grows.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// The byte after the last record that was read.
    at: u64,
}

/// An item as it is recorded, with the name of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedItem {
    /// `hello`, `frame` or `event`.
    pub name: &'static str,
    /// The item itself, as JSON.
    pub json: String,
}

impl Follower {
    /// Follows the recording at this path from its beginning.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), at: 0 }
    }

    /// The path of the recording.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The items that were added since the last call. A recording that was written anew, because it
    /// had grown too long, is read from its beginning again; so its first item returns.
    pub fn read(&mut self, files: &dyn Files) -> Result<Vec<NamedItem>, FramesError> {
        let shorter = files.length(&self.path).is_ok_and(|length| length < self.at);
        let read = if shorter { None } else { read_frames_after(files, &self.path, self.at).ok() };
        let (records, at) = match read {
            Some(read) => read,
            None => match read_frames_after(files, &self.path, 0)? {
                // What stands before a record that is damaged was read before.
                (_, at) if at == self.at => return Ok(Vec::new()),
                anew => anew,
            },
        };
        self.at = at;
        Ok(records.into_iter().filter_map(named).collect())
    }
}

/// Takes an item out of its record; `None` if it is of a kind that this version does not know.
fn named(record: Vec<u8>) -> Option<NamedItem> {
    let text = String::from_utf8(record).ok()?;
    ["hello", "frame", "event"].into_iter().find_map(|name| {
        let item = text.strip_prefix("{\"")?.strip_prefix(name)?.strip_prefix("\":")?.strip_suffix('}')?;
        Some(NamedItem { name, json: item.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fabnet_files::MemoryFiles;

    use super::*;
    use crate::{Hello, Item, RunSource, StreamFile, TimeUnit, WatchEvent, WatchFrame};

    #[test]
    fn items_come_as_they_are_written_and_again_when_a_recording_is_written_anew() {
        let (files, path) = (Arc::new(MemoryFiles::default()), Path::new("watch"));
        let mut follower = Follower::new(path);
        assert!(follower.read(&*files).unwrap().is_empty(), "nothing was written yet");
        let hello = Hello::new(RunSource::Run, TimeUnit::Seconds, 2);
        let mut recording = StreamFile::begin(files.clone(), path, hello.clone(), 5000).unwrap();
        recording.add(&Item::Event(WatchEvent::new(0.5, 1, "kill"))).unwrap();
        let items = follower.read(&*files).unwrap();
        assert_eq!(items.iter().map(|item| item.name).collect::<Vec<_>>(), ["hello", "event"]);
        assert_eq!(serde_json::from_str::<Hello>(&items[0].json).unwrap(), hello);
        assert_eq!(items[1].json, r#"{"t":0.5,"k":1,"kind":"kill"}"#);
        assert!(follower.read(&*files).unwrap().is_empty());
        let mut hellos = 0;
        for time in 0..500 {
            recording.add(&Item::Frame(WatchFrame { t: f64::from(time), ..WatchFrame::default() })).unwrap();
            let items = follower.read(&*files).unwrap();
            hellos += items.iter().filter(|item| item.name == "hello").count();
            let last: WatchFrame = serde_json::from_str(&items.last().unwrap().json).unwrap();
            assert_eq!(last.t, f64::from(time));
        }
        assert!(hellos > 1, "it has grown too long several times");
    }

    #[test]
    fn what_stands_before_a_damaged_record_comes_once() {
        let (files, path) = (Arc::new(MemoryFiles::default()), Path::new("watch"));
        let hello = Hello::new(RunSource::Run, TimeUnit::Seconds, 2);
        let mut recording = StreamFile::begin(files.clone(), path, hello, 5000).unwrap();
        let end = files.length(path).unwrap() as usize;
        recording.add(&Item::Event(WatchEvent::new(0.5, 1, "kill"))).unwrap();
        let mut bytes = files.read(path).unwrap();
        bytes[end + 9] ^= 1;
        files.write(path, &bytes).unwrap();
        let mut follower = Follower::new(path);
        let counts = [(); 3].map(|()| follower.read(&*files).unwrap().len());
        assert_eq!(counts, [1, 0, 0]);
    }
}
