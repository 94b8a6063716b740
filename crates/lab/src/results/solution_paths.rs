//! Where the solutions of runs are, within the folder of results.

use super::file_name::group_file_names;
use crate::plan::{Plan, SavedSolutions};

/// The files of all runs' solutions within the folder of results, run by run; none if the plan asks
/// for none. Those of different runs have different names, whatever their labels are.
pub(super) fn solution_paths(plan: &Plan) -> impl Iterator<Item = String> {
    let names = if plan.solutions == SavedSolutions::None { Vec::new() } else { group_file_names(plan) };
    names.into_iter().flat_map(|name| plan.seeds.iter().map(move |seed| solution_path(&name, *seed)))
}

/// The file of the solution of a run of this group and seed.
pub(super) fn solution_path(name: &str, seed: u64) -> String {
    format!("solutions/{name}-{seed}.safetensors")
}
