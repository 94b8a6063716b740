//! One run: rounds, records and checkpoints.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use fabnet_core::observe::Patience;
use fabnet_core::{Scalar, ShardError, Stop, View};

use crate::engine::Engine;
use crate::figure::FigureError;
use crate::finding;
use crate::folder::Folder;
use crate::jobs::{Checkpoint, Done, Jobs};
use crate::joined::Joined;
use crate::metric::Gauge;
use crate::pacing::Pacing;
use crate::plan::{Group, Plan, Target};
use crate::rows::{Extent, Rows};
use crate::runner::Collection;
use crate::setup::{Setup, SetupError};
use crate::solution;
use crate::stopwatch::Stopwatch;
use crate::summary::{Ending, Exact};
use crate::track::track_label;
use crate::tracks::{NotWhole, Tracks};

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

impl Job<'_> {
    /// The label of its group as the name of files.
    pub(crate) fn file_name(&self) -> String {
        self.plan.file_names().swap_remove(self.run / self.plan.seeds.len())
    }
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
    Finding(FigureError),
    /// The folder of results cannot be made.
    #[error("{}: {error}; nothing was begun: check the folder's space and rights, then run again", path.display())]
    Begin {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Results cannot be written or read.
    #[error("{}: {error}; check the folder's space and rights, then go on with --resume", path.display())]
    Files {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file is not as it was written.
    #[error(
        "{}: {reason}; these runs cannot go on: run the plan.toml of this folder anew, with another --out",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process carries out the runs of the folder.
    #[error("{}: another fabnet is carrying out these runs: wait for it, or end it first", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The runs are those of real nodes, and a simulation would be something else.
    #[error(
        "{}: its run is one of real nodes, which were stopped before its results were put together: use `fabnet collect` on \
         their state folders, or launch its plan.toml anew with another --out",
        path.display()
    )]
    OfNodes {
        /// The folder.
        path: PathBuf,
    },
    /// The records of a real run are not whole.
    #[error(transparent)]
    NotWhole(#[from] NotWhole),
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

impl JobError {
    /// Whether the runs can go on once this is mended.
    pub fn can_be_resumed(&self) -> bool {
        matches!(self, Self::Files { .. } | Self::Locked { .. })
    }

    fn no_target(metric: &str, group: &Group) -> Self {
        Self::Target {
            metric: metric.to_owned(),
            algorithm: group.algorithm.kind.clone(),
            problem: group.problem.kind.clone(),
        }
    }

    /// The same error, with the group that has it.
    pub(crate) fn in_group(self, label: &str) -> Self {
        match self {
            Self::Setup(SetupError::Invalid(message)) => SetupError::Invalid(format!("`{label}`: {message}")).into(),
            Self::Setup(SetupError::Impossible(message)) => {
                SetupError::Impossible(format!("`{label}`: {message}")).into()
            }
            other => other,
        }
    }
}

/// Refuses a target that a run which starts like this cannot measure.
pub(crate) fn check_target<T: Scalar>(target: &Target, group: &Group, start: &View<'_, T>) -> Result<(), JobError> {
    let (values, _) = Gauge::new(std::slice::from_ref(&target.metric), start).measure(start);
    if values[0].is_nan() { Err(JobError::no_target(&target.metric, group)) } else { Ok(()) }
}

impl From<FigureError> for JobError {
    fn from(error: FigureError) -> Self {
        match error {
            FigureError::Files { path, error } => Self::Files { path, error },
            error => Self::Finding(error),
        }
    }
}

/// Where runs are carried out, and how.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) jobs: &'a Jobs,
    /// The least time between two checkpoints of a run.
    pub(crate) checkpoint: Duration,
    pub(crate) witness: &'a dyn Witness,
}

/// Carries out a run, from its checkpoint if there is one. None means that it was interrupted.
pub(crate) fn carry_out<T: Scalar>(job: Job<'_>, place: Place<'_>) -> Result<Option<Done>, JobError> {
    let setup = Setup::<T>::new(job.group, job.seed)?;
    let engine = setup.engine()?;
    drive(&setup, engine, job, place)
}

