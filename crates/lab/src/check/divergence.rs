//! Whether runs of a group may diverge.

use super::criteria::StepSizes;
use super::extrapolation::Forecast;
use super::report::GroupReport;
use super::warning::{Warning, WarningKind};

/// Warns if runs of a group may diverge: by its trial runs, or by criteria where these do not tell.
/// `quadratic` says whether the objectives are quadratic.
pub(super) fn divergence(group: &GroupReport, quadratic: bool) -> Option<Warning> {
    let of = |forecast| group.trials.iter().filter(move |trial| trial.forecast == forecast).count();
    let tried = group.trials.len();
    let message = match (of(Forecast::Diverged), of(Forecast::Diverges)) {
        (0, 0) if unreached(&group.step_sizes).is_some() => unreached(&group.step_sizes),
        (0, 0) if !quadratic || of(Forecast::Stable) == tried && tried > 0 => {
            // The criteria hold for quadratic objectives, and a trial run that sees enough is more
            // certain.
            None
        }
        (0, 0) => by_criteria(&group.step_sizes),
        (0, diverges) => {
            let growth = group.trials.iter().filter_map(|trial| trial.growth).fold(0.0, f64::max);
            Some(format!(
                "{diverges} of {tried} trial runs show growth by a factor of {growth:.5} a round: expect divergence \
                 within {} rounds",
                group.rounds
            ))
        }
        (diverged, _) => Some(format!("{diverged} of {tried} trial runs diverged")),
    }?;
    let advice = if group.step_sizes.given.is_some() {
        "take smaller step sizes, steps = \"auto\", or `fabnet tune`"
    } else {
        "give smaller step sizes"
    };
    let message = format!("{message}; {advice}");
    Some(Warning { group: Some(group.label.clone()), kind: WarningKind::Divergence, message })
}

/// What to expect of automatic step sizes of which none have converged on the network. Trial runs
/// are too short to tell.
fn unreached(sizes: &StepSizes) -> Option<String> {
    sizes.plan.as_ref().filter(|plan| !plan.converges)?;
    Some("no step sizes have converged in a trial on this network: expect slow progress, or none".to_owned())
}

/// Why step sizes lead to divergence, if they do.
fn by_criteria(sizes: &StepSizes) -> Option<String> {
    if let Some(mass) = sizes.coupling.filter(|mass| *mass > 1.0) {
        return Some(format!(
            "y moves faster than z, and η_x (1/η_z − 1/η_y) σ_max(J)² = {mass:.2} exceeds 1: expect divergence"
        ));
    }
    let (given, tolerated) = (sizes.lower?, sizes.tolerated_lower?);
    // The limit is known to a factor of two.
    (given > 2.0 * tolerated).then(|| {
        format!(
            "a lower step size of {given} is more than consensus on this network tolerates (about {tolerated:.1e}): \
             expect divergence"
        )
    })
}
