//! The track of an agent of a real run: its point after every few rounds, written by its node and
//! read when the run is collected.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fabnet_core::{Costs, Evaluations, Scalar};
use fabnet_files::{Files, Frames, FramesError, Interruption, Label, ReadFrames, read_frames};

use super::experiment_digest::experiment_digest;
use crate::plan::Plan;

/// The recorded point of an agent, without its private coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackPoint<T> {
    /// The round after which the agent was there.
    pub round: u64,
    /// The time of the system's clock, in seconds since the epoch.
    pub time: f64,
    /// What the agent had spent since its node was started.
    pub costs: Costs,
    /// The shared part of the point.
    pub point: Vec<T>,
}

/// The file of one agent, open for writing. Points are kept in memory until they are written: when
/// somebody finds the time, and there is space on the disk.
#[derive(Debug)]
pub struct Track {
    /// Held while the disk works.
    frames: Mutex<Frames>,
    path: PathBuf,
    /// The bytes of a point that are recorded.
    point: usize,
    /// Never held while the disk works.
    waiting: Mutex<Waiting>,
}

/// The records that wait to be written.
#[derive(Debug, Default)]
struct Waiting {
    /// The oldest first.
    records: VecDeque<Vec<u8>>,
    /// The bytes of these records.
    bytes: usize,
    /// The number of records that were given up.
    lost: u64,
}

impl Waiting {
    /// The largest number of bytes that wait; beyond it the oldest records are given up, but never
    /// the newest one.
    const ROOM: usize = 64 << 20;

    fn add(&mut self, record: Vec<u8>) {
        self.bytes += record.len();
        self.records.push_back(record);
        while self.bytes > Self::ROOM && self.records.len() > 1 {
            self.take();
            self.lost += 1;
        }
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let record = self.records.pop_front()?;
        self.bytes -= record.len();
        Some(record)
    }

    fn put_back(&mut self, record: Vec<u8>) {
        self.bytes += record.len();
        self.records.push_front(record);
    }
}

/// Some records of a track could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {missing} records could not be written{}", path.display(), reason(error.as_ref()))]
pub struct TrackIncomplete {
    /// The file of the track.
    pub path: PathBuf,
    /// The number of records that are missing.
    pub missing: u64,
    /// Why the last attempt failed, if it did.
    pub error: Option<io::Error>,
}

fn reason(error: Option<&io::Error>) -> String {
    error.map_or_else(|| " while the disk was full".into(), |error| format!(": {error}"))
}

/// The bytes of a record before its point: the round, the time, the bytes sent, those of scalars,
/// and the evaluations by kind.
const HEAD: usize = 56;

impl Track {
    /// Continues a file, or begins it. A record that was not written completely is cut off; the
    /// number of these bytes is returned.
    pub fn open(files: Arc<dyn Files>, path: &Path, label: Label) -> Result<(Self, u64), FramesError> {
        let number = |name: &str| label.detail(name).and_then(|value| value.parse::<usize>().ok()).unwrap_or(0);
        let point = number("width") * number("scalar");
        let (frames, cut) = Frames::open(files, path, label)?;
        let (frames, waiting) = (Mutex::new(frames), Mutex::default());
        Ok((Self { frames, path: path.to_owned(), point, waiting }, cut))
    }

    /// Adds a record, which waits to be written. The point is given as the bytes of its scalars,
    /// the shared ones first. This does not wait for the disk.
    pub fn add(&self, round: u64, time: f64, costs: Costs, point: &[u8]) {
        let mut record = Vec::with_capacity(HEAD + self.point);
        record.extend(round.to_le_bytes());
        record.extend(time.to_le_bytes());
        let Costs { bytes, scalar_bytes, evaluations } = costs;
        for count in [bytes, scalar_bytes, evaluations.upper, evaluations.lower, evaluations.products] {
            record.extend(count.to_le_bytes());
        }
        record.extend_from_slice(&point[..self.point.min(point.len())]);
        self.waiting().add(record);
    }

    /// Writes the records that wait. An error says that some still do.
    pub fn write_waiting(&self) -> io::Result<()> {
        let mut frames = self.frames();
        loop {
            let Some(record) = self.waiting().take() else { return Ok(()) };
            if let Err(error) = frames.append(&record) {
                self.waiting().put_back(record);
                return Err(error);
            }
        }
    }

