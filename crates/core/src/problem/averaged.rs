//! A problem in one hand.

use std::sync::Arc;

use super::capabilities::{Capabilities, Curvature, DataRange, LocalData, SingleLevel};
use super::derived::ProblemExt;
use super::point::{Dim, GradientMut, Level, Objective, Point};
use super::scratch::Scratch;
use crate::{Problem, Scalar};

/// Another problem as one agent would see it who holds everything: the average of all agents'
/// functions, with the same noise. For the centralized reference.
pub struct Averaged<T: Scalar> {
    inner: Arc<dyn Problem<T>>,
}

impl<T: Scalar> Averaged<T> {
    /// In one hand; none if the problem has private coordinates, which have an owner.
    pub fn new(inner: Arc<dyn Problem<T>>) -> Option<Self> {
        (!inner.has_private()).then_some(Self { inner })
    }

    fn share(&self) -> T {
        T::of(1.0 / self.inner.agents() as f64)
    }

    /// Each agent's point, with its share of the slopes.
    fn each(&self, at: Point<'_, T>, to: GradientMut<'_, T>, mut add: impl FnMut(Point<'_, T>, GradientMut<'_, T>)) {
        let scale = (to.scale.0 * self.share(), to.scale.1 * self.share());
        for agent in 0..self.inner.agents() {
            add(Point { agent, ..at }, GradientMut { scale, own: &mut [], x: &mut *to.x, y: &mut *to.y });
        }
    }
}

impl<T: Scalar> Problem<T> for Averaged<T> {
    fn agents(&self) -> usize {
        1
    }

    fn dim(&self) -> Dim {
        self.inner.dim()
    }

    fn start(&self, agent: usize, own: &mut [T], x: &mut [T], y: &mut [T]) {
        self.inner.start(agent, own, x, y);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        self.each(at, to, |at, to| self.inner.add_gradient(level, at, to, scratch));
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        (0..self.inner.agents()).map(|agent| self.inner.value(level, Point { agent, ..at })).sum::<T>() * self.share()
    }

    /// Private coordinates have an owner, and one agent has nobody to share a batch with.
    /// Objectives are averaged agent by agent, whether they are the sum of the levels or not.
    fn capabilities(&self) -> Capabilities<'_, T> {
        let Capabilities {
            private: _,
            batches,
            data,
            noisy,
            objective: _,
            curvature,
            optimum,
            closed_form,
            findings,
            model,
            batched: _,
        } = self.inner.capabilities();
        Capabilities {
            private: None,
            batches,
            data: data.map(|_| self as _),
            noisy,
            objective: Some(self),
            curvature: curvature.map(|_| self as _),
            optimum,
            closed_form,
            findings,
            model,
            batched: None,
        }
    }
}

impl<T: Scalar> LocalData for Averaged<T> {
    fn missing(&self, _agent: usize) -> Option<String> {
        (0..self.inner.agents()).find_map(|agent| self.inner.missing(agent))
    }

    fn data_range(&self, _agent: usize) -> Option<DataRange> {
        let ranges = (0..self.inner.agents()).filter_map(|agent| self.inner.data_range(agent));
        let (count, all) = ranges.fold((0.0, None), |(count, all), range| (count + 1.0, Some(joined(all, range))));
        all.map(|all| DataRange { rms: (all.rms / count).sqrt(), ..all })
    }

    fn data_bytes(&self) -> usize {
        self.inner.data_bytes()
    }
}

impl<T: Scalar> SingleLevel<T> for Averaged<T> {
    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        for agent in 0..self.inner.agents() {
            self.inner.add_objective(objective, Point { agent, ..at }, scale * self.share(), y, scratch);
        }
    }
}

impl<T: Scalar> Curvature<T> for Averaged<T> {
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, scratch: &mut Scratch<T>) {
        if let Some(curvature) = self.inner.capabilities().curvature {
            self.each(at, to, |at, to| curvature.add_product(at, v, to, scratch));
        }
    }
}

/// A range that covers another one too, with the sum of their mean squares.
fn joined(all: Option<DataRange>, range: DataRange) -> DataRange {
    let square = range.rms * range.rms;
    all.map_or(DataRange { rms: square, ..range }, |all| DataRange {
        low: all.low.min(range.low),
        high: all.high.max(range.high),
        rms: all.rms + square,
    })
}
