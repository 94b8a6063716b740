//! The answers that runs leave, read by the format's own library.

use fabnet_core::ProblemExt;
use std::path::Path;

use fabnet_lab::{Experiment, Folder, Plan, RunOptions, Setup, Summary, carry_out_plan};
use safetensors::{Dtype, SafeTensors};
use tempfile::TempDir;

/// Runs an experiment.
fn run(text: &str) -> (TempDir, Plan, Summary) {
    let home = tempfile::tempdir().unwrap();
    let plan = Experiment::parse(text, Path::new("test.toml")).unwrap().plan().unwrap();
    let folder = Folder::new(home.path());
    folder.begin(&plan).unwrap();
    let report = carry_out_plan(&plan, &folder, RunOptions::new(2), &()).unwrap();
    (home, plan, report.summary)
}

/// The scalars of a tensor.
fn scalars(file: &SafeTensors<'_>, name: &str) -> Vec<f64> {
    let tensor = file.tensor(name).unwrap();
    match tensor.dtype() {
        Dtype::F64 => tensor.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        Dtype::F32 => tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect(),
        other => panic!("{name} has scalars of kind {other:?}"),
    }
}

fn mean_of_rows(rows: &[f64], width: usize) -> Vec<f64> {
    let count = (rows.len() / width) as f64;
    (0..width).map(|column| rows.iter().skip(column).step_by(width).sum::<f64>() / count).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{found} instead of {expected}");
    }
}

#[test]
fn the_answer_is_the_one_that_was_measured() {
    let (home, plan, summary) =
        run("agents = 4\nrounds = 300\nseeds = 2\n[problem]\nkind = \"bilevel-quadratic\"\n[[algorithm]]\n\
         kind = \"dfab\"\n[record]\nmetrics = [\"relative_error\"]\nsolutions = \"all\"\n");
    for (run, (group, seed)) in summary.runs.iter().zip(plan.runs()) {
        let path = run.solution.as_ref().unwrap();
        assert_eq!(path, &format!("solutions/dfab-{seed}.safetensors"));
        let bytes = std::fs::read(home.path().join(path)).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let (x, y) = (scalars(&file, "x"), scalars(&file, "y"));
        let optimum = Setup::<f64>::new(group, seed).unwrap().problem.optimum().unwrap();
        let distance = |from: &[f64]| x.iter().zip(from).map(|(x, from)| (x - from).powi(2)).sum::<f64>().sqrt();
        let error = distance(&optimum.x) / optimum.x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert_near(&[error], &[run.last["relative_error"].unwrap()]);
        for (name, mean) in [("agents.x", &x), ("agents.y", &y)] {
            assert_eq!(file.tensor(name).unwrap().shape(), [4, mean.len()]);
            assert_near(&mean_of_rows(&scalars(&file, name), mean.len()), mean);
        }
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let metadata = header.metadata().clone().unwrap();
        let seed = seed.to_string();
        for (key, value) in
            [("label", "dfab"), ("seed", &seed), ("round", "300"), ("algorithm", "dfab"), ("outcome", "finished")]
        {
            assert_eq!(metadata[key], value);
        }
    }
}

/// Cleaning with a model of 6 hidden units and 4 classes.
const CLEANING: &str = r#"
agents = 3
rounds = 5
precision = "f32"

[problem]
kind = "hyper-cleaning"
data = "synthetic"
samples_per_agent = 40
batch = 8
hidden = 6

[[algorithm]]
label = "a/b"
kind = "fab"
steps = { x = 50, y = 0.05, z = 0.05 }

[[algorithm]]
label = "a:b"
kind = "fab"
steps = { x = 50, y = 0.04, z = 0.05 }

[record]
metrics = ["accuracy"]
"#;

#[test]
fn models_have_the_names_and_shapes_of_pytorch() {
    let (home, _, summary) = run(CLEANING);
    let paths: Vec<&str> = summary.runs.iter().map(|run| run.solution.as_deref().unwrap()).collect();
    assert_eq!(paths, ["solutions/a-b-0.safetensors", "solutions/a-b-2-0.safetensors"]);
    let bytes = std::fs::read(home.path().join(paths[0])).unwrap();
    assert_ne!(bytes, std::fs::read(home.path().join(paths[1])).unwrap());
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names();
    names.sort_unstable();
    assert_eq!(names, ["model.0.bias", "model.0.weight", "model.2.bias", "model.2.weight", "x", "y"]);
    let mut flat = Vec::new();
    for (layer, outputs) in [(0, 6), (2, 4)] {
        let weight = file.tensor(&format!("model.{layer}.weight")).unwrap();
        assert_eq!((weight.dtype(), weight.shape()[0]), (Dtype::F32, outputs));
        let (weights, inputs) = (scalars(&file, &format!("model.{layer}.weight")), weight.shape()[1]);
        // Here a row of weights is that of an input, in PyTorch that of an output.
        flat.extend((0..inputs * outputs).map(|place| weights[place % outputs * inputs + place / outputs]));
        flat.extend(scalars(&file, &format!("model.{layer}.bias")));
    }
    assert_eq!(flat, scalars(&file, "y"));
}

#[test]
fn private_coordinates_are_there_if_all_is_asked_for_and_nothing_if_nothing_is() {
    let (home, _, summary) = run(&format!("{CLEANING}solutions = \"all\"\n"));
    let bytes = std::fs::read(home.path().join(summary.runs[0].solution.as_ref().unwrap())).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    for agent in 0..3 {
        let own = scalars(&file, &format!("agents.own.{agent}"));
        assert_eq!(own.len(), 36, "a tenth of 40 samples is for validation");
        assert!(own.windows(2).any(|pair| pair[0] != pair[1]));
    }
    let (home, _, summary) = run(&format!("{CLEANING}solutions = \"none\"\n"));
    assert!(summary.runs.iter().all(|run| run.solution.is_none()) && !home.path().join("solutions").exists());
}
