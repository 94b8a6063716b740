//! The folder of results: what runs write while they are under way, and what they leave when they
//! are done.

mod ending;
mod error;
mod experiment_digest;
mod file_name;
mod folder;
mod group_summary;
mod jobs;
mod rows;
mod run_settings;
mod solution;
mod solution_paths;
mod statistics;
mod summary;
mod tensor_file;
mod track;
mod tracks;
mod verified;

pub use ending::Outcome;
pub(crate) use ending::{ExactNumber, RunEnding};
pub use error::{Damage, FolderError};
pub(crate) use experiment_digest::experiment_digest;
pub(crate) use file_name::job_file_name;
pub use folder::{Folder, FolderState};
pub use group_summary::{GroupSummary, MetricStatistics, RoundStatistics};
pub(crate) use jobs::{Checkpoint, FinishedRun, Jobs};
pub(crate) use rows::{Extent, Rows};
pub(crate) use solution::{agent_solution, write_solution};
pub(crate) use statistics::{failures, median, moments, quantile};
pub use summary::{Launched, RunSummary, Summary};
pub use track::{ReadTrack, Track, TrackIncomplete, TrackPoint, track_label};
pub(crate) use tracks::Tracks;
pub use tracks::{Gap, GapKind, NotWhole};
