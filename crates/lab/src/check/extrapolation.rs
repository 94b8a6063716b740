//! What the growth in a trial run means for the whole run.

use serde::Serialize;

use super::growth::{Mode, modes, norm, slope};
use super::trial_plan::TrialPlan;

/// What a trial run means for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Forecast {
    /// The trial has diverged already.
    Diverged,
    /// The run will have diverged before its rounds are over, if it goes on like this.
    Diverges,
    /// Nothing grows enough for that.
    Stable,
    /// The trial was too short to tell.
    Unclear,
}

/// The largest residual of a mode that counts, as a fraction of its distance from neither growing
/// nor decaying.
const CERTAIN: f64 = 0.5;
/// The same for a mode that may be a power of the rounds, judged by its growth alone.
const EXACT: f64 = 0.05;
/// A transient k^p of the rounds k grows at a rate of p/k. Rates below this number over k may be
/// such transients, whose end a trial does not see.
const POWER: f64 = 3.0;
/// The relative accuracy of snapshots from which modes are computed, in units of the rounding
/// error.
const ACCURACY: f64 = 1e5;
/// The fraction of its rate that exponential growth keeps from one quarter of a trial to the next,
/// where networks change meanwhile.
const STEADY: f64 = 0.85;

/// Differences between snapshots that evolve linearly.
pub(super) struct LinearGrowth<'a> {
    /// The differences, in succession.
    pub(super) differences: &'a [Vec<f64>],
    /// The size of the state that differences are compared with.
    pub(super) scale: f64,
    /// The number of snapshots from the start to the last difference.
    pub(super) elapsed: f64,
    /// The number of snapshots that are left.
    pub(super) left: f64,
    /// A difference of this many times the scale counts as divergence.
    pub(super) limit: f64,
}

impl LinearGrowth<'_> {
    /// What is to be expected at the end of the run, and the rate of growth per snapshot. `epsilon`
    /// is the rounding error of the run's scalars.
    pub(super) fn forecast(&self, plan: &TrialPlan, epsilon: f64) -> (Forecast, Option<f64>) {
        let found = if plan.periodic { self.by_modes(plan.twice, ACCURACY * epsilon) } else { None };
        found.map_or_else(|| self.by_slope(), |(forecast, rate)| (forecast, Some(rate)))
    }

    /// By the leading mode of the linear map; `None` if no mode is certain enough.
    fn by_modes(&self, twice: bool, accuracy: f64) -> Option<(Forecast, f64)> {
        let modes = modes(self.differences, accuracy)?;
        // A difference of successive snapshots is μ − 1 times the deviation of the run itself.
        let deviation = |rate: f64| if twice { 1.0 } else { 1.0 / (rate.exp() - 1.0).abs().max(1e-6) };
        let leading = modes
            .iter()
            .filter(|mode| mode.residual < CERTAIN * mode.rate.exp_m1().abs().max(1e-4))
            .map(|mode| (self.expected(mode.size * deviation(mode.rate), mode.rate), mode))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let (log_size, &Mode { rate, .. }) = leading.filter(|(_, mode)| !self.may_be_power(mode))?;
        let diverges = rate > 0.0 && log_size > self.limit.ln();
        Some((if diverges { Forecast::Diverges } else { Forecast::Stable }, rate))
    }

    /// Whether a mode cannot be told from a transient that grows as a power of the rounds.
    fn may_be_power(&self, mode: &Mode) -> bool {
        mode.rate > 0.0 && mode.rate * self.elapsed < POWER && mode.residual > EXACT * mode.rate.exp_m1()
    }

    /// By the norms of the differences, on a logarithmic scale.
    fn by_slope(&self) -> (Forecast, Option<f64>) {
        let logs: Vec<f64> = self.differences.iter().map(|difference| norm(difference).ln()).collect();
        let Some((rate, error)) = slope(&logs[logs.len() / 2..]) else { return (Forecast::Unclear, None) };
        let last = logs.last().copied().unwrap_or_default().exp();
        // Growth as a power of the rounds slows down to 0.8 of its rate, as the differences begin
        // at a quarter of the trial.
        let steady = last_quarters(&logs).is_some_and(|[earlier, late]| late > STEADY * earlier);
        let exponential = rate * self.elapsed > POWER || steady;
        if exponential && self.expected(last, rate - 2.0 * error) > self.limit.ln() {
            (Forecast::Diverges, Some(rate))
        } else if self.expected(last, rate + 2.0 * error) < self.limit.ln() {
            (Forecast::Stable, Some(rate))
        } else {
            (Forecast::Unclear, Some(rate))
        }
    }

    /// The logarithm of what a difference of this size grows to by the end of the run.
    fn expected(&self, size: f64, rate: f64) -> f64 {
        (size / self.scale).ln() + rate * self.left
    }
}

/// What is to be expected by the norms of points alone, after this many more snapshots: divergence
/// only if exponential growth is well under way and does not slow down. `limit` is the factor by
/// which a norm may grow.
pub(super) fn forecast_norms(norms: &[f64], left: f64, limit: f64) -> (Forecast, Option<f64>) {
    let logs: Vec<f64> = norms.iter().map(|norm| norm.max(1e-300).ln()).collect();
    let Some([earlier, rate]) = last_quarters(&logs) else { return (Forecast::Unclear, None) };
    let (first, last) = (norms[0], norms[norms.len() - 1]);
    // In the last quarter, growth in proportion to the rounds gains a third, and slows down by 0.71
    // on a logarithmic scale. Exponential growth gains the same in each quarter, except for
    // networks that change meanwhile.
    let gained = (logs.len() / 4) as f64 * rate;
    let under_way = (gained > 0.5 && rate > STEADY * earlier) || (gained > 1.2 && rate > 0.5 * earlier);
    let expected = last.ln() + rate * left;
    let diverges = under_way && expected > (limit * (1.0 + first)).ln();
    (if diverges { Forecast::Diverges } else { Forecast::Stable }, Some(rate))
}

/// How fast logarithms rise in their last quarter but one and in the last, per snapshot; `None` if
/// quarters are too short.
fn last_quarters(logs: &[f64]) -> Option<[f64; 2]> {
    let (quarter, last) = (logs.len() / 4, logs.len().checked_sub(1)?);
    let rate = |from: usize| (logs[from + quarter] - logs[from]) / quarter as f64;
    (quarter >= 2).then(|| [rate(last - 2 * quarter), rate(last - quarter)])
}
