//! The accuracies that learning tasks must reach: each is an experiment of `experiments/checks/` on
//! real data. With the environment variable `FABNET_SEEDS=3`, each has its three seeds instead of
//! the first one.

use serde_json::Value;

use crate::common::{repository, succeed, summary};

/// The number of seeds of each group.
fn seeds() -> usize {
    std::env::var("FABNET_SEEDS").map_or(1, |number| number.parse().unwrap())
}

/// Runs an experiment of `experiments/checks/`.
fn check(name: &str, changes: &[&str]) -> Value {
    let seeds = format!("seeds={}", seeds());
    run(&format!("experiments/checks/{name}.toml"), &[changes, &[&seeds]].concat())
}

/// Runs an experiment with the data sets in `$FABNET_DATA`, or in the user's cache.
fn run(file: &str, changes: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = repository(file);
    let changes = changes.iter().flat_map(|change| ["--set", change]);
    let arguments = ["run", file.to_str().unwrap(), "--quiet", "--out", "out"];
    succeed(folder.path(), &arguments.into_iter().chain(changes).collect::<Vec<_>>());
    summary(&folder.path().join("out"))
}

/// The mean of a metric over the seeds of a group.
fn mean(summary: &Value, label: &str, metric: &str) -> f64 {
    let groups = summary["groups"].as_array().unwrap();
    let group = groups.iter().find(|group| group["label"] == label).unwrap_or_else(|| panic!("no group {label}"));
    assert_eq!(group["runs"], seeds());
    group["final"][metric]["mean"].as_f64().unwrap_or_else(|| panic!("{label} has no {metric}"))
}

#[test]
fn a_learned_ridge_reaches_the_accuracy_of_the_prototype() {
    let found = check("hyper-tuning", &[]);
    for (corruption, bar) in [("0.2", 0.865), ("0.4", 0.85)] {
        let accuracy = mean(&found, &format!("fab corruption={corruption}"), "accuracy");
        assert!(accuracy >= bar, "{corruption}: {accuracy} below {bar}");
    }
}

/// With τ itself as the variable, a start at 0 and the published step sizes, τ becomes negative and
/// the run diverges. That must not be reported as a result.
#[test]
fn a_ridge_that_starts_at_nothing_is_reported_as_diverged() {
    let published =
        ["problem.ridge_form=plain", "problem.ridge_start=0", "algorithm.1.outer=0.2", "problem.corruption=0.2"];
    let steps = ["algorithm.0.steps.x=0.0003", "algorithm.0.steps.y=0.02", "algorithm.0.steps.z=0.02"];
    let found = check("hyper-tuning", &[&published[..], &steps].concat());
    let outcomes = |label: &str| -> Vec<String> {
        let runs = found["runs"].as_array().unwrap().iter().filter(|run| run["label"] == label);
        runs.map(|run| run["outcome"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(outcomes("fab"), vec!["diverged"; seeds()]);
    assert_eq!(outcomes("merged"), vec!["finished"; seeds()]);
}

#[test]
fn with_the_published_steps_clean_samples_carry_fab_and_weights_stand_still() {
    let found = check("hyper-cleaning-paper", &[]);
    let (fab, noisy) = (mean(&found, "fab", "accuracy"), mean(&found, "noisy", "accuracy"));
    assert!(fab >= 0.74 && noisy <= 0.45, "fab {fab}, noisy {noisy}");
    let gap = mean(&found, "fab", "weight_clean") - mean(&found, "fab", "weight_flipped");
    assert!(gap.abs() < 1e-3, "{gap}");
}

#[test]
fn learned_weights_find_wrong_labels() {
    let found = check("hyper-cleaning-small", &[]);
    let learned = |metric| mean(&found, "learned", metric);
    let gap = learned("weight_clean") - learned("weight_flipped");
    assert!(learned("auc") >= 0.82 && gap >= 0.4, "auc {}, gap {gap}", learned("auc"));
    let frozen = mean(&found, "frozen", "accuracy_z");
    assert!(learned("accuracy_z") >= 0.70 && frozen <= 0.50, "z learned {}, frozen {frozen}", learned("accuracy_z"));
}

/// Bytes and memory grow linearly with the parameters, and FAB sends at most 2.05 times as much as
/// push-pull, because sample weights stay with their agents.
#[test]
fn costs_are_linear_in_the_size_of_the_model() {
    let found = run("experiments/paper/model-size.toml", &["rounds=2", "problem.samples_per_agent=200"]);
    let cost = |label: &str, hidden: usize, key: &str| {
        let runs = found["runs"].as_array().unwrap();
        let run = runs.iter().find(|run| run["label"] == format!("{label} hidden={hidden}"));
        run.unwrap_or_else(|| panic!("no run of {label} with {hidden}"))[key].as_f64().unwrap()
    };
    let parameters = |hidden: usize| (795 * hidden + 10) as f64;
    for label in ["fab", "push-pull"] {
        for key in ["bytes_per_agent", "state_bytes"] {
            // The rest, such as sample weights, is small and does not depend on the size of the
            // model.
            let slope = (cost(label, 512, key) - cost(label, 64, key)) / (parameters(512) - parameters(64));
            for hidden in [64, 128, 256, 512] {
                let off = cost(label, hidden, key) / (slope * parameters(hidden)) - 1.0;
                assert!(off.abs() < 0.01, "{label} {hidden} {key}: off by {off}");
            }
        }
    }
    for hidden in [64, 128, 256, 512] {
        let ratio = cost("fab", hidden, "bytes_per_agent") / cost("push-pull", hidden, "bytes_per_agent");
        assert!(ratio <= 2.05, "{hidden}: {ratio}");
    }
}
