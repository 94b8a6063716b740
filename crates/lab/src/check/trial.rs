//! The trial run: a short one of the real problem on the real network, by the engine of the run.
//!
//! Where functions are quadratic and step sizes are fixed, a round is an affine map. What grows in it
//! shows in the differences of one run after whole periods, or, where gradients are noisy or graphs
//! do not repeat, in the difference between two runs with the same noise from different starts. Its growth is
//! extrapolated to the end of the run. Elsewhere the trial shows only what happens in its own rounds,
//! and growth that is exponential.

use fabnet_core::settings::{Given, Value};
use fabnet_core::{Scalar, linalg};
use serde::Serialize;

use super::growth::{Mode, modes, norm, slope};
use crate::engine::Engine;
use crate::metric::Gauge;
use crate::plan::Group;
use crate::setup::{Setup, SetupError};
use crate::stopwatch::Stopwatch;

/// What a trial run showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Its seed.
    pub seed: u64,
    /// Rounds carried out, by both runs together where there are two.
    pub rounds: u64,
    /// The round up to which it saw the run.
    pub seen: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What it means for the whole run.
    pub forecast: Forecast,
    /// The factor by which what grows fastest grows in a round, where that was measured.
    pub growth: Option<f64>,
    /// Bytes that an agent sends in a round, on average.
    #[serde(skip)]
    pub(super) bytes_per_round: f64,
}

/// What a trial run means for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Forecast {
    /// It diverged already.
    Diverged,
    /// It will have diverged before its rounds are over, if it goes on like this.
    Diverges,
    /// Nothing grows enough for that.
    Stable,
    /// The trial was too short to tell.
    Unclear,
}

/// The part of a run's rounds that a trial takes at most: one in so many.
pub(super) const PART: u64 = 20;
/// The growth that counts as divergence where the solution is known, see [`fabnet_core::Divergence`].
const FAR: f64 = 1e3;
/// The same for norms, where it is not known.
const NORM: f64 = 1e8;

/// The residual of a mode, as a part of its distance from neither growing nor decaying, from which on it says nothing.
const CERTAIN: f64 = 0.5;
/// The same for a mode that cannot be told from a power of the rounds by its growth alone.
const EXACT: f64 = 0.05;
/// What grows as a power k^p of the rounds grows at a rate of p/k: rates below this over k may be such transients, whose end a
/// trial does not see.
const POWER: f64 = 3.0;
/// The relative accuracy of snapshots, in units of the rounding error: to find modes, and below it nothing is found.
const ACCURACY: f64 = 1e5;
const ROUNDING: f64 = 100.0;

/// The part of its rate that exponential growth keeps from one quarter of a trial to the next, where networks change meanwhile.
const STEADY: f64 = 0.85;

/// Makes a trial run of at most so many seconds.
pub(super) fn trial<T: Scalar>(setup: &Setup<T>, group: &Group, limit: f64) -> Result<Trial, SetupError> {
    let shape = Shape::new(setup, group);
    let mut course = Course::new(setup, &shape)?;
    let watch = Stopwatch::start();
    while course.seen + shape.stride <= shape.rounds && watch.seconds() < limit && !course.diverged {
        course.advance(shape.stride)?;
    }
    let left = shape.horizon.saturating_sub(course.seen) as f64 / shape.stride as f64;
    let (forecast, rate) = course.forecast(&shape, left);
    let engines = 1 + u64::from(course.other.is_some());
    Ok(Trial {
        seed: setup.seed(),
        rounds: course.seen * engines,
        seen: course.seen,
        seconds: watch.seconds(),
        forecast,
        growth: rate.map(|rate| (rate / shape.stride as f64).exp()),
        bytes_per_round: course.engine.view().bytes_per_agent / course.seen.max(1) as f64,
    })
}

/// How a trial proceeds.
struct Shape {
    /// Whether a round is an affine map.
    affine: bool,
    /// Whether a second run from another start is needed to see what is linear.
    twice: bool,
    /// Whether snapshots are whole periods of the network and the method apart.
    periodic: bool,
    /// Rounds of each run.
    rounds: u64,
    /// Rounds between two snapshots.
    stride: u64,
    /// The round up to which growth is extrapolated.
    horizon: u64,
}

impl Shape {
    /// Snapshots at most, and at least, where they are whole periods apart.
    const SNAPSHOTS: u64 = 64;
    const PERIODS: u64 = 5;
    /// Snapshots without which nothing is extrapolated.
    const LEAST: usize = 5;

