//! Carrying out a plan: every group with every seed, in parallel over the cores.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::folder::Folder;
use crate::job::{Job, JobError, Witness, carry_out, put_together};
use crate::plan::{Plan, Precision};
use crate::summary::{Launched, RunSummary, Summary};

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

/// Carries out all runs of a plan that are not done yet. Results do not depend on the number of threads: a run is a pure function of its group and seed.
pub fn carry_out_plan(plan: &Plan, folder: &Folder, pace: Pace, witness: &dyn Witness) -> Result<Report, JobError> {
    let jobs: Vec<Job<'_>> =
        plan.runs().enumerate().map(|(run, (group, seed))| Job { run, group, seed, plan }).collect();
    let done = Mutex::new(folder.done(jobs.len())?);
    let open: Vec<Job<'_>> = {
        let done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        jobs.iter().copied().filter(|job| done[job.run].is_none()).collect()
    };
    let failure = Mutex::new(None);
    let next = AtomicUsize::new(0);
    // With fewer runs than threads, each run gets several.
    let workers = pace.threads.min(open.len()).max(1);
    let work = || {
        while let Some(job) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            if witness.interrupted() || lock(&failure).is_some() {
                break;
            }
            let result = match job.group.precision {
                Precision::F64 => carry_out::<f64>(*job, folder, pace.checkpoint, witness),
                Precision::F32 => carry_out::<f32>(*job, folder, pace.checkpoint, witness),
            };
            match result {
                Ok(summary) => lock(&done)[job.run] = summary,
                Err(error) => _ = lock(&failure).get_or_insert(error),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                match rayon::ThreadPoolBuilder::new().num_threads((pace.threads / workers).max(1)).build() {
                    Ok(pool) => pool.install(work),
                    // Without a pool of its own, a run uses the one that everybody shares.
                    Err(_) => work(),
                }
            });
        }
    });
    if let Some(error) = lock(&failure).take() {
        return Err(error);
    }
    let runs: Vec<RunSummary> = lock(&done).drain(..).flatten().collect();
    let interrupted = runs.len() < jobs.len();
    Ok(Report { summary: folder.collect(plan, runs)?, interrupted })
}

/// Puts the one run of a plan together from what the nodes of a real network recorded: the track of each agent, and what happened, where that was seen.
pub fn collect(
    plan: &Plan,
    folder: &Folder,
    tracks: &[PathBuf],
    launched: Option<Launched>,
) -> Result<Summary, JobError> {
    let mut runs = Vec::new();
    for (run, (group, seed)) in plan.runs().enumerate() {
        let job = Job { run, group, seed, plan };
        let summary = match group.precision {
            Precision::F64 => put_together::<f64>(job, folder, tracks)?,
            Precision::F32 => put_together::<f32>(job, folder, tracks)?,
        };
        runs.push(RunSummary { launched, ..summary });
    }
    folder.collect(plan, runs)
}

fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    // A panic elsewhere is reported there; what is kept here is whole at any time.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
