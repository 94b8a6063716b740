//! `fabnet check` knows before a run what the run will show.

mod common;

use common::{repository, succeed};

#[test]
fn the_rows_of_the_sensitivity_table_that_diverge_are_warned_of_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = repository("experiments/paper/sensitivity.toml");
    let output = succeed(folder.path(), &["check", file.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let warned: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("warning: ")?.split(':').next()).collect();
    assert_eq!(
        warned,
        ["fab x=0.1 y=0.12 z=0.1", "fab x=0.1 y=0.14 z=0.1", "fab x=0.1 y=0.1 z=0.06", "fab x=0.1 y=0.1 z=0.08"]
    );
}

#[test]
fn networks_that_are_too_slow_for_the_steps_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = repository("experiments/first.toml");
    let check = |topology: &str| {
        let topology = format!("topology={topology}");
        let output = succeed(folder.path(), &["check", file.to_str().unwrap(), "--set", &topology]);
        String::from_utf8(output.stdout).unwrap()
    };
    let ring = check("{ kind = \"ring\" }");
    assert!(
        ring.contains("automatic steps may become so short") && ring.contains("more than this network tolerates"),
        "{ring}"
    );
    let fine = check("{ kind = \"complete\" }");
    assert!(fine.contains("verdict: nothing speaks against it"), "{fine}");
    for fact in [
        "C = 1",
        "within 1 rounds",
        "a = 0.1000, b = 0.1000",
        "κ                    1.000",
        "9.00 per agent and round",
        "σ_max(J) = ",
    ] {
        assert!(fine.contains(fact), "{fact} is missing in\n{fine}");
    }
}