    fn new<T: Scalar>(setup: &Setup<T>, group: &Group) -> Self {
        let budget = group.rounds / PART;
        let affine = setup.problem.optimum().is_some() && has_fixed_steps(group);
        let period = setup.topology.period().map(|period| lcm(period, inner_loop(group)));
        let fits = |rounds: u64| period.is_some_and(|period| rounds >= Self::PERIODS * period);
        // Batches and faults draw another map in every round; noise is only added to it.
        let one_map = setup.problem.most_batches() <= 1 && group.faults.is_none();
        let twice = affine && !(one_map && !setup.problem.noisy() && fits(budget));
        let rounds = if twice { budget / 2 } else { budget };
        let periodic = affine && one_map && fits(rounds);
        let unit = period.filter(|_| periodic).unwrap_or(1);
        let stride = (rounds / Self::SNAPSHOTS).div_ceil(unit).max(1) * unit;
        Self { affine, twice, periodic, rounds, stride, horizon: horizon(group) }
    }
}

/// The runs of a trial, and what was seen of them.
struct Course<T: Scalar> {
    engine: Engine<T>,
    other: Option<Engine<T>>,
    gauge: Gauge<T>,
    seen: u64,
    diverged: bool,
    /// Scalars of the state, of all runs.
    states: Vec<[Vec<f64>; 2]>,
    /// The largest norm of an agent's point.
    norms: Vec<f64>,
}

impl<T: Scalar> Course<T> {
    fn new(setup: &Setup<T>, shape: &Shape) -> Result<Self, SetupError> {
        let engine = setup.engine()?;
        let other = if shape.twice { Some(setup.displaced().engine()?) } else { None };
        let gauge = Gauge::new(&[], &engine.view());
        let mut course = Self { engine, other, gauge, seen: 0, diverged: false, states: Vec::new(), norms: Vec::new() };
        course.look();
        Ok(course)
    }

    fn advance(&mut self, rounds: u64) -> Result<(), SetupError> {
        self.seen += rounds;
        for engine in std::iter::once(&mut self.engine).chain(&mut self.other) {
            engine.run_until(self.seen).map_err(|error| SetupError::Invalid(error.to_string()))?;
        }
        self.look();
        Ok(())
    }

    fn look(&mut self) {
        let view = self.engine.view();
        let away = self.gauge.measure(&view).1;
        // What recovers by itself has not diverged.
        self.diverged = away && view.algorithm.recovers_within() == 0;
        let point = |agent| linalg::norm(&view.point(agent)).f64();
        self.norms.push(view.agents.range().map(point).map(f64::abs).fold(0.0, Scalar::largest));
        self.states.push([sketch(&self.engine), self.other.as_ref().map_or_else(Vec::new, sketch)]);
    }

    /// What is to be expected after so many more snapshots, and the rate of growth.
    fn forecast(&self, shape: &Shape, left: f64) -> (Forecast, Option<f64>) {
        if self.diverged {
            return (Forecast::Diverged, None);
        }
        if self.engine.view().algorithm.recovers_within() > 0 {
            // Automatic step sizes are shortened when something grows.
            return (Forecast::Stable, None);
        }
        if 2 * self.seen < shape.rounds || self.states.len() < Shape::LEAST {
            return (Forecast::Unclear, None);
        }
        if !shape.affine {
            return self.forecast_norms(left);
        }
        let differences = self.differences();
        let scale = self.states.iter().map(|[state, _]| norm(state)).fold(1e-300, f64::max);
        // What has fallen to rounding errors says nothing any more.
        let noise = ROUNDING * T::epsilon().f64();
        let above = |(difference, [state, _]): &(&Vec<f64>, &[Vec<f64>; 2])| norm(difference) > noise * norm(state);
        let usable = differences.iter().zip(&self.states).take_while(above).count();
        if usable < differences.len() / 2 {
            return (Forecast::Stable, None);
        }
        let differences = &differences[..usable];
        extrapolate::<T>(shape, &differences[usable / 4..], scale, (usable as f64, left))
    }

    /// By norms alone: exponential growth that is well under way and does not slow down.
    fn forecast_norms(&self, left: f64) -> (Forecast, Option<f64>) {
        let logs: Vec<f64> = self.norms.iter().map(|norm| norm.max(1e-300).ln()).collect();
        let quarter = logs.len() / 4;
        if quarter < 2 {
            return (Forecast::Unclear, None);
        }
        let gain = |from: usize| (logs[from + quarter] - logs[from]) / quarter as f64;
        let (earlier, rate) = (gain(logs.len() - 1 - 2 * quarter), gain(logs.len() - 1 - quarter));
        let (first, last) = (self.norms[0], self.norms[self.norms.len() - 1]);
        // In the last quarter, what grows in proportion to the rounds gains a third, and slows down by
        // 0.71 on a logarithmic scale. What grows exponentially gains the same in each quarter, but
        // for networks that change meanwhile.
        let gained = quarter as f64 * rate;
        let under_way = (gained > 0.5 && rate > STEADY * earlier) || (gained > 1.2 && rate > 0.5 * earlier);
        let expected = last.ln() + rate * left;
        let diverges = under_way && expected > (NORM * (1.0 + first)).ln();
        (if diverges { Forecast::Diverges } else { Forecast::Stable }, Some(rate))
    }

