//! The lab: an experiment is one file. It becomes a resolved plan, the plan becomes runs, and the runs leave records, a summary and figures.
#![warn(clippy::unwrap_used)]

mod check;
mod engine;
mod experiment;
pub mod figure;
mod finding;
mod folder;
mod grid;
mod job;
mod joined;
mod list;
mod metric;
mod mistake;
mod plan;
mod problem;
mod report;
mod resolver;
mod runner;
mod section;
mod setup;
mod stopwatch;
mod summary;
mod track;
mod tree;
mod tune;

pub use check::{Check, check};
pub use engine::Engine;
pub use experiment::{Experiment, Wire};
pub use fabnet_problems::learning::data;
pub use finding::write_findings_of;
pub use folder::Folder;
pub use job::{Job, JobError, Witness};
pub use list::{Topic, reference, topics};
pub use metric::{consensus, metrics};
pub use mistake::{Mistake, Mistakes, Origin};
pub use plan::{Group, Part, Plan, Precision, Target, UnfitPlan};
pub use report::{ReportError, report};
pub use runner::{Pace, Report, carry_out_plan, collect};
pub use section::{Kind, Section};
pub use setup::{Brings, BringsAlgorithm, Setup, SetupError, divide};
pub use stopwatch::{Stopwatch, timestamp};
pub use summary::{GroupSummary, Launched, Middle, Outcome, RunSummary, Spread, Summary};
pub use track::{Mark, Track};
pub use tune::{Score, Tuning, tune};
