//! The benchmark: its design, its results as files that others can add to, and its page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fabnet_core::algorithm::methods;
use fabnet_files::SystemFiles;
use fabnet_lab::{
    BenchCell, BenchError, BenchOptions, BenchProgress, BenchResults, BenchmarkPage, CellResult, Design, run_benchmark,
};
use serde_json::{Value as Json, json};

/// A small design: two methods that reach the target at once, and one that cannot be run with
/// losses.
const SMALL: &str = r#"
name = "small"
rounds = 100
every = 5
metric = "worst_error"
targets = [1e-1, 1e-2]
seeds = [0, 1, 2]
tuning = { seeds = [9], trials = 3 }
agents = [4]

[problems.bowl]
bilevel = false
problem = { kind = "quadratic" }

[networks.circle]
topology = { kind = "ring" }

[conditions.exact]
about = "nothing goes wrong"

[conditions.loss]
about = "a tenth is lost"
faults = { loss = 0.1 }

[methods.ours]
algorithm = { kind = "push-pull" }

[methods.theirs]
algorithm = { kind = "extra" }

[methods.read]
algorithm = { kind = "push-diging" }
reading_of = "a paper"

[[standard]]

[[statement]]
paper = "A. Nobody"
says = "Ours is as fast as it is"
by = "rounds"
target = 1e-2
better = { method = "ours" }
worse = { method = "theirs" }

[[statement]]
paper = "A. Nobody"
says = "Theirs is faster than ours"
by = "rounds"
target = 1e-2
better = { method = "read" }
worse = { method = "ours" }
"#;

/// A template with a place for each part.
const TEMPLATE: &str = "{{ verdicts }}\n# Readings\n{{ readings }}\n{{ coverage }}\n{{ machines }}\n{{ conditions }}\n\
                        {{ figures }}\n{{ tables }}\n{{ refusals }}\n";

fn design(text: &str) -> Design {
    Design::parse(text, Path::new("design.toml")).unwrap()
}

/// Asks for an interruption once this many cells are done.
struct Until(AtomicUsize);

