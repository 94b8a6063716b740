//! Whether the data that agents bring themselves is on one scale.

use fabnet_core::settings::{Given, Keys, Value};
use fabnet_core::{DataRange, Problem};

use crate::plan::{Part, Plan};
use crate::problem::problems;

/// How many times larger or smaller than the usual one an agent's scale is before it is worth a warning.
const FACTOR: f64 = 10.0;

/// What a person should know about the data of a plan before it runs: agents whose inputs are on another scale.
pub fn warnings(plan: &Plan) -> Vec<String> {
    let mut seen: Vec<(&Part, usize)> = Vec::new();
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

/// The problem; none if it cannot be made, which is said when a run is set up.
fn read(part: &Part, agents: usize) -> Option<std::sync::Arc<dyn Problem<f64>>> {
    let kind = problems::<f64>().into_iter().find(|kind| kind.name == part.kind)?;
    (kind.read)(&mut Keys::new(part))(agents, 0).ok()
}

/// Compares the scale of each agent's inputs with the median of all.
fn warning(problem: &dyn Problem<f64>) -> Option<String> {
    let ranges: Vec<(usize, DataRange)> =
        (0..problem.agents()).filter_map(|agent| Some((agent, problem.data_range(agent)?))).collect();
    let mut order: Vec<&(usize, DataRange)> = ranges.iter().collect();
    order.sort_by(|a, b| a.1.rms.total_cmp(&b.1.rms));
    // The lower of two: where two agents differ, the one with larger inputs is named.
    let (_, usual) = order.get(order.len().saturating_sub(1) / 2)?;
    let differs = |range: &DataRange| range.rms > FACTOR * usual.rms || range.rms < usual.rms / FACTOR;
    let odd: Vec<String> =
        ranges.iter().filter(|(_, range)| differs(range)).map(|(agent, range)| said(*agent, range)).collect();
    (!odd.is_empty()).then(|| {
        format!(
            "the data of some agents is on another scale than usual here (from {:.3} to {:.3}, root mean square {:.3}): {}. \
             Prepare the samples of all agents in the same way",
            usual.low, usual.high, usual.rms, shortened(&odd)
        )
    })
}

fn said(agent: usize, DataRange { low, high, rms }: &DataRange) -> String {
    format!("agent {agent} from {low:.3} to {high:.3}, root mean square {rms:.3}")
}

fn shortened(list: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = list[..list.len().min(SHOWN)].join("; ");
    if list.len() > SHOWN { format!("{shown}; and {} more", list.len() - SHOWN) } else { shown }
}
