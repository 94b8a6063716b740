//! The records of one run: a row of metrics after every few rounds, and when the run is to end.

use std::ops::ControlFlow;

use fabnet_core::observe::DivergenceGuard;
use fabnet_core::{Optimum, Scalar, Stop, View};

use super::job_error::JobError;
use super::run_metrics::RunMetrics;
use super::simulator::Simulator;
use crate::plan::{Job, Target};
use crate::results::{Checkpoint, ExactNumber, Extent, RunEnding};

/// What is recorded of a run.
pub(super) struct RunRecord<'a, T: Scalar> {
    pub(super) job: Job<'a>,
    metrics: RunMetrics<T>,
    /// How long the run may stay beyond the limits of divergence.
    patience: DivergenceGuard,
    /// The seconds spent in rounds so far.
    pub(super) seconds: f64,
    /// The values of the last record.
    last: Vec<f64>,
    /// The round of the last record.
    pub(super) last_round: Option<u64>,
}

impl<'a, T: Scalar> RunRecord<'a, T> {
    /// The record of a run that starts as seen here.
    pub(super) fn new(job: Job<'a>, start: &View<'_, T>) -> Self {
        let metrics = RunMetrics::new(&job.plan.metrics, start);
        Self { job, metrics, patience: DivergenceGuard::default(), seconds: 0.0, last: Vec::new(), last_round: None }
    }

    /// Measures the run: a row of records, and whether the run is to end.
    pub(super) fn measure(&mut self, view: &View<'_, T>) -> Result<(Vec<String>, ControlFlow<Stop>), JobError> {
        let (values, diverged) = self.metrics.measure(view);
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
        let row = self.row(view, &values);
        (self.last, self.last_round) = (values, Some(view.round));
        Ok((row, verdict))
    }

    /// The metrics of the last record, by name; NaN where one means nothing.
    pub(super) fn last(&self) -> impl Iterator<Item = (&'a str, f64)> {
        self.job.plan.metrics.iter().map(String::as_str).zip(self.last.iter().copied())
    }

    /// The optimum of the problem, where it is known.
    pub(super) fn optimum(&self) -> Option<&Optimum<T>> {
        self.metrics.optimum()
    }

    /// The cells of a row; a metric that means nothing leaves its cell empty.
    fn row(&self, view: &View<'_, T>, values: &[f64]) -> Vec<String> {
        let Job { run, group, seed, .. } = self.job;
        let first = [run.to_string(), group.label.clone(), seed.to_string(), view.round.to_string()];
        let costs = [format!("{:.6}", self.seconds), view.bytes_per_agent().to_string()];
        let measured = values.iter().map(|value| if value.is_nan() { String::new() } else { value.to_string() });
        first.into_iter().chain(costs).chain(measured).collect()
    }

    /// How a run ends that has done all its rounds.
    pub(super) fn at_last_round(&self, view: &View<'_, T>) -> Stop {
        self.patience.last(view)
    }

    /// What a checkpoint keeps of the record, beside rows of this extent.
    pub(super) fn checkpoint(&self, rows: Extent) -> Checkpoint {
        Checkpoint { rows, seconds: self.seconds, away_since: self.patience.since, round: self.last_round }
    }

    /// Continues from a checkpoint.
    pub(super) fn resume(&mut self, saved: &Checkpoint) {
        self.seconds = saved.seconds;
        self.patience.since = saved.away_since;
        self.last_round = saved.round;
    }

    /// How the run has ended.
    pub(super) fn ending(&self, simulator: &Simulator<T>, stop: Stop) -> RunEnding {
        let view = simulator.view();
        RunEnding {
            outcome: stop.into(),
            rounds: view.round,
            reached_at: if let Stop::Reached { round } = stop { Some(round) } else { None },
            last: self.last.iter().map(|value| Some(ExactNumber(*value)).filter(|_| value.is_finite())).collect(),
            seconds: self.seconds,
            bytes_per_agent: ExactNumber(view.bytes_per_agent()),
            state_bytes: ExactNumber(simulator.state_bytes()),
        }
    }
}
