//! Networks of many agents start and are checked in bounded time.

use std::path::Path;

use fabnet_lab::{Experiment, Folder, Plan, RunOptions, carry_out_plan, check};

fn plan(agents: usize, topology: &str, steps: &str) -> Plan {
    plan_of("policy-evaluation", agents, topology, steps)
}

fn plan_of(problem: &str, agents: usize, topology: &str, steps: &str) -> Plan {
    let text = format!(
        "agents = {agents}\nrounds = 3\n[topology]\n{topology}\n[problem]\nkind = \"{problem}\"\n\
         [[algorithm]]\nkind = \"dfab\"\n{steps}"
    );
    let experiment = Experiment::parse(&text, Path::new("test.toml")).unwrap();
    experiment.plan().unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

#[test]
fn step_sizes_are_automatic_for_any_number_of_agents() {
    for topology in ["kind = \"ring\"", "kind = \"erdos-renyi\"\nedge_probability = 1e-3"] {
        let folder = tempfile::tempdir().unwrap();
        let (folder, plan) = (Folder::new(folder.path()), plan(5000, topology, ""));
        folder.begin(&plan).unwrap();
        let summary = carry_out_plan(&plan, &folder, RunOptions::new(2), &()).unwrap().summary;
        assert_eq!(summary.runs.len(), plan.seeds.len(), "{topology}");
    }
}

#[test]
fn a_check_says_which_numbers_are_bounds_and_what_was_not_checked() {
    let not_checked = "which step sizes consensus tolerates";
    let small = check(&plan(20, "kind = \"ring\"", "steps = 0.01"), 1).unwrap();
    assert_eq!((small.networks[0].spread, &small.networks[0].inexact), (Some(19), &Vec::new()));
    assert!(!small.to_string().contains(not_checked), "{small}");
    let ring = check(&plan(20_000, "kind = \"ring\"", "steps = 0.01"), 1).unwrap();
    assert_eq!((ring.networks[0].window, ring.networks[0].spread), (Some(1), Some(19_999)));
    assert!(ring.networks[0].inexact.is_empty() && ring.to_string().contains(not_checked), "{ring}");
    let undirected =
        check(&plan(100_000, "kind = \"one-peer-exponential\"\nundirected = true", "steps = 0.01"), 1).unwrap();
    assert_eq!(undirected.networks[0].inexact, ["window", "spread"]);
    let text = undirected.to_string();
    assert!(text.contains("(C ≤ 17)") && text.contains("reaches all within 34 rounds (an upper bound)"), "{text}");
}

/// The objective of the second one is not quadratic, which the criteria for given step sizes need.
#[test]
fn a_check_warns_where_no_automatic_step_sizes_converge_in_a_trial() {
    for problem in ["bilevel-quadratic", "smooth-bilevel"] {
        let warns = |agents: usize| {
            let found = check(&plan_of(problem, agents, "kind = \"ring\"", ""), 1).unwrap();
            found.warnings.iter().any(|warning| warning.message.contains("no step sizes have converged"))
        };
        assert!(!warns(10) && warns(500), "{problem}");
    }
}
