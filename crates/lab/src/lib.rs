//! The lab: an experiment is one file. It resolves to a plan, the plan is carried out as runs, and
//! the runs leave records, a summary and figures.
#![warn(clippy::unwrap_used)]

mod bench;
mod check;
mod estimate;
pub mod figure;
mod file;
mod list;
mod memory;
mod method_map;
mod metric;
mod missing_feature;
mod number;
mod plan;
mod problems;
mod registry;
mod report;
mod results;
mod run;
mod scales;
mod settings;
mod tune;

pub use bench::{
    BenchCell, BenchError, BenchOptions, BenchProgress, BenchResults, BenchmarkPage, CellResult, CostAtTarget, Design,
    Machine, TestRun, run_benchmark,
};
pub use check::{
    Check, Forecast, GroupReport, NetworkReport, PlanReport, StepSizes, Total, Trial, Verdict, Warning, WarningKind,
    check,
};
pub use estimate::{MemoryNeeds, MemoryShortage, TooManyRuns};
#[cfg(feature = "learning")]
pub use fabnet_problems::learning::data;
pub use file::{Diagnostic, Diagnostics, Experiment, RegistryEntry, Section};
pub use list::{Topic, reference, tables, topics};
pub use metric::{Metric, metrics};
pub use missing_feature::MissingFeature;
pub use plan::{
    EntryOrigin, Group, Job, Location, Origin, Plan, PlanEntry, Precision, SavedSolutions, Target, UnfitPlan,
};
pub use registry::RegistryError;
pub use report::{Reduced, ReportError, reduce, report, report_lines};
pub use results::{
    Damage, Folder, FolderError, FolderState, Gap, GapKind, GroupSummary, Launched, MetricStatistics, NotWhole,
    Outcome, ReadTrack, RoundStatistics, RunSummary, Summary, Track, TrackIncomplete, TrackPoint, track_label,
};
pub use run::{
    AgentMetric, AlgorithmMisfit, Collection, CustomAlgorithm, CustomParts, Disconnected, JobError, Progress, Report,
    RunMetrics, RunOptions, Setup, SetupError, Simulator, Stopwatch, WorstAgent, carry_out_plan, collect, conclude,
    divide, hello_of_nodes, preflight, timestamp, write_findings_of, write_solution_of,
};
pub use scales::warnings;
pub use settings::NetworkSettings;
pub use tune::{Objective, Score, TuneError, Tuned, TunedGroup, tune};
