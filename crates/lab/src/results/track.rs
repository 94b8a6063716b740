//! The track of an agent of a real run: its point after every few rounds, written by its node and
//! read when the run is collected.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// The file of one agent, open for writing. Points that cannot be written, because a disk is full,
/// are kept in memory and written when there is space again.
#[derive(Debug)]
pub struct Track {
    frames: Frames,
    path: PathBuf,
    /// The bytes of a point that are recorded.
    point: usize,
    /// The records that wait for space, the oldest first.
    unwritten: VecDeque<Vec<u8>>,
    /// The bytes of these records.
    waiting: usize,
    /// The number of records that were given up.
    lost: u64,
    last_round: Option<u64>,
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
    /// The largest number of bytes that wait for space; beyond it the oldest records are given up.
    const ROOM: usize = 64 << 20;

    /// Continues a file, or begins it. A record that was not written completely is cut off; the
    /// number of these bytes is returned.
    pub fn open(files: Arc<dyn Files>, path: &Path, label: Label) -> Result<(Self, u64), FramesError> {
        let number = |name: &str| label.detail(name).and_then(|value| value.parse::<usize>().ok()).unwrap_or(0);
        let point = number("width") * number("scalar");
        let (frames, cut) = Frames::open(files, path, label)?;
        let track = Self {
            frames,
            path: path.to_owned(),
            point,
            unwritten: VecDeque::new(),
            waiting: 0,
            lost: 0,
            last_round: None,
        };
        Ok((track, cut))
    }

    /// Adds a record. The point is given as the bytes of its scalars, the shared ones first. An
    /// error says that the record waits for space.
    pub fn add(&mut self, round: u64, time: f64, costs: Costs, point: &[u8]) -> io::Result<()> {
        let mut record = Vec::with_capacity(HEAD + self.point);
        record.extend(round.to_le_bytes());
        record.extend(time.to_le_bytes());
        let Costs { bytes, scalar_bytes, evaluations } = costs;
        for count in [bytes, scalar_bytes, evaluations.upper, evaluations.lower, evaluations.products] {
            record.extend(count.to_le_bytes());
        }
        record.extend(point.iter().take(self.point));
        self.last_round = Some(round);
        self.waiting += record.len();
        self.unwritten.push_back(record);
        while self.waiting > Self::ROOM
            && let Some(oldest) = self.unwritten.pop_front()
        {
            self.waiting -= oldest.len();
            self.lost += 1;
        }
        self.write_waiting()
    }

    /// The round of the newest record of this process.
    pub fn last_round(&self) -> Option<u64> {
        self.last_round
    }

    /// Writes the records that wait for space.
    pub fn write_waiting(&mut self) -> io::Result<()> {
        while let Some(record) = self.unwritten.front() {
            self.frames.append(record)?;
            self.waiting -= record.len();
            self.unwritten.pop_front();
        }
        Ok(())
    }

    /// Returns when everything that was written would survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        self.frames.sync()
    }

    /// Writes the records that wait; an error says that some are missing.
    pub fn finish(&mut self) -> Result<(), TrackIncomplete> {
        let error = self.write_waiting().and_then(|()| self.sync()).err();
        let missing = self.lost + self.unwritten.len() as u64;
        if missing == 0 && error.is_none() {
            return Ok(());
        }
        Err(TrackIncomplete { path: self.path.clone(), missing, error })
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
pub(super) struct ReadTrack<T> {
    pub(super) label: Label,
    pub(super) points: Vec<TrackPoint<T>>,
    /// Where the records end early, if they do.
    pub(super) interruption: Option<Interruption>,
}

impl<T: Scalar> ReadTrack<T> {
    /// Reads the file of a track; `None` if nothing was recorded.
    pub(super) fn read(files: &dyn Files, path: &Path) -> Result<Option<Self>, FramesError> {
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
