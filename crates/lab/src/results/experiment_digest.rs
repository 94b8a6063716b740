//! A number for what a plan computes, by which the tracks of one experiment recognise each other.

use crate::plan::{Group, Plan, PlanEntry};

/// A digest of what a plan computes, whatever it measures and whatever its groups are called.
///
/// The digest is part of the tracks that nodes have on disk, so the text that it is computed from
/// must never change. It is written out here, and not derived from types that may be renamed.
pub(crate) fn experiment_digest(plan: &Plan) -> String {
    let groups: Vec<String> = plan.groups.iter().map(computed).collect();
    let text = format!("{:?} {} {groups:?}", plan.seeds, plan.every);
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
}

/// The text of a group without its label, its grid and the settings of real nodes.
fn computed(group: &Group) -> String {
    let faults = group.faults.as_ref().map_or("None".to_owned(), |faults| format!("Some({})", text(faults, "")));
    // A setting that came later: the text without it is that of older tracks.
    let settle = group.settle.map_or_else(String::new, |rounds| format!("settle: {rounds}, "));
    let wire = group.wire.as_ref().map_or_else(String::new, |wire| format!("wire: {}, ", text(wire, "")));
    format!(
        "Group {{ label: \"\", grid: [], agents: {}, rounds: {}, {settle}precision: {:?}, problem: {}, topology: {}, \
         weights: {}, faults: {faults}, {wire}network: None, algorithm: {} }}",
        group.agents,
        group.rounds,
        group.precision,
        // The checksum of data is noted in plans only: nodes may read the experiment file itself.
        text(&group.problem, "sha256"),
        text(&group.topology, ""),
        text(&group.weights, ""),
        text(&group.algorithm, ""),
    )
}

/// The text of an entry without one of its keys.
fn text(entry: &PlanEntry, without: &str) -> String {
    let settings: Vec<_> = entry.settings.iter().filter(|(key, _)| key != without).collect();
    format!("Part {{ kind: {:?}, settings: {settings:?} }}", entry.kind)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::file::Experiment;

    const EXPERIMENT: &str = r#"
agents = 3
rounds = 200
[problem]
kind = "bilevel-quadratic"
[topology]
kind = "ring"
[[algorithm]]
kind = "dfab"
steps = { x = 0.05, u = 0.05, z = 0.05 }
"#;

    fn digest(text: &str) -> String {
        experiment_digest(&Experiment::parse(text, Path::new("test.toml")).unwrap().plan().unwrap())
    }

    #[test]
    fn the_digest_is_that_of_tracks_on_disk() {
        assert_eq!(digest(EXPERIMENT), "fd7188223f4c76a4");
    }

    #[test]
    fn the_digest_depends_on_what_is_computed_alone() {
        let renamed = EXPERIMENT.replace("kind = \"dfab\"", "kind = \"dfab\"\nlabel = \"mine\"");
        let elsewhere = format!("{EXPERIMENT}[network]\ntick = 0.01\n");
        let measured = format!("{EXPERIMENT}[record]\nmetrics = [\"upper\"]\n");
        for same in [renamed, elsewhere, measured] {
            assert_eq!(digest(&same), digest(EXPERIMENT), "{same}");
        }
        let faulty = format!("{EXPERIMENT}[faults]\nloss = 0.1\n");
        let longer = EXPERIMENT.replace("rounds = 200", "rounds = 201");
        for other in [faulty, longer] {
            assert_ne!(digest(&other), digest(EXPERIMENT), "{other}");
        }
    }
}
