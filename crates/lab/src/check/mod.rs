//! Everything that can be known before a run: the network, step sizes, what a trial run shows, and
//! what runs will cost.

mod checker;
mod criteria;
mod displaced_start;
mod divergence;
mod extrapolation;
mod growth;
mod network;
mod not_checked;
mod plan_report;
mod report;
mod smoothness;
mod text;
mod trial;
mod trial_plan;
mod trial_runs;
mod warning;

pub use checker::check;
pub use criteria::StepSizes;
pub use extrapolation::Forecast;
pub use network::NetworkReport;
pub use plan_report::PlanReport;
pub use report::{Check, GroupReport, Total, Verdict};
pub(crate) use smoothness::smoothness;
pub use trial::Trial;
pub use warning::{Warning, WarningKind};
