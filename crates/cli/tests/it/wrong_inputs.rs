//! Wrong inputs are answered by a message that helps and by the right exit code, never by a panic.
//! Messages list the known names, so that this needs a build with all features.
#![cfg(all(feature = "text", feature = "net"))]

use std::fmt::Write;
use std::path::Path;

use crate::common::{self, fabnet};

const VALID: &str = r#"agents = 6
rounds = 200
seeds = 2

[problem]
kind = "policy-evaluation"

[topology]
kind = "ring"

[[algorithm]]
kind = "fab"
penalty = 60
steps = { x = 0.1, y = 0.1, z = 0.1 }

[record]
every = 20
metrics = ["relative_error"]

[stop]
metric = "relative_error"
below = 0.01
"#;

/// A wrong input: a name, and a change of one text in the valid file or other arguments.
enum Wrong {
    File(&'static str, &'static str, &'static str),
    Arguments(&'static str, &'static [&'static str]),
}
use Wrong::{Arguments, File};

const CASES: [Wrong; 55] = [
    File("not TOML", "agents = 6", "agents = = 6"),
    File("a number too large", "agents = 6", "agents = 99999999999999999999"),
    File("a date for a number", "rounds = 200", "rounds = 2026-11-16"),
    File("a key twice", "rounds = 200", "rounds = 200\nrounds = 300"),
    File("typo at the top", "rounds = 200", "round = 200"),
    File("typo in a section", "penalty = 60", "penaltyy = 60"),
    File("typo in a step", "y = 0.1, z", "yy = 0.1, z"),
    File("a key of another method", "penalty = 60", "epsilon = 1e-3"),
    File("nothing near", "penalty = 60", "wavelength = 60"),
    File("negative agents", "agents = 6", "agents = -6"),
    File("no agents", "agents = 6", "agents = 0"),
    File("half an agent", "agents = 6", "agents = 6.5"),
    File("no rounds", "rounds = 200", "rounds = 0"),
    File("a word for a number", "rounds = 200", "rounds = \"many\""),
    File("an unknown precision", "rounds = 200", "rounds = 200\nprecision = \"f16\""),
    File("seeds in the wrong order", "seeds = 2", "seeds = \"10..3\""),
    File("no seeds", "seeds = 2", "seeds = 0"),
    File("an unknown problem", "policy-evaluation", "policy-evalution"),
    File("no kind of problem", "kind = \"policy-evaluation\"", ""),
    File("negative noise", "kind = \"policy-evaluation\"", "kind = \"policy-evaluation\"\nnoise = -1"),
    File("an unknown topology", "kind = \"ring\"", "kind = \"petersen\""),
    File("probability 1.5", "kind = \"ring\"", "kind = \"erdos-renyi\"\nedge_probability = 1.5"),
    File("a wrong choice", "kind = \"ring\"", "kind = \"erdos-renyi\"\nredraw = \"sometimes\""),
    File("a disconnected graph", "kind = \"ring\"", "kind = \"erdos-renyi\"\nedge_probability = 0\nring = false"),
    File("no contact plan", "kind = \"ring\"", "kind = \"contact-plan\""),
    File("a missing contact plan", "kind = \"ring\"", "kind = \"contact-plan\"\nfile = \"orbit.txt\""),
    File("a contact plan of other agents", "kind = \"ring\"", "kind = \"contact-plan\"\ncontacts = \"0 1\\n1 9\""),
    File("unknown weights", "[[algorithm]]", "[weights]\nkind = \"heavy\"\n[[algorithm]]"),
    File("a weight above 1", "[[algorithm]]", "[weights]\nkind = \"fixed\"\nweight = 1.2\n[[algorithm]]"),
    File("an unknown algorithm", "kind = \"fab\"", "kind = \"fabb\""),
    File("a number for a label", "penalty = 60", "penalty = 60\nlabel = 60"),
    File("penalty 0", "penalty = 60", "penalty = 0"),
    File("a negative step", "x = 0.1", "x = -0.1"),
    File("a missing step", ", z = 0.1", ""),
    File("momentum 1", "z = 0.1 }", "z = 0.1, momentum = 1 }"),
    File("two schedules", "z = 0.1 }", "z = 0.1, decay = 1e-3, power = 0.5 }"),
    File("an unknown word for step sizes", "{ x = 0.1, y = 0.1, z = 0.1 }", "\"automatic\""),
    File("an empty grid", "penalty = 60", "penalty = []"),
    File("a list in a list", "penalty = 60", "penalty = [[60]]"),
    File("an unknown metric", "metrics = [\"relative_error\"]", "metrics = [\"relativ_error\"]"),
    File("nothing to record", "metrics = [\"relative_error\"]", "metrics = []"),
    File("records every 0 rounds", "every = 20", "every = 0"),
    File("a target without its metric", "metric = \"relative_error\"", ""),
    File("a target that means nothing", "metric = \"relative_error\"", "metric = \"bellman2\""),
    File("a bilevel method on one level", "policy-evaluation", "quadratic"),
    File("a target that is not known", "policy-evaluation", "smooth-bilevel"),
    File("a plan of a newer format", "agents = 6", "format = 99\nagents = 6"),
    Arguments("a missing file", &["run", "nowhere.toml"]),
    Arguments("a folder for a file", &["run", "."]),
    Arguments("no folder of data", &["run", "valid.toml", "--data", "nowhere"]),
    Arguments(
        "a folder without the data",
        &["run", "valid.toml", "--data", ".", "--set", "problem={ kind = \"hyper-tuning\" }"],
    ),
    Arguments("--set without a value", &["run", "valid.toml", "--set", "rounds"]),
    Arguments("--set beyond the list", &["run", "valid.toml", "--set", "algorithm.3.penalty=80"]),
    Arguments("nothing to resume", &["run", "--resume", "nowhere"]),
    Arguments("nothing to plot", &["plot", "nowhere"]),
];

const MORE: [Wrong; 15] = [
    Arguments(
        "a double loop without step sizes",
        &["run", "valid.toml", "--set", "algorithm=[{ kind = \"dl-push-sgd\" }]", "--out", "x"],
    ),
    Arguments(
        "everything in one hand that is private",
        &[
            "run",
            "valid.toml",
            "--set",
            "algorithm.0.kind=centralized-fab",
            "--set",
            "problem={ kind = \"bilevel-quadratic\", private = 2 }",
            "--out",
            "x",
        ],
    ),
    Arguments(
        "a sensitivity to what is private",
        &[
            "run",
            "valid.toml",
            "--set",
            "algorithm=[{ kind = \"dl-push-pull\", steps = 0.1 }]",
            "--set",
            "problem={ kind = \"bilevel-quadratic\", private = 2 }",
            "--out",
            "x",
        ],
    ),
    // Which metrics there are depends on the problem: of those nothing is said.
    Arguments(
        "a metric of a problem that is not known",
        &["run", "valid.toml", "--set", "problem.kind=hyper-cleanin", "--set", "record.metrics=[\"auc\"]"],
    ),
    Arguments(
        "a metric without an algorithm",
        &[
            "run",
            "valid.toml",
            "--set",
            "problem.kind=hyper-cleaning",
            "--set",
            "algorithm=[]",
            "--set",
            "record.metrics=[\"auc\"]",
        ],
    ),
    Arguments("a report of nothing", &["report", "template.md"]),
    Arguments("--set with a wrong value", &["run", "valid.toml", "--set", "rounds=-5"]),
    Arguments("no threads", &["run", "valid.toml", "--threads", "0"]),
    Arguments("an unknown command", &["rnu", "valid.toml"]),
    Arguments("results that are there already", &["run", "valid.toml", "--out", "used"]),
    Arguments("several runs for real nodes", &["launch", "valid.toml"]),
    Arguments(
        "simulated faults for real nodes",
        &["launch", "valid.toml", "--seeds", "0..1", "--set", "faults.loss=0.1"],
    ),
    Arguments("more nodes than agents", &["launch", "valid.toml", "--seeds", "0..1", "--nodes", "9"]),
    Arguments("no seeds to attack", &["faults", "--seeds", "5..5"]),
    Arguments("too small a budget", &["tune", "valid.toml", "--budget", "1"]),
];

fn answer(folder: &Path, case: &Wrong) -> String {
    let (name, arguments) = match *case {
        File(name, from, to) => {
            assert!(VALID.contains(from), "{name}");
            std::fs::write(folder.join("wrong.toml"), VALID.replacen(from, to, 1)).unwrap();
            (name, &["run", "wrong.toml", "--quiet"][..])
        }
        Arguments(name, arguments) => (name, arguments),
    };
    let output = fabnet(folder).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!message.contains("panicked"), "{name}: {message}");
    let code = output.status.code().unwrap();
    assert!(code == 1 || code == 2, "{name} has exit code {code}: {message}");
    format!("{name} -> {code}\n{message}\n")
}

#[test]
fn wrong_inputs_are_answered_by_a_message_that_helps() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("valid.toml"), VALID).unwrap();
    std::fs::write(folder.path().join("template.md"), "{{ nothing | fab | diverged }}").unwrap();
    std::fs::create_dir(folder.path().join("used")).unwrap();
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    std::fs::write(folder.path().join("used/plan.toml"), "").unwrap();
    let mut answers = String::new();
    for case in CASES.iter().chain(&MORE) {
        _ = write!(answers, "{}", answer(folder.path(), case));
    }
    insta::assert_snapshot!(answers);
    // The file without the changes is valid.
    common::succeed(folder.path(), &["run", "valid.toml", "--quiet", "--out", "fine"]);
}