    /// What evolves linearly: the difference of both runs, or of one run from snapshot to snapshot.
    fn differences(&self) -> Vec<Vec<f64>> {
        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        if self.other.is_some() {
            return self.states.iter().map(|[one, other]| minus(other, one)).collect();
        }
        self.states.windows(2).map(|pair| minus(&pair[1][0], &pair[0][0])).collect()
    }
}

/// What is to be expected of a linear map from some differences in succession, so many snapshots after the start and with so many
/// left, and its rate of growth.
fn extrapolate<T: Scalar>(
    shape: &Shape,
    differences: &[Vec<f64>],
    scale: f64,
    (elapsed, left): (f64, f64),
) -> (Forecast, Option<f64>) {
    let expected = |size: f64, rate: f64| (size / scale).ln() + rate * left;
    if shape.periodic
        && let Some(modes) = modes(differences, ACCURACY * T::epsilon().f64())
    {
        let settled = |rate: f64| if shape.twice { 1.0 } else { 1.0 / (rate.exp() - 1.0).abs().max(1e-6) };
        let leading = modes
            .iter()
            .filter(|mode| mode.residual < CERTAIN * mode.rate.exp_m1().abs().max(1e-4))
            .map(|mode| (expected(mode.size * settled(mode.rate), mode.rate), mode))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let may_be_power =
            |mode: &Mode| mode.rate > 0.0 && mode.rate * elapsed < POWER && mode.residual > EXACT * mode.rate.exp_m1();
        if let Some((log_size, &Mode { rate, .. })) = leading.filter(|(_, mode)| !may_be_power(mode)) {
            let forecast = if rate > 0.0 && log_size > FAR.ln() { Forecast::Diverges } else { Forecast::Stable };
            return (forecast, Some(rate));
        }
    }
    let logs: Vec<f64> = differences.iter().map(|difference| norm(difference).ln()).collect();
    let Some((rate, error)) = slope(&logs[logs.len() / 2..]) else { return (Forecast::Unclear, None) };
    let last = logs.last().copied().unwrap_or_default().exp();
    let exponential = rate * elapsed > POWER || is_steady(&logs);
    if exponential && expected(last, rate - 2.0 * error) > FAR.ln() {
        (Forecast::Diverges, Some(rate))
    } else if expected(last, rate + 2.0 * error) < FAR.ln() {
        (Forecast::Stable, Some(rate))
    } else {
        (Forecast::Unclear, Some(rate))
    }
}

/// Whether the last quarter of some logarithms rises about as fast as the one before. What grows as a power of the rounds slows
/// down to 0.8 of that, as logarithms are given from a quarter of the trial on.
fn is_steady(logs: &[f64]) -> bool {
    let (quarter, last) = (logs.len() / 4, logs.len().saturating_sub(1));
    let gain = |quarters: usize| logs[last - (quarters - 1) * quarter] - logs[last - quarters * quarter];
    quarter >= 2 && gain(1) > STEADY * gain(2)
}

/// Scalars of all agents' rows, evenly chosen where there are many.
fn sketch<T: Scalar>(engine: &Engine<T>) -> Vec<f64> {
    const LARGEST: usize = 4096;
    let view = engine.view();
    let agents = view.agents.range();
    let all: usize = agents.clone().map(|agent| view.agents.row(agent).len()).sum();
    let step = all.div_ceil(LARGEST).max(1);
    agents.flat_map(|agent| view.agents.row(agent)).step_by(step).map(|scalar| scalar.f64()).collect()
}

/// Whether a method keeps its step sizes, apart from a schedule.
fn has_fixed_steps(group: &Group) -> bool {
    group.algorithm.settings.iter().any(|(key, _)| key.starts_with("steps."))
}

/// Rounds after which the loops of a method repeat.
fn inner_loop(group: &Group) -> u64 {
    match group.algorithm.get("inner_rounds") {
        Some(Value::Whole(rounds)) => rounds.unsigned_abs() + 1,
        _ => 1,
    }
}

/// The round up to which step sizes are about what they are in the trial.
fn horizon(group: &Group) -> u64 {
    /// What decreasing step sizes are still counted as unchanged.
    const KEPT: f64 = 0.8;
    let number = |key: &str| match group.algorithm.get(key) {
        Some(Value::Number(number)) if number > 0.0 => Some(number),
        _ => None,
    };
    let by_decay = number("steps.decay").map(|decay| (1.0 / KEPT - 1.0) / decay);
    let by_power = number("steps.power").map(|power| KEPT.powf(-1.0 / power));
    by_decay.or(by_power).map_or(group.rounds, |rounds| group.rounds.min(rounds as u64))
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}
