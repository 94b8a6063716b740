//! Metrics mean what they say, on runs whose end is known.

use std::path::Path;

use fabnet_lab::{Experiment, Folder, RunOptions, Summary, carry_out_plan, metrics};

fn carry_out(text: &str) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::new(folder.path());
    let plan = Experiment::parse(text, Path::new("test.toml"))
        .unwrap()
        .plan()
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    folder.begin(&plan).unwrap();
    carry_out_plan(&plan, &folder, RunOptions::new(2), &()).unwrap().summary
}

fn all() -> String {
    metrics::<f64>().iter().map(|metric| format!("\"{}\"", metric.name)).collect::<Vec<_>>().join(", ")
}

#[test]
fn at_the_solution_errors_gaps_and_hypergradients_vanish() {
    let summary = carry_out(&format!(
        "rounds = 3000\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"dfab\"\n[record]\n\
         metrics = [{}, \"bellman\"]\n",
        all()
    ));
    let value = |name: &str| summary.runs[0].last[name];
    for name in
        ["relative_error", "worst_error", "hypergradient", "consensus", "consensus_y", "lower_gap", "mass_residual"]
    {
        assert!(value(name).unwrap() < 1e-6, "{name} = {:?}", value(name));
    }
    // At the optimum f = n·bellman²/2 + ridge: the ridge is small but not nothing.
    let (upper, bellman) = (value("upper").unwrap(), value("bellman").unwrap());
    assert!(upper > 10.0 * bellman * bellman && upper < 20.0 * bellman * bellman, "{upper} and {bellman}");
    assert!(value("lower").unwrap() > 0.0);
    assert_eq!(value("penalty_bias"), None);
}

#[test]
fn the_penalty_holds_y_off_by_one_over_the_penalty() {
    let summary = carry_out(
        "rounds = 20000\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"fab\"\n\
         penalty = [100, 200]\nsteps = \"auto\"\n[record]\nevery = 1000\n\
         metrics = [\"penalty_bias\", \"lower_gap\"]\n",
    );
    let bias: Vec<f64> = summary.runs.iter().map(|run| run.last["penalty_bias"].unwrap()).collect();
    assert!((bias[0] / bias[1] - 2.0).abs() < 0.05, "{bias:?}");
    assert!(summary.runs.iter().all(|run| run.last["lower_gap"].unwrap() < 1e-6));
}

#[test]
fn metrics_of_single_level_and_private_problems_mean_something_or_are_left_out() {
    let summary = carry_out(&format!(
        "rounds = 6000\n[problem]\nkind = \"quadratic\"\n[topology]\nkind = \"complete\"\n[[algorithm]]\n\
         kind = \"push-pull\"\n[[algorithm]]\nlabel = \"private\"\nkind = \"dfab\"\n\
         problem = {{ kind = \"bilevel-quadratic\", private = 2 }}\n[record]\nmetrics = [{}]\n",
        all()
    ));
    let value = |run: usize, name: &str| summary.runs[run].last[name];
    for name in ["relative_error", "hypergradient", "consensus", "mass_residual"] {
        assert!(value(0, name).unwrap() < 1e-6, "{name} = {:?}", value(0, name));
    }
    assert_eq!(value(0, "lower_gap"), None);
    assert!(value(1, "relative_error").unwrap() < 1e-4);
    assert_eq!((value(1, "hypergradient"), value(1, "lower_gap")), (None, None));
}

#[test]
fn gradients_are_counted_by_gradient_step_and_not_by_exchange() {
    let gradients = |wire: &str, every: u64| {
        let text = format!(
            "rounds = 20\n[problem]\nkind = \"quadratic\"\n{wire}[[algorithm]]\nkind = \"push-pull\"\n\
             exchange_every = {every}\nsteps = 0.01\n[record]\nmetrics = [\"gradients\"]\n"
        );
        carry_out(&text).runs[0].last["gradients"].unwrap()
    };
    for wire in ["", "[faults]\nloss = 0.0\n"] {
        // One at the starting point, and one for each gradient step.
        assert_eq!((gradients(wire, 1), gradients(wire, 5)), (21.0, 101.0), "{wire}");
    }
}

#[test]
fn groups_count_what_never_came_as_infinite() {
    let text = "rounds = 60\nseeds = 3\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\n\
     kind = \"fab\"\nsteps = [0.1, 60.0]\n[record]\nevery = 20\n[stop]\nmetric = \"relative_error\"\n\
     below = 1e-9\n";
    let summary = carry_out(text);
    let [slow, diverged] = summary.groups.as_slice() else { panic!("{:?}", summary.groups) };
    assert_eq!((slow.runs, slow.reached, slow.diverged, slow.reached_at.median), (3, 0, 0, None));
    assert_eq!((diverged.reached, diverged.diverged, diverged.unfinished), (0, 3, 0));
    assert_eq!((slow.failures().as_str(), diverged.failures().as_str()), ("", "3 of 3 diverged"));
    assert!(slow.last["relative_error"].median.is_some());
    assert_eq!((diverged.last["relative_error"].median, diverged.last["relative_error"].mean), (None, None));
    assert!(summary.runs.iter().filter(|run| run.label == diverged.label).all(|run| run.rounds < 60));
    let easy = carry_out(&text.replace("1e-9", "2.0"));
    assert_eq!((easy.groups[0].reached, easy.groups[0].reached_at.median), (3, Some(0.0)));
}

#[test]
fn a_target_that_the_mean_reaches_does_not_hide_an_agent_that_has_diverged() {
    // Two agents that never hear each other enough: the mean stays near the optimum while they
    // part.
    let text = "agents = 10\nrounds = 400\n[problem]\nkind = \"policy-evaluation\"\n[topology]\n\
     kind = \"ring\"\n[[algorithm]]\nkind = \"fab\"\nsteps = 0.3\n[record]\nevery = 1\n\
     metrics = [\"relative_error\", \"worst_error\", \"consensus\"]\n";
    let summary = carry_out(text);
    let run = &summary.runs[0];
    assert_eq!(run.outcome, fabnet_lab::Outcome::Diverged, "{run:?}");
    let (mean, worst) = (run.last["relative_error"].unwrap(), run.last["worst_error"].unwrap());
    assert!(mean < 1e3 && worst > 1e3, "the mean is at {mean}, the worst agent at {worst}");
}
