//! One run: rounds, records and checkpoints.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use fabnet_core::observe::Patience;
use fabnet_core::{Scalar, ShardError, Stop, View};

use crate::engine::Engine;
use crate::figure::FigureError;
use crate::finding;
use crate::folder::{Checkpoint, Folder, Rows};
use crate::joined::Joined;
use crate::metric::Gauge;
use crate::plan::{Group, Plan, Target};
use crate::setup::{Setup, SetupError};
use crate::stopwatch::Stopwatch;
use crate::summary::{RunSummary, settings};

/// Which run of a plan.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Its number.
    pub run: usize,
    /// What it does.
    pub group: &'a Group,
    /// With which seed.
    pub seed: u64,
    /// Of which plan.
    pub plan: &'a Plan,
}

/// Who follows a run from outside.
pub trait Witness: Sync {
    /// A run has begun, or goes on, at this round.
    fn begun(&self, _job: &Job<'_>, _round: u64) {}
    /// It has come to this round.
    fn advanced(&self, _job: &Job<'_>, _round: u64) {}
    /// It has ended, or was interrupted.
    fn ended(&self, _job: &Job<'_>) {}
    /// Whether all runs are to stop, keeping what was recorded.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Looks away.
impl Witness for () {}

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// It cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The engine refused.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// What it found cannot be shown.
    #[error(transparent)]
    Finding(#[from] FigureError),
    /// Results cannot be written or read.
    #[error("{path}: {error}; check the folder's space and rights, then go on with --resume")]
    Files {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A target that this run cannot measure.
    #[error(
        "`{metric}` means nothing for `{algorithm}` on `{problem}`, so [stop] would never act: choose another metric"
    )]
    Target {
        /// The metric.
        metric: String,
        /// The method.
        algorithm: String,
        /// The problem.
        problem: String,
    },
}

/// Carries out a run, from its checkpoint if there is one. None means that it was interrupted.
pub(crate) fn carry_out<T: Scalar>(
    job: Job<'_>,
    folder: &Folder,
    checkpoint: Duration,
    witness: &dyn Witness,
) -> Result<Option<RunSummary>, JobError> {
    let setup = Setup::<T>::new(job.group, job.seed)?;
    let engine = setup.engine()?;
    drive(&setup, engine, job, folder, checkpoint, witness)
}

/// Puts a run together from what the nodes of a real network recorded, a file for each agent.
pub(crate) fn put_together<T: Scalar>(
    job: Job<'_>,
    folder: &Folder,
    tracks: &[PathBuf],
) -> Result<RunSummary, JobError> {
    let setup = Setup::<T>::new(job.group, job.seed)?;
    let joined = Joined::new(&setup, tracks)?;
    // Of a run that goes on, or was given up, there is less.
    let group = Group { rounds: job.group.rounds.min(joined.last_round()), ..job.group.clone() };
    let job = Job { group: &group, ..job };
    let done = drive(&setup, Engine::Joined(joined), job, folder, Duration::MAX, &())?;
    Ok(done.unwrap_or_else(|| unreachable!("nobody interrupts")))
}

fn drive<T: Scalar>(
    setup: &Setup<T>,
    mut engine: Engine<T>,
    job: Job<'_>,
    folder: &Folder,
    checkpoint: Duration,
    witness: &dyn Witness,
) -> Result<Option<RunSummary>, JobError> {
    let mut record = Record::new(job, &engine.view());
    let mut rows = match folder.checkpoint(job.run)? {
        Some((saved, state)) => {
            engine.restore(&state)?;
            record.resume(&saved);
            folder.rows(job.run, saved.rows)?
        }
        None => folder.rows(job.run, 0)?,
    };
    witness.begun(&job, engine.view().round);
    let stop = advance(&mut engine, &mut record, &mut rows, folder, checkpoint, witness);
    witness.ended(&job);
    let Some(stop) = stop? else { return Ok(None) };
    let summary = record.summary(&engine, stop);
    rows.flush()?;
    if Some(&job.seed) == job.plan.seeds.first() {
        finding::write(folder, &job.group.label, &setup.problem.findings(&engine.view()))?;
    }
    folder.finish(&summary)?;
    Ok(Some(summary))
}

fn advance<T: Scalar>(
    engine: &mut Engine<T>,
    record: &mut Record<'_, T>,
    rows: &mut Rows,
    folder: &Folder,
    checkpoint: Duration,
    witness: &dyn Witness,
) -> Result<Option<Stop>, JobError> {
    let Job { plan, group, run: number, .. } = record.job;
    let mut since_checkpoint = Stopwatch::start();
    loop {
        let round = engine.view().round;
        if record.last_round != Some(round) {
            let (row, verdict) = record.look(&engine.view())?;
            rows.write(&row)?;
            witness.advanced(&record.job, round);
            if let ControlFlow::Break(stop) = verdict {
                return Ok(Some(stop));
            }
        }
        if round >= group.rounds {
            return Ok(Some(record.patience.last(&engine.view())));
        }
        let interrupted = witness.interrupted();
        if (interrupted || since_checkpoint.elapsed() >= checkpoint)
            && let Some(state) = engine.save()
        {
            folder.save(number, &record.checkpoint(rows.flush()?), &state)?;
            since_checkpoint = Stopwatch::start();
        }
        if interrupted {
            return Ok(None);
        }
        let watch = Stopwatch::start();
        engine.run_until((round + 1).next_multiple_of(plan.every).min(group.rounds))?;
        record.seconds = engine.recorded_seconds().unwrap_or(record.seconds + watch.seconds());
    }
}

/// What is noted of a run.
struct Record<'a, T: Scalar> {
    job: Job<'a>,
    gauge: Gauge<T>,
    patience: Patience,
    seconds: f64,
    last: Vec<f64>,
    last_round: Option<u64>,
}

impl<'a, T: Scalar> Record<'a, T> {
    fn new(job: Job<'a>, start: &View<'_, T>) -> Self {
        let gauge = Gauge::new(&job.plan.metrics, start);
        Self { job, gauge, patience: Patience::default(), seconds: 0.0, last: Vec::new(), last_round: None }
    }

    /// A row of records, and whether the run is to end.
    fn look(&mut self, view: &View<'_, T>) -> Result<(Vec<String>, ControlFlow<Stop>), JobError> {
        let (values, diverged) = self.gauge.measure(view);
        let mut verdict = self.patience.judge(view, diverged);
        if let Some(Target { metric, below }) = &self.job.plan.target {
            let place = self.job.plan.metrics.iter().position(|name| name == metric);
            let value = place.map_or(f64::NAN, |place| values[place]);
            if view.round == 0 && value.is_nan() {
                return Err(JobError::Target {
                    metric: metric.clone(),
                    algorithm: self.job.group.algorithm.kind.clone(),
                    problem: self.job.group.problem.kind.clone(),
                });
            }
            if value < *below && !diverged {
                verdict = ControlFlow::Break(Stop::Reached { round: view.round });
            }
        }
        let Job { run, group, seed, .. } = self.job;
        let first = [run.to_string(), group.label.clone(), seed.to_string(), view.round.to_string()];
        let costs = [format!("{:.6}", self.seconds), view.bytes_per_agent.to_string()];
        let measured = values.iter().map(|value| if value.is_nan() { String::new() } else { value.to_string() });
        let row = first.into_iter().chain(costs).chain(measured).collect();
        (self.last, self.last_round) = (values, Some(view.round));
        Ok((row, verdict))
    }

    fn checkpoint(&self, rows: u64) -> Checkpoint {
        Checkpoint { rows, seconds: self.seconds, away_since: self.patience.since, round: self.last_round }
    }

    fn resume(&mut self, saved: &Checkpoint) {
        self.seconds = saved.seconds;
        self.patience.since = saved.away_since;
        self.last_round = saved.round;
    }

    fn summary(&self, engine: &Engine<T>, stop: Stop) -> RunSummary {
        let Job { run, group, seed, plan } = self.job;
        let view = engine.view();
        let value = |value: &f64| Some(*value).filter(|value| value.is_finite());
        let last: BTreeMap<_, _> = plan.metrics.iter().cloned().zip(self.last.iter().map(value)).collect();
        RunSummary {
            run,
            label: group.label.clone(),
            algorithm: group.algorithm.kind.clone(),
            settings: settings(group),
            seed,
            outcome: stop.into(),
            rounds: view.round,
            reached_at: if let Stop::Reached { round } = stop { Some(round) } else { None },
            last,
            seconds: self.seconds,
            rounds_per_second: if self.seconds > 0.0 { view.round as f64 / self.seconds } else { 0.0 },
            bytes_per_agent: view.bytes_per_agent,
            state_bytes: engine.state_bytes(),
            launched: None,
        }
    }
}
