//! Carrying out one run: rounds, records and checkpoints.

use std::ops::ControlFlow;
use std::time::Duration;

use fabnet_core::{Scalar, Stop};

use super::findings;
use super::job_error::JobError;
use super::pacing::Pacing;
use super::progress::Progress;
use super::record::RunRecord;
use super::setup::Setup;
use super::simulator::Simulator;
use super::stopwatch::{Stopwatch, WorkTimer};
use super::watching::Watching;
use crate::plan::Job;
use crate::results::{FinishedRun, Folder, Jobs, Rows, write_solution};

/// Where runs are carried out, and how.
#[derive(Clone, Copy)]
pub(super) struct JobContext<'a> {
    /// The folder of results.
    pub(super) folder: &'a Folder,
    /// What the runs of the folder need to continue after a kill.
    pub(super) jobs: &'a Jobs,
    /// The least time between two checkpoints of a run.
    pub(super) checkpoint: Duration,
    /// Whether to record what people can watch.
    pub(super) watch: bool,
    /// Whether seconds are the processor's.
    pub(super) processor_time: bool,
    /// Who follows the runs, and may interrupt them.
    pub(super) progress: &'a dyn Progress,
}

/// A run works at least this many times as long as it writes checkpoints.
const CHECKPOINT_WORK: u32 = 20;

/// Carries out a run, from its checkpoint if there is one. `None` means that it was interrupted.
pub(super) fn carry_out<T: Scalar>(job: Job<'_>, context: JobContext<'_>) -> Result<Option<FinishedRun>, JobError> {
    let setup = Setup::<T>::new(job.group, job.seed)?;
    let simulator = setup.simulator()?;
    carry_out_with(simulator, job, context)
}

/// Carries out a run with a simulator that is at its start.
pub(super) fn carry_out_with<T: Scalar>(
    mut simulator: Simulator<T>,
    job: Job<'_>,
    context: JobContext<'_>,
) -> Result<Option<FinishedRun>, JobError> {
    let JobContext { folder, jobs, progress, watch, .. } = context;
    let mut watching = Watching::begin(folder, job, watch, progress.shows_worst())?;
    let mut record = RunRecord::new(job, &simulator.view());
    let saved = jobs.checkpoint(job.run)?;
    if let Some((saved, state)) = &saved {
        simulator.restore(state)?;
        record.resume(saved);
    }
    let mut rows = jobs.rows(job.run, saved.map(|(saved, _)| saved.rows))?;
    progress.begun(&job, simulator.view().round);
    let stop = advance(&mut simulator, &mut record, &mut rows, &mut watching, context);
    progress.ended(&job);
    let Some(stop) = stop? else { return Ok(None) };
    watching.end(&mut simulator, &record, stop.into())?;
    let view = simulator.view();
    if Some(&job.seed) == job.plan.seeds.first() {
        findings::write(folder, job, &view)?;
    }
    write_solution(folder, job, &view, stop.into(), simulator.has_private())?;
    let done = FinishedRun { rows: rows.sync()?, ending: record.ending(&simulator, stop) };
    jobs.finish(job.run, &done)?;
    Ok(Some(done))
}

/// Carries out rounds until the run ends; `None` means that it was interrupted.
fn advance<T: Scalar>(
    simulator: &mut Simulator<T>,
    record: &mut RunRecord<'_, T>,
    rows: &mut Rows,
    watching: &mut Watching,
    JobContext { jobs, checkpoint, progress, processor_time, .. }: JobContext<'_>,
) -> Result<Option<Stop>, JobError> {
    let Job { plan, group, run: number, .. } = record.job;
    let mut pacing = Pacing::new(checkpoint, CHECKPOINT_WORK);
    loop {
        let round = simulator.view().round;
        if record.last_round != Some(round) {
            let (row, verdict) = record.measure(&simulator.view())?;
            rows.write(&row)?;
            progress.advanced(&record.job, round);
            let worst = watching.look(simulator, record)?;
            if let Some((metric, value)) = record.last().next() {
                progress.measured(&record.job, metric, value, worst);
            }
            if let ControlFlow::Break(stop) = verdict {
                return Ok(Some(stop));
            }
        }
        if round >= group.rounds {
            return Ok(Some(record.at_last_round(&simulator.view())));
        }
        let interrupted = progress.interrupted();
        if interrupted || pacing.is_due() {
            let watch = Stopwatch::start();
            if let Some(state) = simulator.save() {
                jobs.save(number, &record.checkpoint(rows.sync()?), &state)?;
            }
            pacing.written(watch.elapsed());
        }
        if interrupted {
            return Ok(None);
        }
        let timer = WorkTimer::start(processor_time);
        simulator.run_until((round + 1).next_multiple_of(plan.every).min(group.rounds))?;
        record.seconds = simulator.recorded_seconds().unwrap_or(record.seconds + timer.seconds());
    }
}
