//! The runs of a trial, and the snapshots that are taken of them.

use std::sync::Arc;

use fabnet_core::{Divergence, Scalar, linalg};

use super::displaced_start::DisplacedStart;
use super::extrapolation::{Forecast, LinearGrowth, forecast_norms};
use super::growth::norm;
use super::trial_plan::TrialPlan;
use crate::run::{RunMetrics, Setup, SetupError, Simulator};

/// The runs of a trial, and what was seen of them.
pub(super) struct TrialRuns<T: Scalar> {
    simulator: Simulator<T>,
    /// A second run with the same noise from another start, where one is needed.
    displaced: Option<Simulator<T>>,
    metrics: RunMetrics<T>,
    /// The rounds that each run has done.
    pub(super) seen: u64,
    pub(super) diverged: bool,
    /// Scalars of the states of both runs, for each snapshot.
    states: Vec<[Vec<f64>; 2]>,
    /// The largest norm of an agent's point, for each snapshot.
    norms: Vec<f64>,
}

impl<T: Scalar> TrialRuns<T> {
    /// Without this many snapshots nothing is extrapolated.
    const LEAST_SNAPSHOTS: usize = 5;
    /// Differences below this many rounding errors of the state contain nothing but rounding
    /// errors.
    const ROUNDING: f64 = 100.0;

    /// The runs of a trial at their start.
    pub(super) fn new(setup: &Setup<T>, plan: &TrialPlan) -> Result<Self, SetupError> {
        let simulator = setup.simulator()?;
        let displaced = if plan.twice { Some(displaced(setup).simulator()?) } else { None };
        let metrics = RunMetrics::new(&[], &simulator.view());
        let (states, norms) = (Vec::new(), Vec::new());
        let mut runs = Self { simulator, displaced, metrics, seen: 0, diverged: false, states, norms };
        runs.take_snapshot();
        Ok(runs)
    }

    /// Carries out rounds, and takes a snapshot.
    pub(super) fn advance(&mut self, rounds: u64) -> Result<(), SetupError> {
        self.seen += rounds;
        for simulator in std::iter::once(&mut self.simulator).chain(&mut self.displaced) {
            simulator.run_until(self.seen)?;
        }
        self.take_snapshot();
        Ok(())
    }

    fn take_snapshot(&mut self) {
        let view = self.simulator.view();
        let beyond = self.metrics.measure(&view).1;
        // A method that recovers by itself has not diverged.
        self.diverged = beyond && view.algorithm.recovers_within() == 0;
        let point = |agent| linalg::norm(&view.point(agent)).f64();
        self.norms.push(view.agents.range().map(point).map(f64::abs).fold(0.0, Scalar::largest));
        self.states.push([sketch(&self.simulator), self.displaced.as_ref().map_or_else(Vec::new, sketch)]);
    }

    /// The number of runs.
    pub(super) fn count(&self) -> u64 {
        1 + u64::from(self.displaced.is_some())
    }

    /// The bytes that an agent has sent, on average.
    pub(super) fn bytes_per_agent(&self) -> f64 {
        self.simulator.view().bytes_per_agent()
    }

    /// What is to be expected after this many more snapshots, and the rate of growth per snapshot.
    pub(super) fn forecast(&self, plan: &TrialPlan, left: f64) -> (Forecast, Option<f64>) {
        if self.diverged {
            return (Forecast::Diverged, None);
        }
        if self.simulator.view().algorithm.recovers_within() > 0 {
            // Automatic step sizes are shortened when something grows.
            return (Forecast::Stable, None);
        }
        if 2 * self.seen < plan.rounds || self.states.len() < Self::LEAST_SNAPSHOTS {
            return (Forecast::Unclear, None);
        }
        if !plan.affine {
            return forecast_norms(&self.norms, left, Divergence::<T>::NORM);
        }
        let differences = self.differences();
        let noise = Self::ROUNDING * T::epsilon().f64();
        let above = |(difference, [state, _]): &(&Vec<f64>, &[Vec<f64>; 2])| norm(difference) > noise * norm(state);
        let usable = differences.iter().zip(&self.states).take_while(above).count();
        if usable < differences.len() / 2 {
            return (Forecast::Stable, None);
        }
        let growth = LinearGrowth {
            // Transients of the start are left out.
            differences: &differences[usable / 4..usable],
            scale: self.states.iter().map(|[state, _]| norm(state)).fold(1e-300, f64::max),
            elapsed: usable as f64,
            left,
            limit: Divergence::<T>::ERROR,
        };
        growth.forecast(plan, T::epsilon().f64())
    }

    /// What evolves linearly: the difference of both runs, or of one run from snapshot to snapshot.
    fn differences(&self) -> Vec<Vec<f64>> {
        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        if self.displaced.is_some() {
            return self.states.iter().map(|[one, other]| minus(other, one)).collect();
        }
        self.states.windows(2).map(|pair| minus(&pair[1][0], &pair[0][0])).collect()
    }
}

/// The same run from another starting point.
fn displaced<T: Scalar>(setup: &Setup<T>) -> Setup<T> {
    setup.with_algorithm(Arc::new(DisplacedStart { inner: setup.algorithm.clone(), seed: setup.seed() }))
}

/// Scalars of all agents' rows, evenly chosen where there are many.
fn sketch<T: Scalar>(simulator: &Simulator<T>) -> Vec<f64> {
    const LARGEST: usize = 4096;
    let view = simulator.view();
    let agents = view.agents.range();
    let all: usize = agents.clone().map(|agent| view.agents.row(agent).len()).sum();
    let step = all.div_ceil(LARGEST).max(1);
    agents.flat_map(|agent| view.agents.row(agent)).step_by(step).map(|scalar| scalar.f64()).collect()
}
