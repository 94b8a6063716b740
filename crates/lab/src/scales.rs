//! Whether the inputs of all agents, where these bring their own data, have the same scale.

use fabnet_core::settings::{SettingsReader, SettingsSource, Value};
use fabnet_core::{DataRange, Problem, ProblemExt};

use crate::plan::{Plan, PlanEntry};
use crate::problems::problems;

/// The factor by which an agent's scale may differ from the median before a warning is given.
const FACTOR: f64 = 10.0;

/// Warnings about the data of a plan: agents whose inputs are on another scale than the others'.
pub fn warnings(plan: &Plan) -> Vec<String> {
    let mut seen: Vec<(&PlanEntry, usize)> = Vec::new();
    let mut warnings = Vec::new();
    for group in &plan.groups {
        let key = (&group.problem, group.agents);
        if group.problem.get("data") == Some(Value::from("own")) && !seen.contains(&key) {
            seen.push(key);
            warnings.extend(read(&group.problem, group.agents).and_then(|problem| warning(&*problem)));
        }
    }
    warnings
}

/// Makes the problem; `None` if that fails, which is reported when a run is set up.
fn read(entry: &PlanEntry, agents: usize) -> Option<std::sync::Arc<dyn Problem<f64>>> {
    let kind = problems::<f64>().into_iter().find(|kind| kind.name == entry.kind)?;
    (kind.read)(&mut SettingsReader::new(entry))(agents, 0).ok()
}

/// Compares the scale of each agent's inputs with the median over agents.
fn warning(problem: &dyn Problem<f64>) -> Option<String> {
    let ranges: Vec<(usize, DataRange)> =
        (0..problem.agents()).filter_map(|agent| Some((agent, problem.data_range(agent)?))).collect();
    let mut order: Vec<&(usize, DataRange)> = ranges.iter().collect();
    order.sort_by(|a, b| a.1.rms.total_cmp(&b.1.rms));
    // The lower median: where two agents differ, the one with larger inputs is reported.
    let (_, median) = order.get(order.len().saturating_sub(1) / 2)?;
    let differs = |range: &DataRange| range.rms > FACTOR * median.rms || range.rms < median.rms / FACTOR;
    let odd: Vec<String> =
        ranges.iter().filter(|(_, range)| differs(range)).map(|(agent, range)| said(*agent, range)).collect();
    (!odd.is_empty()).then(|| {
        format!(
            "the data of some agents is on another scale than usual here (from {:.3} to {:.3}, root mean square \
             {:.3}): {}. Prepare the samples of all agents in the same way",
            median.low,
            median.high,
            median.rms,
            shortened(&odd)
        )
    })
}

/// Describes the inputs of an agent.
fn said(agent: usize, DataRange { low, high, rms }: &DataRange) -> String {
    format!("agent {agent} from {low:.3} to {high:.3}, root mean square {rms:.3}")
}

/// Joins the first few items of a list, and counts the others.
fn shortened(list: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = list[..list.len().min(SHOWN)].join("; ");
    if list.len() > SHOWN { format!("{shown}; and {} more", list.len() - SHOWN) } else { shown }
}
