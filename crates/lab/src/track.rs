//! The track of an agent of a real run: where it was after every so many rounds, written by its node
//! and read when the run is put together.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_core::Scalar;
use fabnet_files::{Files, Frames, FramesError, Interruption, Label, ReadFrames, read_frames};

use crate::plan::{Group, Plan};

/// Where an agent was. What is private to it is not in here.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark<T> {
    /// After this round.
    pub round: u64,
    /// Seconds since the epoch of the system's clock.
    pub time: f64,
    /// Bytes that it had sent in its present life.
    pub bytes: u64,
    /// The point, as far as it is shared.
    pub point: Vec<T>,
}

/// The file of one agent, open for writing. Marks that cannot be written, because a disk is full,
/// are kept in memory and written when there is space again.
#[derive(Debug)]
pub struct Track {
    frames: Frames,
    path: PathBuf,
    /// Bytes of a point that are recorded.
    point: usize,
    unwritten: VecDeque<Vec<u8>>,
    /// Bytes of unwritten marks.
    waiting: usize,
    /// Marks that were given up.
    lost: u64,
    last_round: Option<u64>,
}

/// Marks of a track are missing.
#[derive(Debug, thiserror::Error)]
#[error("{}: {missing} records could not be written{}", path.display(), reason(error.as_ref()))]
pub struct TrackIncomplete {
    /// The file.
    pub path: PathBuf,
    /// How many records are missing.
    pub missing: u64,
    /// Why the last attempt failed, if it did.
    pub error: Option<io::Error>,
}

fn reason(error: Option<&io::Error>) -> String {
    error.map_or_else(|| " while the disk was full".into(), |error| format!(": {error}"))
}

const HEAD: usize = 24;

impl Track {
    /// Bytes of marks that wait for space at most; beyond that the oldest are given up.
    const ROOM: usize = 64 << 20;

    /// Goes on with a file, or begins it. A record that was not written whole is cut off; how many
    /// bytes that were is returned.
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

    /// Adds a mark, from a point scalar by scalar of which the shared ones come first. An error says
    /// that the mark waits for space.
    pub fn add(&mut self, round: u64, time: f64, bytes: u64, point: &[u8]) -> io::Result<()> {
        let mut mark = Vec::with_capacity(HEAD + self.point);
        mark.extend(round.to_le_bytes());
        mark.extend(time.to_le_bytes());
        mark.extend(bytes.to_le_bytes());
        mark.extend(point.iter().take(self.point));
        self.last_round = Some(round);
        self.waiting += mark.len();
        self.unwritten.push_back(mark);
        while self.waiting > Self::ROOM
            && let Some(oldest) = self.unwritten.pop_front()
        {
            self.waiting -= oldest.len();
            self.lost += 1;
        }
        self.write_waiting()
    }

    /// The round of the newest mark of this process.
    pub fn last_round(&self) -> Option<u64> {
        self.last_round
    }

    /// Writes marks that wait for space.
    pub fn write_waiting(&mut self) -> io::Result<()> {
        while let Some(mark) = self.unwritten.front() {
            self.frames.append(mark)?;
            self.waiting -= mark.len();
            self.unwritten.pop_front();
        }
        Ok(())
    }

    /// Returns when everything that was written would survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        self.frames.sync()
    }

    /// Writes what waits, and says whether every mark is safe.
    pub fn finish(&mut self) -> Result<(), TrackIncomplete> {
        let error = self.write_waiting().and_then(|()| self.sync()).err();
        let missing = self.lost + self.unwritten.len() as u64;
        if missing == 0 && error.is_none() {
            return Ok(());
        }
        Err(TrackIncomplete { path: self.path.clone(), missing, error })
    }
}

/// What every track of a run has in common, beside the run and the agent.
pub fn track_label<T: Scalar>(run: &str, agent: u32, plan: &Plan, width: usize) -> Label {
    Label::new("track 1", run, agent)
        .with("scalar", T::BYTES)
        .with("width", width)
        .with("experiment", experiment_digest(plan))
}

/// A number for what a plan computes, whatever it measures and however it is called.
fn experiment_digest(plan: &Plan) -> String {
    let computed = |group: &Group| {
        let mut group = Group { label: String::new(), grid: Vec::new(), network: None, ..group.clone() };
        group.problem.settings.retain(|(key, _)| key != "sha256");
        format!("{group:?}")
    };
    let groups: Vec<String> = plan.groups.iter().map(computed).collect();
    let text = format!("{:?} {} {groups:?}", plan.seeds, plan.every);
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
}

/// A track as it was found.
#[derive(Debug)]
pub(crate) struct ReadTrack<T> {
    pub(crate) label: Label,
    pub(crate) marks: Vec<Mark<T>>,
    pub(crate) interruption: Option<Interruption>,
}

impl<T: Scalar> ReadTrack<T> {
    /// Reads a file; none if nothing was recorded.
    pub(crate) fn read(files: &dyn Files, path: &Path) -> Result<Option<Self>, FramesError> {
        let Some(read) = read_frames(files, path)? else { return Ok(None) };
        let Some(label) = read.label.clone() else { return Ok(None) };
        let marks = marks(&read);
        Ok(Some(Self { label, marks, interruption: read.interruption }))
    }
}

fn marks<T: Scalar>(read: &ReadFrames) -> Vec<Mark<T>> {
    let mark = |record: &[u8]| {
        let (words, _) = record.get(..HEAD)?.as_chunks::<8>();
        let &[round, time, bytes] = words else { return None };
        Some(Mark {
            round: u64::from_le_bytes(round),
            time: f64::from_le_bytes(time),
            bytes: u64::from_le_bytes(bytes),
            point: record[HEAD..].chunks_exact(T::BYTES).map(T::read).collect(),
        })
    };
    read.records().filter_map(mark).collect()
}
