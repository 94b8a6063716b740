//! Carrying out the cells that have no result yet.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fabnet_files::{Files, SystemFiles};

use super::cell::BenchCell;
use super::design::Design;
use super::error::BenchError;
use super::machine::Machine;
use super::measure::CellRunner;
use super::results::{BenchResults, CellResult};
use crate::run::Progress;

/// How a benchmark is carried out.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The number of cells that are carried out at the same time.
    pub threads: usize,
    /// Whether to carry out the full product instead of the standard size.
    pub full: bool,
    /// The number of cells that are to have a result; all if not given.
    pub cells: Option<usize>,
    /// The name of this machine in the results.
    pub machine: String,
    /// What else matters of this machine.
    pub note: String,
}

/// Follows a benchmark, and may interrupt it.
pub trait BenchProgress: Sync {
    /// Called when a cell has a result; that many of all wanted ones have one then.
    fn done(&self, _result: &CellResult, _of: [usize; 2]) {}
    /// Whether to stop; cells that are under way are lost, all others are kept.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Runs of cells show no progress of their own.
struct Quiet<'a>(&'a dyn BenchProgress);

impl Progress for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// Carries out the cells of a design that have no result in a file yet, and adds each to the file
/// as soon as it is done: a benchmark that was killed goes on where it was. Returns whether all
/// cells that were wanted have a result.
pub fn run_benchmark(
    design: &Design,
    path: &Path,
    options: &BenchOptions,
    progress: &dyn BenchProgress,
) -> Result<bool, BenchError> {
    let files: &dyn Files = &SystemFiles::SHARED;
    let scratch = PathBuf::from(format!("{}.runs", path.display()));
    files.create_folder(&scratch).map_err(|error| BenchError::files(&scratch, error))?;
    let lock = files.lock(&scratch.join("lock")).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => BenchError::Locked { path: path.to_owned() },
        _ => BenchError::files(&scratch, error),
    })?;
    let mut results = BenchResults::read_if_there(files, path)?.unwrap_or_else(BenchResults::empty);
    let machine = name_machine(&mut results, options);
    let mut wanted = design.cells(options.full);
    wanted.truncate(options.cells.unwrap_or(usize::MAX));
    let of = wanted.len();
    let is_known = |cell: &BenchCell| results.of(cell).is_some_and(|result| result.digest == design.digest(cell));
    let left: Vec<BenchCell> = wanted.into_iter().filter(|cell| !is_known(cell)).collect();
    let bench = CellRunner { design, machine: &machine, scratch: &scratch, progress: &Quiet(progress) };
    let mut file = ResultsFile { path, results, left: left.len(), of };
    carry_out_all(bench, left, &mut file, options.threads, progress)?;
    drop(lock);
    // The folder holds nothing that is needed any more.
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(file.left == 0)
}

/// The file of results while cells are carried out.
struct ResultsFile<'a> {
    path: &'a Path,
    results: BenchResults,
    /// The number of cells without a result, and of all wanted ones.
    left: usize,
    of: usize,
}

impl ResultsFile<'_> {
    fn add(&mut self, result: CellResult, progress: &dyn BenchProgress) -> Result<(), BenchError> {
        self.left -= 1;
        progress.done(&result, [self.of - self.left, self.of]);
        self.results.put(result);
        self.results.write(&SystemFiles::SHARED, self.path)
    }
}

/// Describes this machine in the results. The name gets a number if it stands for another one.
fn name_machine(results: &mut BenchResults, options: &BenchOptions) -> String {
    let here = Machine::here(options.threads, &options.note);
    let numbered = (2..).map(|number| format!("{}-{number}", options.machine));
    let mut names = std::iter::once(options.machine.clone()).chain(numbered);
    let free = |name: &String| results.machines.get(name).is_none_or(|known| *known == here);
    let name = names.find(free).unwrap_or_default();
    results.machines.insert(name.clone(), here);
    name
}

fn carry_out_all(
    bench: CellRunner<'_>,
    left: Vec<BenchCell>,
    file: &mut ResultsFile<'_>,
    threads: usize,
    progress: &dyn BenchProgress,
) -> Result<(), BenchError> {
    let (left, file, failure) = (Mutex::new(left.into_iter()), Mutex::new(file), Mutex::new(None));
    let work = || {
        while !progress.interrupted() && lock(&failure).is_none() {
            let Some(cell) = lock(&left).next() else { break };
            let done = bench.carry_out(&cell).and_then(|result| lock(&file).add(result, progress));
            match done {
                Err(error) if !error.is_interruption() => _ = lock(&failure).get_or_insert(error),
                _ => {}
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            // Each cell is one thread's, with a pool of its own, as runs of experiments have it.
            scope.spawn(|| match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
                Ok(pool) => pool.install(work),
                Err(_) => work(),
            });
        }
    });
    lock(&failure).take().map_or(Ok(()), Err)
}

fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
