//! What is run, for those who watch it.

use fabnet_core::Scalar;
use fabnet_core::settings::{SettingsSource, Value};
use fabnet_watch::{Hello, RunSource, TimeUnit};

use super::setup::Setup;
use crate::plan::{Group, Job, Plan, PlanEntry};

/// Whether a metric is the relative error, of the mean or of the worst agent. Frames then have that
/// of each agent.
pub(super) fn is_error(metric: &str) -> bool {
    ["relative_error", "worst_error"].contains(&metric)
}

/// The part of all messages that is lost, if the plan says so.
fn loss(faults: &PlanEntry) -> Option<f64> {
    if let Some(Value::Number(loss)) = faults.get("loss") { Some(loss) } else { None }
}

/// What a run is, for those who watch it.
pub(super) fn hello(job: Job<'_>) -> Hello {
    let Job { plan, group, seed, .. } = job;
    let run = format!("{}: {}, seed {seed}", plan.name, group.label);
    Hello { run: Some(run), ..describe(plan, group, RunSource::Run) }
}

/// What real nodes run, for those who watch them; agents have the names of their nodes.
pub fn hello_of_nodes<T: Scalar>(plan: &Plan, setup: &Setup<T>, names: Vec<String>) -> Hello {
    Hello {
        run: Some(plan.name.clone()),
        tick: Some(setup.network().tick.as_secs_f64()),
        names: Some(names),
        ..describe(plan, setup.group(), RunSource::Nodes)
    }
}

/// What the plan says of a run.
fn describe(plan: &Plan, group: &Group, source: RunSource) -> Hello {
    Hello {
        problem: Some(group.problem.kind.clone()),
        method: Some(group.algorithm.kind.clone()),
        topology: Some(group.topology.kind.clone()),
        rounds: Some(group.rounds),
        loss: group.faults.as_ref().and_then(loss),
        metric: plan.metrics.first().map(|name| if is_error(name) { "relative error" } else { name }.replace('_', " ")),
        target: plan
            .target
            .as_ref()
            .filter(|target| Some(&target.metric) == plan.metrics.first())
            .map(|target| target.below),
        ..Hello::new(source, TimeUnit::Seconds, group.agents)
    }
}