impl BenchProgress for Until {
    fn done(&self, _: &CellResult, _: [usize; 2]) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// Carries out a design until this many more cells are done; whether all are.
fn carry_out(design: &Design, path: &Path, most: usize) -> bool {
    let options =
        BenchOptions { threads: 1, full: false, cells: None, machine: "here".to_owned(), note: String::new() };
    run_benchmark(design, path, &options, &Until(AtomicUsize::new(most))).unwrap()
}

fn read(path: &Path) -> BenchResults {
    BenchResults::read(&SystemFiles::SHARED, path).unwrap()
}

/// The results without what a clock has measured.
fn without_seconds(mut results: BenchResults) -> BenchResults {
    let runs = results.cells.iter_mut().flat_map(|result| &mut result.runs);
    runs.flat_map(|run| &mut run.reached).for_each(|at| at.seconds = 0.0);
    results.cells.sort_by(|a, b| a.cell.cmp(&b.cell));
    results
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_stopped_benchmark_goes_on_where_it_was() {
    let (folder, design) = (tempfile::tempdir().unwrap(), design(SMALL));
    let (whole, parts) = (folder.path().join("whole.json"), folder.path().join("parts.json"));
    assert!(carry_out(&design, &whole, 100));
    assert!(!carry_out(&design, &parts, 2), "it was stopped");
    assert_eq!(read(&parts).cells.len(), 2);
    // What is there already is kept as it is: a mark in it stays.
    let mut marked = read(&parts);
    marked.cells[0].runs[0].rounds += 1000;
    marked.write(&SystemFiles::SHARED, &parts).unwrap();
    assert!(carry_out(&design, &parts, 100));
    let mut found = read(&parts);
    let kept = found.cells.iter_mut().find(|result| result.cell == marked.cells[0].cell).unwrap();
    kept.runs[0].rounds -= 1000;
    assert_eq!(without_seconds(found), without_seconds(read(&whole)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn cells_are_tuned_alike_on_other_seeds_and_refused_with_a_reason() {
    let (folder, design) = (tempfile::tempdir().unwrap(), design(SMALL));
    let path = folder.path().join("results.json");
    carry_out(&design, &path, 100);
    let results = read(&path);
    assert_eq!(results.cells.len(), 6);
    for result in &results.cells {
        let can = (result.cell.method.as_str(), result.cell.condition.as_str()) != ("theirs", "loss");
        assert_eq!(result.refused.is_none(), can, "{}", result.cell);
        let (trials, seeds) = if can { (3, vec![0, 1, 2]) } else { (0, Vec::new()) };
        assert_eq!(result.trials, trials, "{}", result.cell);
        assert_eq!(result.runs.iter().map(|run| run.seed).collect::<Vec<_>>(), seeds, "{}", result.cell);
        for run in &result.runs {
            assert!(run.reached.len() == 2 && run.reached[0].rounds < run.reached[1].rounds, "{run:?}");
            assert!(run.reached[1].gradients > 0.0 && run.reached[1].bytes > 0.0);
        }
    }
}

#[test]
fn a_change_of_the_design_concerns_the_cells_that_it_changes() {
    let (before, after) = (design(SMALL), design(&SMALL.replace("loss = 0.1", "loss = 0.2")));
    let changed = |cell: &&BenchCell| before.digest(cell) != after.digest(cell);
    let cells = before.cells(false);
    let changed: BTreeSet<&str> = cells.iter().filter(changed).map(|cell| cell.condition.as_str()).collect();
    assert_eq!(changed, BTreeSet::from(["loss"]));
    for (from, to) in
        [("trials = 3", "trials = 4"), ("targets = [1e-1", "targets = [2e-1"), ("rounds = 100", "rounds = 90")]
    {
        let after = design(&SMALL.replace(from, to));
        assert!(cells.iter().all(|cell| before.digest(cell) != after.digest(cell)), "{to}");
    }
}

#[test]
fn a_design_that_cannot_be_used_is_refused_with_its_line() {
    let refused = |from: &str, to: &str| Design::parse(&SMALL.replace(from, to), Path::new("design.toml")).unwrap_err();
    let message = refused("every = 5", "evry = 5").to_string();
    assert!(message.starts_with("design.toml:4: ") && message.contains("evry"), "{message}");
    let message = refused("tuning = { seeds = [9]", "tuning = { seeds = [1]").to_string();
    assert!(message.contains("1 is a test seed"), "{message}");
    let message = refused("worse = { method = \"theirs\" }", "worse = { method = \"hers\" }").to_string();
    assert!(message.contains("there is no `hers`") && message.contains("ours"), "{message}");
    let message = refused("kind = \"extra\"", "kind = \"extre\"").to_string();
    assert!(message.contains("methods.theirs"), "{message}");
}

#[test]
fn the_results_of_others_are_added_and_ones_own_stay() {
    let (folder, design) = (tempfile::tempdir().unwrap(), design(SMALL));
    let (mine, theirs) = (folder.path().join("mine.json"), folder.path().join("theirs.json"));
    carry_out(&design, &mine, 2);
    carry_out(&design, &theirs, 100);
    let own = read(&mine);
    let mut others = read(&theirs);
    others.machines.get_mut("here").unwrap().processor = "another one".to_owned();
    let mut merged = own.clone();
    assert_eq!(merged.merge(others.clone()), 4);
    assert_eq!(merged.merge(others), 0, "nothing is added twice");
    assert_eq!(merged.machines.len(), 2);
    assert!(own.cells.iter().all(|result| merged.cells.contains(result)));
    assert_eq!(merged.cells.iter().filter(|result| result.machine == "here-2").count(), 4);
}

#[test]
fn pages_say_what_was_run_what_was_not_and_what_is_a_reading() {
    let (folder, design) = (tempfile::tempdir().unwrap(), design(SMALL));
    let path = folder.path().join("results.json");
    carry_out(&design, &path, 100);
    let page = |results: &BenchResults| {
        BenchmarkPage::new(&design, results, (TEMPLATE, Path::new("page.md")), "figures").unwrap()
    };
    let mut results = read(&path);
    let whole = page(&results);
    let (verdicts, readings) = whole.text.split_once("# Readings").unwrap();
    assert!(verdicts.contains("Ours is as fast") && !verdicts.contains("Theirs is faster"), "{verdicts}");
    assert!(readings.contains("Theirs is faster") && readings.contains("Our reading of a paper"), "{readings}");
    assert!(whole.text.contains("Of 6 cells of the standard size 5 were run, and 1 cannot be run. The full"));
    assert!(
        whole.text.contains("| theirs | cannot be run (1) |") && whole.text.contains("\n1. this method needs every")
    );
    assert!(whole.figures["bowl-circle.svg"].contains("theirs"));
    // A cell that is not there, or whose result is of another design, is shown as not run.
    results.cells.retain(|result| (result.cell.method.as_str(), result.cell.condition.as_str()) != ("ours", "exact"));
    results.cells.iter_mut().find(|result| result.cell.method == "read").unwrap().digest = "0".repeat(16);
    let part = page(&results).text;
    assert!(part.contains("This is a sample: 2 cells are not run.") && part.contains("| ours | not run |"), "{part}");
    assert!(part.contains("| 0, 0, 0, 0 | 1 |  | **not run** |"), "{part}");
    let error = BenchmarkPage::new(&design, &results, ("no places", Path::new("page.md")), "figures").unwrap_err();
    assert!(error.to_string().contains("page.md: there is no place `{{ verdicts }}`"), "{error}");
}

/// What the schema refuses, the program refuses, too; and both take what the program writes.
#[test]
fn results_are_of_the_published_form_and_broken_ones_are_refused() {
    let schema: Json = serde_json::from_str(&text_of("docs/benchmark.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let (folder, small) = (tempfile::tempdir().unwrap(), design(SMALL));
    let path = folder.path().join("results.json");
    carry_out(&small, &path, 100);
    let sound: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let published: Json = serde_json::from_str(&text_of("experiments/benchmark/results.json")).unwrap();
    for results in [&sound, &published] {
        let wrong: Vec<String> = schema.iter_errors(results).map(|error| error.to_string()).take(3).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        BenchResults::parse(results.to_string().as_bytes(), &path).unwrap();
    }
    let place = sound["cells"].as_array().unwrap().iter().position(|cell| cell.get("refused").is_none()).unwrap();
    let cell = format!("/cells/{place}");
    for (pointer, value) in [
        ("/format".to_owned(), json!(2)),
        ("/machines/here/cores".to_owned(), json!("two")),
        (format!("{cell}/cell/agents"), json!(-4)),
        (format!("{cell}/digest"), json!(7)),
        (format!("{cell}/refused"), json!("because")),
        (format!("{cell}/runs"), json!([])),
        (format!("{cell}/runs/0/outcome"), json!("lost")),
        (format!("{cell}/runs/0/reached/0/bytes"), json!(-1.0)),
        (format!("{cell}/runs/0/reached/0/hours"), json!(1.0)),
    ] {
        let mut broken = sound.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        broken.pointer_mut(parent).unwrap()[key] = value;
        assert!(!schema.is_valid(&broken), "the schema takes another {pointer}");
        let error = BenchResults::parse(broken.to_string().as_bytes(), &path);
        assert!(matches!(error, Err(BenchError::Form { .. })), "the program takes another {pointer}");
    }
}

/// The standard size is what it is said to be.
#[test]
fn the_standard_size_has_every_method_in_every_place() {
    let design = Design::read(&repository("experiments/benchmark/design.toml")).unwrap();
    let (cells, text) = (design.cells(false), text_of("experiments/benchmark/design.toml"));
    let plan = |cell: &BenchCell| design.plan(cell);
    // An alias of another method, so that nothing is computed twice.
    let aliases = ["push-sgd"];
    for method in methods::<f64>().into_iter().filter(|method| !aliases.contains(&method.name)) {
        let exact: Vec<&BenchCell> = cells
            .iter()
            .filter(|cell| cell.condition == "exact")
            .filter(|cell| plan(cell).is_ok_and(|plan| plan.groups[0].algorithm.kind == method.name))
            .collect();
        let different =
            |value: fn(&BenchCell) -> String| exact.iter().map(|cell| value(cell)).collect::<BTreeSet<_>>().len();
        assert!(different(|cell| cell.problem.clone()) >= 2, "{}: problems", method.name);
        assert!(different(|cell| cell.network.clone()) >= 2, "{}: networks", method.name);
        assert_eq!(different(|cell| cell.agents.to_string()), 2, "{}: agents", method.name);
        let name = &exact[0].method;
        let conditions: BTreeSet<&str> =
            cells.iter().filter(|cell| cell.method == *name).map(|cell| cell.condition.as_str()).collect();
        assert_eq!(conditions.len(), 5, "{}: conditions", method.name);
    }
    let sample = plan(&cells[0]).unwrap();
    assert_eq!(sample.seeds.len(), 5);
    let trials = text.split("trials = ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(trials.parse::<usize>().unwrap() >= 12, "{trials} trials");
    let all: BTreeSet<BenchCell> = design.cells(true).into_iter().collect();
    assert!(cells.iter().all(|cell| all.contains(cell)), "the full product has all cells");
}

/// The page and its figures are what the committed results make.
#[test]
fn the_page_is_made_from_the_committed_results() {
    let design = Design::read(&repository("experiments/benchmark/design.toml")).unwrap();
    let results = read(&repository("experiments/benchmark/results.json"));
    let template = text_of("experiments/benchmark/page.md");
    let page = BenchmarkPage::new(&design, &results, (&template, Path::new("page.md")), "figures/benchmark").unwrap();
    assert!(text_of("docs/benchmark.md") == page.text, "run: experiments/benchmark/run.sh page");
    let folder = repository("docs/figures/benchmark");
    let there: BTreeSet<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, page.figures.keys().cloned().collect(), "docs/figures/benchmark holds these figures");
    for (name, svg) in page.figures {
        assert!(
            std::fs::read_to_string(folder.join(&name)).unwrap() == svg,
            "{name}: run experiments/benchmark/run.sh"
        );
    }
    let verdicts = page.text.split("## Verdicts").nth(1).unwrap().split("### Our readings").next().unwrap();
    let given = verdicts.lines().filter(|line| line.contains("| **") && !line.contains("**not run**"));
    assert!(given.count() >= 10, "{verdicts}");
}
