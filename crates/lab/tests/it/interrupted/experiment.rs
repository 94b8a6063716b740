//! The experiment that is interrupted, and how its results are compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::Files;
use fabnet_lab::{Experiment, Folder, FolderState, JobError, Plan, Progress, RunOptions, carry_out_plan, conclude};

/// Two methods with two seeds each; a checkpoint follows each of four records.
const EXPERIMENT: &str = r#"
agents = 4
rounds = 8
seeds = 2

[problem]
kind = "bilevel-quadratic"

[[algorithm]]
kind = "fab"
steps = { x = 0.05, y = 0.05, z = 0.05 }

[[algorithm]]
kind = "dfab"
steps = { x = 0.05, u = 0.05, z = 0.05 }

[record]
every = 2
metrics = ["relative_error"]
"#;

/// The folder of results.
pub(crate) const HOME: &str = "results";

pub(crate) fn plan() -> Plan {
    Experiment::parse(EXPERIMENT, Path::new("experiment.toml")).unwrap().plan().unwrap()
}

/// Carries the experiment out in a folder that is new, or goes on with it.
pub(crate) fn carry_out(files: Arc<dyn Files>, home: &Path) -> Result<(), JobError> {
    carry_out_with(files, home, &())
}

pub(crate) fn carry_out_with(files: Arc<dyn Files>, home: &Path, progress: &dyn Progress) -> Result<(), JobError> {
    let folder = Folder::with_files(&home.join(HOME), files);
    if !folder.is_used() {
        folder.begin(&plan())?;
    } else if folder.resume()? == FolderState::Finished {
        return Ok(());
    }
    // One thread, and checkpoints that do not depend on time: the order of operations is the same
    // each time.
    let pace = RunOptions { checkpoint: Duration::ZERO, ..RunOptions::new(1) };
    let report = carry_out_plan(&folder.plan().unwrap(), &folder, pace, progress)?;
    if !report.interrupted {
        rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| conclude(&folder))?;
    }
    Ok(())
}

/// Every file of the results, apart from what depends on time: seconds in records and summary, and
/// the contents of figures by seconds.
pub(crate) fn results(files: &dyn Files, home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut folders = vec![home.join(HOME)];
    let mut results = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for path in files.list(&folder).unwrap().into_iter().map(|name| folder.join(name)) {
            if files.is_folder(&path) {
                folders.push(path);
                continue;
            }
            let contents = without_time(&path, files.read(&path).unwrap());
            results.insert(path.strip_prefix(home).unwrap().to_owned(), contents);
        }
    }
    results
}

fn without_time(path: &Path, contents: Vec<u8>) -> Vec<u8> {
    let name = path.file_name().unwrap().to_str().unwrap();
    match name {
        "records.csv" => {
            let mut out = csv::Writer::from_writer(Vec::new());
            for row in csv::ReaderBuilder::new().has_headers(false).from_reader(contents.as_slice()).records() {
                let row = row.unwrap();
                out.write_record(row.iter().enumerate().filter(|(column, _)| *column != 4).map(|(_, cell)| cell))
                    .unwrap();
            }
            out.into_inner().unwrap()
        }
        "summary.json" => {
            let mut summary: serde_json::Value = serde_json::from_slice(&contents).unwrap();
            for run in summary["runs"].as_array_mut().unwrap() {
                run["seconds"].take();
                run["rounds_per_second"].take();
            }
            serde_json::to_vec(&summary).unwrap()
        }
        _ if name.contains("-by-seconds.") => Vec::new(),
        _ => contents,
    }
}
