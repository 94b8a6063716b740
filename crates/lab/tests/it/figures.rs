//! Figures as users get them: from a folder of results to files.

use std::fs;
use std::path::Path;

use fabnet_lab::figure::{Band, FigureError, Format, Request, RequestError, draw, draw_as, draw_together};
use fabnet_lab::{Experiment, Folder};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Options, Tree};
use tempfile::TempDir;

pub(crate) const EXPERIMENT: &str = r#"
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

pub(crate) const HEADER: &str = "run,label,seed,round,seconds,bytes_per_agent,relative_error,hypergradient\n";

/// What each run leaves: run, label, seed, and the relative error in rounds 0, 10, 20.
const RUNS: [(usize, &str, u64, [f64; 3]); 4] = [
    (0, "first", 0, [1.0, 0.1, 0.002]),
    (1, "first", 1, [1.0, 0.2, 0.004]),
    (2, "second", 0, [1.0, 0.5, 0.02]),
    (3, "second", 1, [1.0, 2.0, 900.0]),
];

/// A folder with the plan of an experiment and with these records.
pub(crate) fn folder(experiment: &str, records: &str) -> (TempDir, Folder) {
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

/// Writes a summary of these runs, with how each ended.
fn summarise(folder: &Folder, outcomes: &[(usize, &str)]) {
    let ended = |(run, outcome): &(usize, &str)| {
        let (_, label, seed, _) = RUNS[*run];
        ended_run(*run, label, seed, outcome)
    };
    write_summary(folder, outcomes.iter().map(ended));
}

/// The summary of one run, as JSON.
pub(crate) fn ended_run(run: usize, label: &str, seed: u64, outcome: &str) -> String {
    format!(
        r#"{{"run": {run}, "label": "{label}", "algorithm": "fab", "settings": {{}}, "seed": {seed},
        "outcome": "{outcome}", "rounds": 20, "reached_at": null, "final": {{}}, "seconds": 0.2,
        "rounds_per_second": 100.0, "bytes_per_agent": 1600.0, "state_bytes": 8.0}}"#
    )
}

/// Writes the summary of these runs.
pub(crate) fn write_summary(folder: &Folder, runs: impl Iterator<Item = String>) {
    let runs = runs.collect::<Vec<_>>().join(", ");
    let text = format!(r#"{{"name": "tiny", "version": "0", "runs": [{runs}], "groups": []}}"#);
    fs::write(folder.file("summary.json"), text).unwrap();
}

fn names(folder: &Folder) -> Vec<String> {
    let files = draw(folder).unwrap();
    assert!(files.iter().all(|file| file.is_file() && file.parent() == Some(&folder.file("figures"))));
    files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

pub(crate) fn svg(folder: &Folder, name: &str) -> String {
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
        // There are 300 pixels to the inch, and 96 units of a tree.
        let wide = f64::from(tree.size().width()) * 300.0 / 96.0;
        assert!((f64::from(picture.width()) - wide).abs() < 4.0, "{} and {wide}", picture.width());
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
            assert!(chart.contains(&format!(">{text}</text>")), "`{text}` by {effort}");
        }
    }
}

#[test]
fn legends_say_how_many_runs_diverged_or_are_unfinished() {
    let (_home, folder) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    let chart = |outcomes: &[(usize, &str)]| {
        summarise(&folder, outcomes);
        draw(&folder).unwrap();
        svg(&folder, "relative_error-by-rounds.svg")
    };
    let sound = chart(&[(0, "finished"), (1, "finished"), (2, "reached"), (3, "reached")]);
    assert!(!sound.contains("diverged") && !sound.contains("unfinished"));
    let mixed = chart(&[(0, "finished"), (1, "diverged"), (2, "reached")]);
    assert_eq!(mixed.matches(">1 of 2 diverged</text>").count(), 1);
    assert_eq!(mixed.matches(">1 of 2 unfinished</text>").count(), 1);
    let lost = chart(&[(0, "finished"), (1, "finished"), (2, "diverged"), (3, "diverged")]);
    assert_eq!(lost.matches(">2 of 2 diverged</text>").count(), 1);
    assert_eq!((sound.matches("leaves").count(), lost.matches("leaves").count()), (0, 1), "the line leaves the frame");
}

