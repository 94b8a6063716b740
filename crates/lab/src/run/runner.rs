//! Carrying out a plan: every group with every seed, in parallel over the cores.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use super::job::{JobContext, carry_out};
use super::job_error::JobError;
use super::preflight::{parallel_runs, preflight};
use super::progress::Progress;
use crate::figure;
use crate::plan::{Job, Plan, Precision};
use crate::results::{FinishedRun, Folder, Summary};

/// How a plan was carried out.
#[derive(Debug)]
pub struct Report {
    /// The summary of all runs that are done.
    pub summary: Summary,
    /// Whether runs are left, because someone interrupted.
    pub interrupted: bool,
}

/// How a plan is carried out. Results do not depend on these options.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// The number of threads for all runs together.
    pub threads: usize,
    /// The least time between two checkpoints of a run, which is what a kill can cost.
    pub checkpoint: Duration,
    /// Whether to record what people can watch, in the folder `watch/` of the results.
    pub watch: bool,
    /// Whether the seconds of runs are the processor's, which other programs do not lengthen. Only
    /// where each run has one thread.
    pub processor_time: bool,
}

impl RunOptions {
    /// The time between two checkpoints if none is given.
    pub const CHECKPOINT: Duration = Duration::from_secs(2);

    /// The default options with this many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, checkpoint: Self::CHECKPOINT, watch: false, processor_time: false }
    }
}

/// Carries out all runs of a plan that are not done yet, in a folder that was begun or resumed,
/// once every group is known to be possible. Results do not depend on the number of threads: a run
/// is a pure function of its group and seed.
pub fn carry_out_plan(
    plan: &Plan,
    folder: &Folder,
    options: RunOptions,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    preflight(plan, options.threads)?;
    carry_out_runs(plan, folder, options, progress)
}

/// Carries out all runs of a plan that are not done yet, without looking at its groups first.
pub(crate) fn carry_out_runs(
    plan: &Plan,
    folder: &Folder,
    options: RunOptions,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    let jobs = folder.open_jobs()?;
    let RunOptions { threads, checkpoint, watch, processor_time } = options;
    let context = JobContext { folder, jobs: &jobs, checkpoint, watch, processor_time, progress };
    let mut runs: Vec<(Job<'_>, Option<FinishedRun>)> =
        plan.jobs().map(|job| Ok((job, jobs.done(job.run)?))).collect::<Result<_, JobError>>()?;
    carry_out_open(&mut runs, context, threads)?;
    let interrupted = runs.iter().any(|(_, done)| done.is_none());
    Ok(Report { summary: folder.collect(&jobs, &runs)?, interrupted })
}

/// Draws the figures of a folder in which all runs are done, marks the folder as finished, and
/// returns the paths of the figures.
pub fn conclude(folder: &Folder) -> Result<Vec<PathBuf>, JobError> {
    let figures = figure::draw(folder)?;
    folder.end()?;
    Ok(figures)
}

/// Carries out the runs that are not done.
fn carry_out_open(
    runs: &mut [(Job<'_>, Option<FinishedRun>)],
    context: JobContext<'_>,
    threads: usize,
) -> Result<(), JobError> {
    let open: Vec<_> = runs.iter_mut().filter(|(_, done)| done.is_none()).collect();
    // With fewer runs than threads, each run gets several threads.
    let workers = parallel_runs(open.len(), threads);
    let (open, failure) = (Mutex::new(open.into_iter()), Mutex::new(None));
    let work = || {
        while !context.progress.interrupted() && lock(&failure).is_none() {
            let Some((job, done)) = lock(&open).next() else { break };
            let result = match job.group.precision {
                Precision::F64 => carry_out::<f64>(*job, context),
                Precision::F32 => carry_out::<f32>(*job, context),
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
                // Each worker has its own pool: in a shared one, a thread that waits for half a
                // round of one run would begin another whole run.
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

fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    // A panic elsewhere is reported there; the value behind the lock is complete at any time.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
