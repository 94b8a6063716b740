//! Carrying out a plan: every group with every seed, in parallel over the cores.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabnet_files::Files;

use crate::figure;
use crate::folder::Folder;
use crate::job::{Job, JobError, Place, Witness, carry_out, put_together};
use crate::jobs::{Done, Jobs};
use crate::plan::{Plan, Precision};
use crate::preflight::{parallel_runs, preflight};
use crate::summary::{Launched, Summary};

/// How a plan was carried out.
#[derive(Debug)]
pub struct Report {
    /// What came out.
    pub summary: Summary,
    /// Whether runs are left, because someone interrupted.
    pub interrupted: bool,
}

/// How a plan is carried out. Results do not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Threads for all runs together.
    pub threads: usize,
    /// Time between two checkpoints of a run: what a kill can cost.
    pub checkpoint: Duration,
}

impl Pace {
    /// Checkpoints as they are written if nothing is said.
    pub const CHECKPOINT: Duration = Duration::from_secs(2);

    /// With this many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, checkpoint: Self::CHECKPOINT }
    }
}

/// Carries out all runs of a plan that are not done yet, in a folder that was begun or resumed, once
/// every group is known to be possible. Results do not depend on the number of threads: a run is a
/// pure function of its group and seed.
pub fn carry_out_plan(plan: &Plan, folder: &Folder, pace: Pace, witness: &dyn Witness) -> Result<Report, JobError> {
    preflight(plan, pace.threads)?;
    carry_out_runs(plan, folder, pace, witness)
}

/// Carries out all runs of a plan that are not done yet.
pub(crate) fn carry_out_runs(
    plan: &Plan,
    folder: &Folder,
    pace: Pace,
    witness: &dyn Witness,
) -> Result<Report, JobError> {
    let jobs = Jobs::of(folder)?;
    let place = Place { folder, jobs: &jobs, checkpoint: pace.checkpoint, witness };
    let mut runs: Vec<(Job<'_>, Option<Done>)> =
        all(plan).map(|job| Ok((job, jobs.done(job.run)?))).collect::<Result<_, JobError>>()?;
    carry_out_open(&mut runs, place, pace.threads)?;
    let interrupted = runs.iter().any(|(_, done)| done.is_none());
    Ok(Report { summary: folder.collect(&jobs, &runs)?, interrupted })
}

/// Draws the figures of a folder in which all runs are done, notes that nothing is left to do, and names the figures.
pub fn conclude(folder: &Folder) -> Result<Vec<PathBuf>, JobError> {
    let figures = figure::draw(folder)?;
    folder.end()?;
    Ok(figures)
}

/// All runs of a plan.
fn all(plan: &Plan) -> impl Iterator<Item = Job<'_>> {
    plan.runs().enumerate().map(move |(run, (group, seed))| Job { run, group, seed, plan })
}

/// Carries out those runs that are not done.
fn carry_out_open(runs: &mut [(Job<'_>, Option<Done>)], place: Place<'_>, threads: usize) -> Result<(), JobError> {
    let open: Vec<_> = runs.iter_mut().filter(|(_, done)| done.is_none()).collect();
    // With fewer runs than threads, each run gets several.
    let workers = parallel_runs(open.len(), threads);
    let (open, failure) = (Mutex::new(open.into_iter()), Mutex::new(None));
    let work = || {
        while !place.witness.interrupted() && lock(&failure).is_none() {
            let Some((job, done)) = lock(&open).next() else { break };
            let result = match job.group.precision {
                Precision::F64 => carry_out::<f64>(*job, place),
                Precision::F32 => carry_out::<f32>(*job, place),
            };
            match result {
                Ok(ended) => *done = ended,
                Err(error) => _ = lock(&failure).get_or_insert(error),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                match rayon::ThreadPoolBuilder::new().num_threads((threads / workers).max(1)).build() {
                    Ok(pool) => pool.install(work),
                    // Without a pool of its own, a run uses the one that everybody shares.
                    Err(_) => work(),
                }
            });
        }
    });
    lock(&failure).take().map_or(Ok(()), Err)
}

/// What the nodes of a real network recorded.
#[derive(Debug)]
pub struct Collection<'a> {
    /// Where the tracks are.
    pub files: Arc<dyn Files>,
    /// The track of each agent, where there is one.
    pub tracks: &'a [Option<PathBuf>],
    /// Whether a part of a run is accepted: the summary then says what is missing.
    pub partial: bool,
    /// What happened to the nodes, where that was seen.
    pub launched: Option<Launched>,
}

/// Puts the one run of a plan together from what the nodes of a real network recorded.
pub fn collect(plan: &Plan, folder: &Folder, collection: &Collection<'_>) -> Result<Summary, JobError> {
    let jobs = Jobs::of(folder)?;
    let place = Place { folder, jobs: &jobs, checkpoint: Duration::MAX, witness: &() };
    let (mut runs, mut missing) = (Vec::new(), Vec::new());
    for job in all(plan) {
        let (done, gaps) = match job.group.precision {
            Precision::F64 => put_together::<f64>(job, place, collection)?,
            Precision::F32 => put_together::<f32>(job, place, collection)?,
        };
        runs.push((job, done));
        missing.push(gaps);
    }
    let mut summary = folder.collect(&jobs, &runs)?;
    for (run, missing) in summary.runs.iter_mut().zip(missing) {
        (run.launched, run.missing) = (collection.launched, missing);
    }
    folder.write_summary(&summary)?;
    Ok(summary)
}

fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    // A panic elsewhere is reported there; what is kept here is whole at any time.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
