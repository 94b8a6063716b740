//! Measuring a run: its metrics, and whether it has diverged.

use fabnet_core::{Divergence, Optimum, ProblemExt, Scalar, View};

use super::job_error::JobError;
use crate::metric::{Metric, Snapshot, metrics};
use crate::plan::{Group, Target};

/// The metrics of a run, and the limits beyond which it has diverged.
pub struct RunMetrics<T: Scalar> {
    /// The metrics by name; `None` for those that only the problem has.
    metrics: Vec<(String, Option<Metric<T>>)>,
    optimum: Option<Optimum<T>>,
    limits: Divergence<T>,
}

impl<T: Scalar> RunMetrics<T> {
    /// The metrics with these names, for a run that starts as seen here.
    pub fn new(names: &[String], start: &View<'_, T>) -> Self {
        let find = |name: &String| metrics().into_iter().find(|metric| metric.name == name);
        let optimum = start.problem.optimum();
        Self {
            metrics: names.iter().map(|name| (name.clone(), find(name))).collect(),
            limits: Divergence::new(optimum.clone(), start),
            optimum,
        }
    }

    /// The optimum of the problem, where it is known.
    pub(super) fn optimum(&self) -> Option<&Optimum<T>> {
        self.optimum.as_ref()
    }

    /// Measures the metrics in order, NaN where one means nothing, and tells whether the run is
    /// beyond the limits of divergence.
    pub fn measure(&self, view: &View<'_, T>) -> (Vec<f64>, bool) {
        let snapshot = Snapshot { view, mean: view.mean(), optimum: self.optimum.as_ref() };
        let diverged = self.limits.is_seen(view, &snapshot.mean);
        let value = |(name, metric): &(String, Option<Metric<T>>)| match metric {
            Some(metric) => (metric.measure)(&snapshot),
            None => view.problem.measure(name, view),
        };
        (self.metrics.iter().map(value).map(|value| value.unwrap_or(f64::NAN)).collect(), diverged)
    }
}

/// Refuses a target that a run which starts like this cannot measure.
pub(super) fn check_target<T: Scalar>(target: &Target, group: &Group, start: &View<'_, T>) -> Result<(), JobError> {
    let (values, _) = RunMetrics::new(std::slice::from_ref(&target.metric), start).measure(start);
    if values[0].is_nan() { Err(JobError::no_target(&target.metric, group)) } else { Ok(()) }
}
