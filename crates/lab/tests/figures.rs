//! Figures as users get them: from a folder of results to files.

use std::fs;
use std::path::Path;

use fabnet_lab::figure::{FigureError, draw};
use fabnet_lab::{Experiment, Folder};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Options, Tree};
use tempfile::TempDir;

const EXPERIMENT: &str = r#"
name = "tiny"
agents = 10
rounds = 20
seeds = 2
[problem]
kind = "policy-evaluation"
[topology]
kind = "phases"
[[algorithm]]
label = "first"
kind = "fab"
[[algorithm]]
label = "second"
kind = "dfab"
[record]
every = 10
metrics = ["relative_error", "hypergradient"]
"#;

const HEADER: &str = "run,label,seed,round,seconds,bytes_per_agent,relative_error,hypergradient\n";

/// What each run leaves: run, label, seed, and the relative error in rounds 0, 10, 20.
const RUNS: [(usize, &str, u64, [f64; 3]); 4] = [
    (0, "first", 0, [1.0, 0.1, 0.002]),
    (1, "first", 1, [1.0, 0.2, 0.004]),
    (2, "second", 0, [1.0, 0.5, 0.02]),
    (3, "second", 1, [1.0, 2.0, 900.0]),
];

/// A folder with the plan of an experiment and with these records.
fn folder(experiment: &str, records: &str) -> (TempDir, Folder) {
    let home = TempDir::new().unwrap();
    let folder = Folder::new(home.path());
    folder.begin(&Experiment::parse(experiment, Path::new("tiny.toml")).unwrap().plan().unwrap()).unwrap();
    fs::write(folder.file("records.csv"), records).unwrap();
    (home, folder)
}

/// The records of the runs with these numbers; the second metric means nothing for any of them.
fn records(runs: &[usize]) -> String {
    let rows = RUNS.iter().filter(|(run, ..)| runs.contains(run)).flat_map(|(run, label, seed, errors)| {
        errors.iter().zip([0, 10, 20]).map(move |(error, round)| {
            format!("{run},{label},{seed},{round},{},{},{error},\n", f64::from(round) / 100.0, round * 80)
        })
    });
    HEADER.to_owned() + &rows.collect::<String>()
}

/// A summary of these runs, with how each ended.
fn summarise(folder: &Folder, outcomes: &[(usize, &str)]) {
    let run = |(run, outcome): &(usize, &str)| {
        let (_, label, seed, _) = RUNS[*run];
        format!(
            r#"{{"run": {run}, "label": "{label}", "algorithm": "fab", "settings": {{}}, "seed": {seed}, "outcome": "{outcome}", "rounds": 20,
            "reached_at": null, "final": {{}}, "seconds": 0.2, "rounds_per_second": 100.0, "bytes_per_agent": 1600.0, "state_bytes": 8.0}}"#
        )
    };
    let runs = outcomes.iter().map(run).collect::<Vec<_>>().join(", ");
    let text = format!(r#"{{"name": "tiny", "version": "0", "runs": [{runs}], "groups": []}}"#);
    fs::write(folder.file("summary.json"), text).unwrap();
}

fn names(folder: &Folder) -> Vec<String> {
    let files = draw(folder).unwrap();
    assert!(files.iter().all(|file| file.is_file() && file.parent() == Some(&folder.file("figures"))));
    files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

fn svg(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.file("figures").join(name)).unwrap()
}

#[test]
fn a_folder_of_results_becomes_charts_and_networks() {
    let (_home, folder) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    let expected =
        ["relative_error-by-rounds", "relative_error-by-seconds", "relative_error-by-bytes", "topology-phases"];
    assert_eq!(names(&folder), expected.map(|name| [format!("{name}.svg"), format!("{name}.png")]).concat());
    for name in expected {
        let tree = Tree::from_str(&svg(&folder, &format!("{name}.svg")), &Options::default()).unwrap();
        let picture = Pixmap::load_png(folder.file("figures").join(format!("{name}.png"))).unwrap();
        let size = tree.size().to_int_size();
        assert_eq!((picture.width(), picture.height()), (2 * size.width(), 2 * size.height()));
        let mut colours: Vec<&[u8]> = picture.data().chunks(4).collect();
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() > 50, "{name} has {} colours", colours.len());
    }
}

