//! The tracks of all agents of a real run, and what is missing in them.

use std::fmt;
use std::path::PathBuf;

use fabnet_core::Scalar;
use fabnet_files::{Files, FramesError, Interruption, Label};

use super::track::{ReadTrack, TrackPoint};

/// The recorded points of each agent, and everything that is missing for a complete run.
#[derive(Debug)]
pub(crate) struct Tracks<T> {
    /// The points of each agent, in the order in which they were recorded.
    pub(crate) points: Vec<Vec<TrackPoint<T>>>,
    /// Everything that is missing.
    pub(crate) gaps: Vec<Gap>,
}

/// Something that is missing in the records of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The number of the agent.
    pub agent: usize,
    /// What is missing of the agent.
    pub what: GapKind,
}

/// What is missing of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GapKind {
    /// The agent has recorded nothing.
    Nothing,
    /// The track cannot be read; the field says why.
    Unreadable(String),
    /// The track belongs to another run, or to another agent.
    OtherRun {
        /// The file of the track.
        path: PathBuf,
        /// The run and the agent that its label names.
        found: String,
        /// The run and the agent that its label has to name.
        expected: String,
    },
    /// A record in the middle is damaged; those after it are not read.
    Damaged {
        /// The file of the track.
        path: PathBuf,
        /// The number of records before the damaged one.
        after: usize,
        /// The byte at which the damaged record begins.
        at: u64,
    },
    /// The last record was not written completely.
    Torn {
        /// The file of the track.
        path: PathBuf,
    },
    /// The records end before the run does.
    Early {
        /// The round of the last record.
        last: u64,
        /// The round at which the run ends.
        end: u64,
    },
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, what } = self;
        match what {
            GapKind::Nothing => write!(f, "agent {agent} has recorded nothing in the folders given"),
            GapKind::Unreadable(why) => write!(f, "the track of agent {agent} cannot be read: {why}"),
            GapKind::OtherRun { path, found, expected } => {
                write!(f, "{} is of {found}; the others are of {expected}", path.display())
            }
            GapKind::Damaged { path, after, at } => {
                write!(f, "{}: the record after the first {after}, at byte {at}, is damaged", path.display())
            }
            GapKind::Torn { path } => write!(f, "{}: the last record was not written whole", path.display()),
            GapKind::Early { last, end } => {
                write!(
                    f,
                    "the records of agent {agent} end with round {last} of {end}: it is still running, or has died"
                )
            }
        }
    }
}

/// The records of a run are not complete.
#[derive(Debug, thiserror::Error)]
#[error(
    "these records are not a whole run:\n  {}\nName the state folders of all nodes when they have ended, or accept \
     what there is with --partial",
    list(.0)
)]
pub struct NotWhole(pub Vec<Gap>);

fn list(gaps: &[Gap]) -> String {
    gaps.iter().map(Gap::to_string).collect::<Vec<_>>().join("\n  ")
}

impl<T: Scalar> Tracks<T> {
    /// Reads the track of each agent, where there is one, of a run that ends with this round.
    /// `expected` is the label that the track of agent 0 has to have, apart from the run.
    pub(crate) fn read(files: &dyn Files, paths: &[Option<PathBuf>], expected: &Label, end: u64) -> Self {
        let mut tracks = Self { points: vec![Vec::new(); paths.len()], gaps: Vec::new() };
        let found: Vec<_> = paths.iter().map(|path| path.as_ref().map(|path| ReadTrack::read(files, path))).collect();
        let labels = found.iter().flatten().filter_map(|read| Some(read.as_ref().ok()?.as_ref()?.label.clone()));
        let run = most_frequent(labels.filter(|label| label.details == expected.details).map(|label| label.run));
        let expected = Label { run: run.unwrap_or_default(), ..expected.clone() };
        for (agent, (path, read)) in paths.iter().zip(found).enumerate() {
            let path = path.clone().unwrap_or_default();
            if let Err(what) = tracks.take(agent, path, read, &expected, end) {
                tracks.gaps.push(Gap { agent, what });
            }
        }
        tracks
    }

    /// Adds what was found of an agent; the error says what is missing.
    fn take(
        &mut self,
        agent: usize,
        path: PathBuf,
        read: Option<Result<Option<ReadTrack<T>>, FramesError>>,
        expected: &Label,
        end: u64,
    ) -> Result<(), GapKind> {
        let read = read.transpose().map_err(|error| GapKind::Unreadable(error.to_string()))?;
        let track: ReadTrack<T> = read.flatten().ok_or(GapKind::Nothing)?;
        let expected = Label { agent: agent as u32, ..expected.clone() };
        if track.label != expected {
            return Err(GapKind::OtherRun { path, found: track.label.to_string(), expected: expected.to_string() });
        }
        let (after, last) = (track.points.len(), track.points.iter().map(|point| point.round).max());
        self.points[agent] = track.points;
        match (track.interruption, last) {
            (Some(Interruption::Damaged { at }), _) => Err(GapKind::Damaged { path, after, at }),
            (_, None) => Err(GapKind::Nothing),
            (_, Some(last)) if last < end => Err(GapKind::Early { last, end }),
            (Some(Interruption::Torn { .. }), _) => Err(GapKind::Torn { path }),
            (None, Some(_)) => Ok(()),
        }
    }
}

/// The run that most tracks belong to.
fn most_frequent(runs: impl Iterator<Item = String>) -> Option<String> {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    runs.for_each(|run| *counts.entry(run).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(run, _)| run)
}