#[test]
fn interrupted_runs_are_left_out() {
    let (_home, with) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    let (_other_home, without) = folder(EXPERIMENT, &records(&[0, 1, 2]));
    let chart = |folder| {
        summarise(folder, &[(0, "finished"), (1, "finished"), (2, "reached")]);
        draw(folder).unwrap();
        svg(folder, "relative_error-by-rounds.svg")
    };
    assert_eq!(chart(&with), chart(&without));
}

#[test]
fn bands_are_chosen() {
    let (_home, folder) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    let chart = |band| {
        draw_as(&folder, &Request { band, ..Request::default() }).unwrap();
        svg(&folder, "relative_error-by-rounds.svg")
    };
    let [quartiles, range, std] = [Band::Quartiles, Band::Range, Band::Std].map(|band| chart(Some(band)));
    assert_eq!(chart(None), quartiles, "the axis is logarithmic");
    assert!(quartiles != range && range != std && std != quartiles);
}

#[test]
fn several_folders_become_one_chart() {
    let ((_one_home, one), (_other_home, other)) =
        (folder(EXPERIMENT, &records(&[0, 1, 2])), folder(EXPERIMENT, &records(&[0, 1, 2, 3])));
    let home = TempDir::new().unwrap();
    let out = home.path().join("together.v2.pdf");
    let folders = [one, other];
    let labels = vec![format!("first ({})=FIRST", folders[0].path().file_name().unwrap().to_string_lossy())];
    let request = Request { formats: vec![Format::Pdf, Format::Svg], labels, ..Request::default() };
    let written = draw_together(&folders, &out, &request).unwrap();
    assert_eq!(written, ["pdf", "svg"].map(|kind| home.path().join(format!("together.v2.{kind}"))));
    assert!(fs::read(&written[0]).unwrap().starts_with(b"%PDF-"));
    let chart = fs::read_to_string(&written[1]).unwrap();
    assert_eq!((chart.matches(">FIRST</text>").count(), chart.matches("class=\"curve\"").count()), (1, 4));
    let unknown = draw_together(&folders, &home.path().join("together"), &Request::default()).unwrap_err();
    assert!(matches!(&unknown, FigureError::Usage(RequestError::NoFormat)), "{unknown}");
}

#[test]
fn a_pdf_has_the_printed_width_and_its_font() {
    let (_home, folder) = folder(EXPERIMENT, &records(&[0, 1, 2, 3]));
    let request = Request {
        width: Some("3.25in".parse().unwrap()),
        formats: vec![Format::Pdf],
        metric: Some("relative_error".to_owned()),
        ..Request::default()
    };
    let files = draw_as(&folder, &request).unwrap();
    assert_eq!(files.len(), 3, "by each effort");
    let pdf = fs::read(&files[0]).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    assert!(
        text.contains("/MediaBox [0 0 234 ") && text.contains("/FontFile2") && text.contains("/ToUnicode"),
        "{text}"
    );
    let missing = draw_as(&folder, &Request { metric: Some("hypergradient".to_owned()), ..request }).unwrap_err();
    assert!(matches!(missing, FigureError::Empty { .. }), "{missing}");
}

#[test]
fn every_small_network_is_drawn_once() {
    let experiment = EXPERIMENT.replace(
        "[[algorithm]]\nlabel = \"first\"",
        "[[algorithm]]\nlabel = \"first\"\nagents = [4, 5, 41]\nweights = { kind = [\"uniform\", \"lazy\"] }\n\
         topology = { kind = \"ring\" }",
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
