//! `fabnet tune` on policy evaluation, judged on seeds that it was not tuned on.
#![allow(clippy::print_stdout)]

use crate::common::{fabnet, repository, succeed, summary};

#[test]
fn tuned_steps_need_at_most_half_the_rounds_on_fresh_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let file = repository("experiments/tune.toml");
    let file = file.to_str().unwrap();
    let output = succeed(path, &["tune", file]);
    println!("{}", String::from_utf8_lossy(&output.stdout));
    succeed(path, &["run", "policy-evaluation-tuned.toml", "--seeds", "1000..1005", "--out", "tuned", "--quiet"]);
    succeed(path, &["run", file, "--seeds", "1000..1005", "--out", "published", "--quiet"]);
    let median = |name: &str| {
        let group = &summary(&path.join(name))["groups"][0];
        println!("{name}: {} of {} reach 1 %, {}", group["reached"], group["runs"], group["reached_at"]);
        assert_eq!(group["reached"], group["runs"], "{name}");
        group["reached_at"]["median"].as_f64().unwrap()
    };
    let (tuned, published) = (median("tuned"), median("published"));
    assert!(tuned <= 0.5 * published, "{tuned} against {published} rounds");
}

#[test]
fn what_is_tuned_falls() {
    let folder = tempfile::tempdir().unwrap();
    let file = |problem: &str, metrics: &str| {
        let text = format!(
            "agents = 4\nrounds = 300\nseeds = 1\n[problem]\nkind = \"{problem}\"\n[topology]\nkind = \"ring\"\n\
             [[algorithm]]\nkind = \"dfab\"\n[record]\nmetrics = {metrics}\n"
        );
        std::fs::write(folder.path().join("file.toml"), text).unwrap();
        fabnet(folder.path()).args(["tune", "file.toml", "--budget", "8"]).output().unwrap()
    };
    // A metric of a particular problem may be better when it is larger, so it cannot be tuned.
    let refused = file("policy-evaluation", "[\"bellman\"]");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("record a metric that does, such as `upper`"));
    // If the error is not known, the next metric counts.
    let tuned = file("smooth-bilevel", "[\"relative_error\", \"hypergradient\"]");
    let said = String::from_utf8_lossy(&tuned.stdout);
    assert!(tuned.status.success() && !said.contains("inf"), "{said}");
    // Without a target the report has no rounds, and says what was compared instead.
    assert!(
        said.contains("there is no [stop]") && said.contains("last value of relative_error or hypergradient"),
        "{said}"
    );
    assert!(said.contains("seeds that were not tuned on: 1, 2, 3") && !said.contains("rounds (median)"), "{said}");
}

/// Automatic step sizes come with heavy ball, and here no step sizes without it are as fast.
#[test]
fn a_given_setting_that_is_better_on_held_out_seeds_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"kept\"\nagents = 10\nrounds = 3000\nseeds = 1\n[problem]\nkind = \"policy-evaluation\"\n\
                [topology]\nkind = \"complete\"\n[[algorithm]]\nkind = \"dfab\"\n\
                [stop]\nmetric = \"relative_error\"\nbelow = 1e-6\n";
    std::fs::write(folder.path().join("file.toml"), text).unwrap();
    let output = succeed(folder.path(), &["tune", "file.toml", "--budget", "2"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("the given one is kept") && said.contains("nothing was written"), "{said}");
    assert!(!folder.path().join("kept-tuned.toml").exists());
}