#[test]
fn exit_codes_tell_results_from_failures() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("valid.toml"), VALID).unwrap();
    let run = |arguments: &[&str]| fabnet(folder.path()).args(arguments).output().unwrap();
    // If one of two groups diverges, there is a result. If all diverge, it is a failure.
    let steps = "algorithm.0.steps=[{ x = 0.1, y = 0.1, z = 0.1 }, { x = 50.0, y = 9.0, z = 9.0 }]";
    let some = run(&["run", "valid.toml", "--set", steps, "--out", "some"]);
    assert_eq!(some.status.code(), Some(0), "{}", String::from_utf8_lossy(&some.stderr));
    let all = run(&["run", "valid.toml", "--set", "algorithm.0.steps=50", "--out", "all"]);
    assert_eq!(all.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&all.stderr).contains("all runs diverged"));
    assert!(folder.path().join("all/summary.json").exists());
    // `check` finds before a run that it cannot work.
    let graph =
        ["--set", "topology.kind=erdos-renyi", "--set", "topology.edge_probability=0", "--set", "topology.ring=false"];
    let check = run(&[&["check", "valid.toml"], &graph[..]].concat());
    assert_eq!(check.status.code(), Some(1), "{}", String::from_utf8_lossy(&check.stdout));
    let allowed =
        [&["run", "valid.toml", "--out", "apart"], &graph[..], &["--set", "topology.allow_disconnected=true"]].concat();
    assert_eq!(run(&allowed).status.code(), Some(0));
    let fine = run(&["check", "valid.toml"]);
    assert_eq!(fine.status.code(), Some(0));
    // With --quiet, nothing is printed.
    let quiet = run(&["run", "valid.toml", "--out", "quiet", "--quiet"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty());
}