#[test]
fn charts_say_what_they_show() {
    let (_home, folder) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    draw(&folder).unwrap();
    for (effort, title) in [("rounds", "rounds"), ("seconds", "seconds"), ("bytes", "bytes sent per agent")] {
        let chart = svg(&folder, &format!("relative_error-by-{effort}.svg"));
        for text in ["tiny", "relative error", "first", "second", title] {
            assert!(chart.contains(&format!(">\n{text}\n</text>")), "`{text}` by {effort}");
        }
    }
}

#[test]
fn runs_that_diverged_or_are_not_done_are_left_out() {
    let (_home, with) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    let (_other_home, without) = folder(EXPERIMENT, &records(&[0, 1, 2]));
    let chart = |folder| {
        draw(folder).unwrap();
        svg(folder, "relative_error-by-rounds.svg")
    };
    assert_ne!(chart(&with), chart(&without));
    summarise(&with, &[(0, "finished"), (1, "finished"), (2, "reached"), (3, "diverged")]);
    assert_eq!(chart(&with), chart(&without));
    summarise(&with, &[(0, "finished"), (1, "finished"), (2, "reached")]);
    assert_eq!(chart(&with), chart(&without));
    summarise(&with, &[(0, "finished"), (1, "finished"), (2, "reached"), (3, "reached")]);
    assert_ne!(chart(&with), chart(&without));
}

#[test]
fn a_group_that_diverged_is_dotted() {
    let (_home, folder) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    summarise(&folder, &[(0, "finished"), (1, "diverged"), (2, "diverged"), (3, "diverged")]);
    draw(&folder).unwrap();
    let chart = svg(&folder, "relative_error-by-rounds.svg");
    assert!(chart.contains("second (diverged)") && !chart.contains("first (diverged)"));
    assert_eq!(chart.matches("stroke-dasharray").count(), 2, "the line and its sample in the legend");
}

#[test]
fn every_small_network_is_drawn_once() {
    let experiment = EXPERIMENT.replace(
        "[[algorithm]]\nlabel = \"first\"",
        "[[algorithm]]\nlabel = \"first\"\nagents = [4, 5, 41]\nweights = { kind = [\"uniform\", \"lazy\"] }\ntopology = { kind = \"ring\" }",
    );
    let (_home, folder) = folder(&experiment, HEADER);
    let expected = ["topology-ring", "topology-ring-2", "topology-phases"];
    assert_eq!(names(&folder), expected.map(|name| [format!("{name}.svg"), format!("{name}.png")]).concat());
    let phases = svg(&folder, "topology-phases.svg");
    assert!(phases.contains("rounds 0–9: ") && phases.contains("repeated every 30 rounds"));
    assert!(phases.contains("rounds 10–19: 10 links") && phases.contains("rounds 20–29: 10 links"));
    assert!(svg(&folder, "topology-ring-2.svg").contains("ring, 5 agents"));
}

#[test]
fn errors_say_where_and_what_to_do() {
    let missing = draw(&Folder::new(Path::new("no/such/folder"))).unwrap_err().to_string();
    assert!(missing.contains("no/such/folder/plan.toml") && missing.contains("`fabnet run`"), "{missing}");

    let (_home, unfinished) = folder(EXPERIMENT, HEADER);
    fs::remove_file(unfinished.file("records.csv")).unwrap();
    let message = draw(&unfinished).unwrap_err().to_string();
    assert!(message.contains("records.csv") && message.contains("--resume"), "{message}");

    let (_home, other) = folder(EXPERIMENT, &records(&[0]).replace("hypergradient", "upper"));
    assert!(matches!(draw(&other).unwrap_err(), FigureError::Column { column, .. } if column == "hypergradient"));

    let (_home, spoilt) = folder(EXPERIMENT, &records(&[0]).replace("0.002", "0,002"));
    let message = draw(&spoilt).unwrap_err().to_string();
    assert!(message.contains("records.csv: ") && message.contains("line: 4"), "{message}");

    let (_home, spoilt) = folder(EXPERIMENT, &records(&[0]).replace("0.002", "nought"));
    let message = draw(&spoilt).unwrap_err().to_string();
    assert!(message.contains("records.csv:4: `relative_error` is \"nought\""), "{message}");

    let (_home, spoilt) = folder(EXPERIMENT, &records(&[0]));
    fs::write(spoilt.file("summary.json"), "{}").unwrap();
    assert!(matches!(draw(&spoilt).unwrap_err(), FigureError::Summary { .. }));
}
