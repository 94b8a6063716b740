//! What a check did not look at.

use super::extrapolation::Forecast;
use super::report::GroupReport;
use super::trial_plan::PART;
use crate::plan::Plan;

/// Lists what the check of these groups did not look at, in words.
pub(super) fn not_checked(plan: &Plan, groups: &[GroupReport]) -> Vec<String> {
    let mut list = Vec::new();
    let tried = groups.iter().map(|group| group.trials.len()).min().unwrap_or(0);
    if tried < plan.seeds.len() {
        let rest = &plan.seeds[tried..];
        let which = format!("{} to {}", rest[0], rest[rest.len() - 1]);
        let all = if groups.iter().all(|group| group.trials.len() == tried) { "" } else { ", in some groups" };
        list.push(format!("{} of {} seeds were not tried ({which}{all})", rest.len(), plan.seeds.len()));
    }
    let seen: Vec<u64> = groups.iter().flat_map(|group| &group.trials).map(|trial| trial.seen).collect();
    if let (Some(least), Some(most)) = (seen.iter().min(), seen.iter().max()) {
        let rounds = if least == most { least.to_string() } else { format!("{least} to {most}, by group") };
        list.push(format!("rounds after {rounds} were extrapolated, not run"));
    }
    for GroupReport { label, rounds, .. } in groups.iter().filter(|group| group.trials.is_empty()) {
        list.push(format!("{label}: no trial run, because one in {PART} of its {rounds} rounds is none"));
    }
    let unclear = |group: &&GroupReport| group.trials.iter().any(|trial| trial.forecast == Forecast::Unclear);
    for group in groups.iter().filter(unclear) {
        list.push(format!("{}: the trial run was too short to tell whether the run diverges", group.label));
    }
    for group in groups.iter().filter(|group| group.step_sizes.tolerance_is_open()) {
        let reason = "because agents are not connected, or trials on this network take too long";
        list.push(format!("{}: which step sizes consensus tolerates, {reason}", group.label));
    }
    list.push("how accurate results will be".to_owned());
    list
}
