//! `fabnet bench`: carrying a design out, adding the results of others, and making the page.

use std::path::Path;
use std::process::Output;

use crate::common::{fabnet, succeed};

const DESIGN: &str = r#"
name = "small"
rounds = 60
every = 5
metric = "worst_error"
targets = [1e-1, 1e-2]
seeds = [0, 1, 2]
tuning = { seeds = [9], trials = 2 }
agents = [4]
problems.bowl = { bilevel = false, problem = { kind = "quadratic" } }
networks.circle = { topology = { kind = "ring" } }
conditions.exact = { about = "nothing goes wrong" }
methods.ours = { algorithm = { kind = "push-pull" } }
methods.theirs = { algorithm = { kind = "push-diging" } }
standard = [{}]
"#;

const TEMPLATE: &str = "{{ verdicts }} {{ readings }} {{ coverage }} {{ machines }} {{ conditions }} {{ figures }} \
                        {{ tables }} {{ refusals }}";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("design.toml"), DESIGN).unwrap();
    std::fs::write(folder.path().join("page.md"), TEMPLATE).unwrap();
    folder
}

fn run(path: &Path, out: &str, more: &[&str]) -> Output {
    succeed(path, &[&["bench", "run", "design.toml", "--threads", "1", "--out", out], more].concat())
}

fn refused(path: &Path, arguments: &[&str]) -> String {
    let output = fabnet(path).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_missing_is_carried_out_and_the_page_says_what_is_there() {
    let folder = folder();
    let path = folder.path();
    let said = String::from_utf8(run(path, "mine.json", &["--cells", "1"]).stdout).unwrap();
    assert!(said.starts_with("1/1 ") && said.contains("3 of 3 runs reach the target"), "{said}");
    let report = ["bench", "report", "design.toml", "mine.json", "page.md", "--out", "docs/b.md"];
    std::fs::create_dir(path.join("docs")).unwrap();
    let report = [&report[..], &["--figures", "docs/figures"]].concat();
    succeed(path, &report);
    let page = std::fs::read_to_string(path.join("docs/b.md")).unwrap();
    assert!(page.contains("1 were run") && page.contains("| not run |"), "{page}");
    let said = String::from_utf8(run(path, "mine.json", &[]).stdout).unwrap();
    assert!(said.starts_with("2/2 ") && said.lines().count() == 1, "the first cell is there: {said}");
    succeed(path, &report);
    let page = std::fs::read_to_string(path.join("docs/b.md")).unwrap();
    assert!(page.contains("2 were run") && page.contains("](figures/bowl-circle.svg)"), "{page}");
    assert!(path.join("docs/figures/bowl-circle.svg").exists());
    let elsewhere = [&report[..report.len() - 1], &["elsewhere"]].concat();
    assert!(refused(path, &elsewhere).contains("--figures elsewhere: it is not below docs"));
}

#[test]
fn results_of_others_are_checked_before_they_are_added() {
    let folder = folder();
    let path = folder.path();
    run(path, "mine.json", &["--cells", "1"]);
    run(path, "theirs.json", &["--quiet"]);
    let mine = std::fs::read_to_string(path.join("mine.json")).unwrap();
    let theirs = std::fs::read_to_string(path.join("theirs.json")).unwrap();
    let merge = ["bench", "merge", "design.toml", "mine.json", "theirs.json"];
    std::fs::write(path.join("theirs.json"), theirs.replace("\"outcome\"", "\"result\"")).unwrap();
    let said = refused(path, &merge);
    assert!(said.contains("theirs.json: ") && said.contains("docs/benchmark.schema.json"), "{said}");
    std::fs::write(path.join("theirs.json"), &theirs).unwrap();
    std::fs::write(path.join("design.toml"), DESIGN.replace("rounds = 60", "rounds = 70")).unwrap();
    let said = refused(path, &merge);
    assert!(said.contains("with other settings than the design has now"), "{said}");
    assert_eq!(std::fs::read_to_string(path.join("mine.json")).unwrap(), mine, "nothing was written");
    std::fs::write(path.join("design.toml"), DESIGN).unwrap();
    let said = String::from_utf8(succeed(path, &merge).stdout).unwrap();
    assert_eq!(said, "theirs.json: 1 cells added\n");
}
