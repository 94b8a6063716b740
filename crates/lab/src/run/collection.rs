//! Collecting a real run: from the tracks of its nodes to the results that a simulation would
//! leave.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::Scalar;
use fabnet_files::Files;

use super::job::{JobContext, carry_out_with};
use super::job_error::JobError;
use super::replay::Replay;
use super::setup::Setup;
use super::simulator::Simulator;
use crate::plan::{Group, Job, Plan, Precision};
use crate::results::{FinishedRun, Folder, Launched, NotWhole, Summary, Tracks, track_label};

/// What the nodes of a real network recorded.
#[derive(Debug)]
pub struct Collection<'a> {
    /// The files that the tracks are read from.
    pub files: Arc<dyn Files>,
    /// The path of each agent's track, where there is one.
    pub tracks: &'a [Option<PathBuf>],
    /// Whether incomplete records are accepted: the summary then says what is missing.
    pub partial: bool,
    /// What happened to the nodes, where that was seen.
    pub launched: Option<Launched>,
}

/// Puts the one run of a plan together from what the nodes of a real network recorded.
pub fn collect(plan: &Plan, folder: &Folder, collection: &Collection<'_>) -> Result<Summary, JobError> {
    let jobs = folder.open_jobs()?;
    let (checkpoint, progress) = (Duration::MAX, &());
    let context = JobContext { folder, jobs: &jobs, checkpoint, watch: false, processor_time: false, progress };
    let (mut runs, mut missing) = (Vec::new(), Vec::new());
    for job in plan.jobs() {
        let (done, gaps) = match job.group.precision {
            Precision::F64 => replay::<f64>(job, context, collection)?,
            Precision::F32 => replay::<f32>(job, context, collection)?,
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

/// Replays a run from the tracks of its nodes; with it comes what is missing in them, in words.
fn replay<T: Scalar>(
    job: Job<'_>,
    context: JobContext<'_>,
    collection: &Collection<'_>,
) -> Result<(Option<FinishedRun>, Vec<String>), JobError> {
    let setup = Setup::<T>::new(job.group, job.seed)?;
    let label = track_label::<T>("", 0, job.plan, setup.algorithm.blocks().width());
    let tracks = Tracks::read(&*collection.files, collection.tracks, &label, job.group.rounds);
    if !tracks.gaps.is_empty() && !collection.partial {
        return Err(NotWhole(tracks.gaps).into());
    }
    let replay = Replay::new(setup.algorithm, setup.problem, job.seed, tracks.points);
    // A run that is still going on, or was given up, has fewer rounds than its plan.
    let group = Group { rounds: job.group.rounds.min(replay.last_round()), ..job.group.clone() };
    let done = carry_out_with(Simulator::Replay(replay), Job { group: &group, ..job }, context)?;
    Ok((done, tracks.gaps.iter().map(ToString::to_string).collect()))
}