    /// Returns when everything that was written would survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        self.frames().sync()
    }

    /// Writes the records that wait; an error says that some are missing.
    pub fn finish(&self) -> Result<(), TrackIncomplete> {
        let error = self.write_waiting().and_then(|()| self.sync()).err();
        let waiting = self.waiting();
        let missing = waiting.lost + waiting.records.len() as u64;
        if missing == 0 && error.is_none() {
            return Ok(());
        }
        Err(TrackIncomplete { path: self.path.clone(), missing, error })
    }

    fn frames(&self) -> MutexGuard<'_, Frames> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The label of an agent's track: tracks of one run differ in the agent only.
pub fn track_label<T: Scalar>(run: &str, agent: u32, plan: &Plan, width: usize) -> Label {
    Label::new("track 2", run, agent)
        .with("scalar", T::BYTES)
        .with("width", width)
        .with("experiment", experiment_digest(plan))
}

/// A track that was read from a file.
#[derive(Debug)]
pub struct ReadTrack<T> {
    /// The run and the agent that it belongs to.
    pub label: Label,
    /// The points of all complete records, in the order in which they were recorded.
    pub points: Vec<TrackPoint<T>>,
    /// Where the records end early, if they do.
    pub interruption: Option<Interruption>,
}

impl<T: Scalar> ReadTrack<T> {
    /// Reads the file of a track; `None` if nothing was recorded.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Option<Self>, FramesError> {
        let Some(read) = read_frames(files, path)? else { return Ok(None) };
        let Some(label) = read.label.clone() else { return Ok(None) };
        let points = points(&read);
        Ok(Some(Self { label, points, interruption: read.interruption }))
    }
}

/// The points of all complete records.
fn points<T: Scalar>(read: &ReadFrames) -> Vec<TrackPoint<T>> {
    let point = |record: &[u8]| {
        let (words, _) = record.get(..HEAD)?.as_chunks::<8>();
        let &[round, time, ref counts @ ..] = words else { return None };
        let &[bytes, scalar_bytes, upper, lower, products] = counts else { return None };
        let [bytes, scalar_bytes] = [bytes, scalar_bytes].map(u64::from_le_bytes);
        let [upper, lower, products] = [upper, lower, products].map(u64::from_le_bytes);
        Some(TrackPoint {
            round: u64::from_le_bytes(round),
            time: f64::from_le_bytes(time),
            costs: Costs { bytes, scalar_bytes, evaluations: Evaluations { upper, lower, products } },
            point: record[HEAD..].chunks_exact(T::BYTES).map(T::read).collect(),
        })
    };
    read.records().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use fabnet_files::{FailingFiles, Failure, MemoryFiles};

    use super::*;

    const SCALARS: usize = 4;

    fn track(files: Arc<dyn Files>, scalars: usize) -> Track {
        let label = Label::new("track 2", "run", 0).with("scalar", 8).with("width", scalars);
        Track::open(files, Path::new("/state/0/track"), label).unwrap().0
    }

    fn rounds(files: &dyn Files) -> Vec<u64> {
        let read = ReadTrack::<f64>::read(files, Path::new("/state/0/track")).unwrap();
        read.map_or_else(Vec::new, |track| track.points.iter().map(|point| point.round).collect())
    }

    fn in_memory() -> Arc<MemoryFiles> {
        let files = Arc::new(MemoryFiles::default());
        files.create_folder(Path::new("/state/0")).unwrap();
        files
    }

    #[test]
    fn records_wait_in_order_until_they_are_written() {
        let memory = in_memory();
        let files = FailingFiles::new(memory.clone(), Failure::Full(6), 2);
        let track = track(Arc::new(files), SCALARS);
        for round in 1..=5 {
            track.add(round, 0.0, Costs::default(), &[0; 8 * SCALARS]);
            assert!(rounds(&*memory).len() < round as usize, "adding does not write");
            let _ = track.write_waiting();
        }
        while track.write_waiting().is_err() {}
        assert_eq!((rounds(&*memory), track.finish().is_ok()), ((1..=5).collect(), true));
    }

    #[test]
    fn a_record_larger_than_all_room_is_written() {
        let (memory, scalars) = (in_memory(), Waiting::ROOM / 8 + 1);
        let track = track(memory.clone(), scalars);
        for round in 1..=2 {
            track.add(round, 0.0, Costs::default(), &vec![0; 8 * scalars]);
        }
        assert_eq!(track.finish().unwrap_err().missing, 1, "there is room for the newest only");
        assert_eq!(rounds(&*memory), [2]);
    }
}