/// Puts a run together from what the nodes of a real network recorded.
pub(crate) fn put_together<T: Scalar>(
    job: Job<'_>,
    place: Place<'_>,
    collection: &Collection<'_>,
) -> Result<(Option<Done>, Vec<String>), JobError> {
    let setup = Setup::<T>::new(job.group, job.seed)?;
    let label = track_label::<T>("", 0, job.plan, setup.algorithm.blocks().width());
    let tracks = Tracks::read(&*collection.files, collection.tracks, &label, job.group.rounds);
    if !tracks.gaps.is_empty() && !collection.partial {
        return Err(NotWhole(tracks.gaps).into());
    }
    let joined = Joined::new(&setup, tracks.marks);
    // Of a run that goes on, or was given up, there is less.
    let group = Group { rounds: job.group.rounds.min(joined.last_round()), ..job.group.clone() };
    let job = Job { group: &group, ..job };
    let done = drive(&setup, Engine::Joined(joined), job, place)?;
    Ok((done, tracks.gaps.iter().map(ToString::to_string).collect()))
}

fn drive<T: Scalar>(
    setup: &Setup<T>,
    mut engine: Engine<T>,
    job: Job<'_>,
    place: Place<'_>,
) -> Result<Option<Done>, JobError> {
    let Place { folder, jobs, witness, .. } = place;
    let mut record = Record::new(job, &engine.view());
    let saved = jobs.checkpoint(job.run)?;
    if let Some((saved, state)) = &saved {
        engine.restore(state)?;
        record.resume(saved);
    }
    let mut rows = jobs.rows(job.run, saved.map(|(saved, _)| saved.rows))?;
    witness.begun(&job, engine.view().round);
    let stop = advance(&mut engine, &mut record, &mut rows, place);
    witness.ended(&job);
    let Some(stop) = stop? else { return Ok(None) };
    if Some(&job.seed) == job.plan.seeds.first() {
        finding::write(folder, job, &setup.problem.findings(&engine.view()))?;
    }
    solution::write(folder, job, &engine.view(), stop.into(), engine.has_private())?;
    let done = Done { rows: rows.sync()?, ending: record.ending(&engine, stop) };
    jobs.finish(job.run, &done)?;
    Ok(Some(done))
}

fn advance<T: Scalar>(
    engine: &mut Engine<T>,
    record: &mut Record<'_, T>,
    rows: &mut Rows,
    Place { jobs, checkpoint, witness, .. }: Place<'_>,
) -> Result<Option<Stop>, JobError> {
    let Job { plan, group, run: number, .. } = record.job;
    let mut pacing = Pacing::new(checkpoint);
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
        if interrupted || pacing.is_due() {
            let watch = Stopwatch::start();
            if let Some(state) = engine.save() {
                jobs.save(number, &record.checkpoint(rows.sync()?), &state)?;
            }
            pacing.written(watch.elapsed());
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
                return Err(JobError::no_target(metric, self.job.group));
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

    fn checkpoint(&self, rows: Extent) -> Checkpoint {
        Checkpoint { rows, seconds: self.seconds, away_since: self.patience.since, round: self.last_round }
    }

    fn resume(&mut self, saved: &Checkpoint) {
        self.seconds = saved.seconds;
        self.patience.since = saved.away_since;
        self.last_round = saved.round;
    }

    fn ending(&self, engine: &Engine<T>, stop: Stop) -> Ending {
        let view = engine.view();
        Ending {
            outcome: stop.into(),
            rounds: view.round,
            reached_at: if let Stop::Reached { round } = stop { Some(round) } else { None },
            last: self.last.iter().map(|value| Some(Exact(*value)).filter(|_| value.is_finite())).collect(),
            seconds: self.seconds,
            bytes_per_agent: Exact(view.bytes_per_agent),
            state_bytes: Exact(engine.state_bytes()),
        }
    }
}
