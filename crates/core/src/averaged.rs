//! A problem in one hand.

use std::sync::Arc;

use crate::{
    ClosedForm, Curvature, DataRange, Dim, Finding, Level, Objective, Optimum, Point, Problem, Scalar, Scratch, Slopes,
    Tensor, View,
};

/// Another problem as one agent would see it who holds everything: the average of all agents' functions, with the same noise. For the centralized reference.
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
    fn each(&self, at: Point<'_, T>, to: Slopes<'_, T>, mut add: impl FnMut(Point<'_, T>, Slopes<'_, T>)) {
        let scale = (to.scale.0 * self.share(), to.scale.1 * self.share());
        for agent in 0..self.inner.agents() {
            add(Point { agent, ..at }, Slopes { scale, own: &mut [], x: &mut *to.x, y: &mut *to.y });
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

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>, scratch: &mut Scratch<T>) {
        self.each(at, to, |at, to| self.inner.add_gradient(level, at, to, scratch));
    }

    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        for agent in 0..self.inner.agents() {
            self.inner.add_objective(objective, Point { agent, ..at }, scale * self.share(), y, scratch);
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        (0..self.inner.agents()).map(|agent| self.inner.value(level, Point { agent, ..at })).sum::<T>() * self.share()
    }

    fn missing(&self, _agent: usize) -> Option<String> {
        (0..self.inner.agents()).find_map(|agent| self.inner.missing(agent))
    }

    fn data_range(&self, _agent: usize) -> Option<DataRange> {
        let ranges = (0..self.inner.agents()).filter_map(|agent| self.inner.data_range(agent));
        let (count, all) = ranges.fold((0.0, None), |(count, all), range| (count + 1.0, Some(joined(all, range))));
        all.map(|all| DataRange { rms: (all.rms / count).sqrt(), ..all })
    }

    fn batches(&self, agent: usize) -> usize {
        self.inner.batches(agent)
    }

    fn batch(&self, agent: usize, round: u64) -> usize {
        self.inner.batch(agent, round)
    }

    fn measure(&self, metric: &str, view: &View<'_, T>) -> Option<f64> {
        self.inner.measure(metric, view)
    }

    fn findings(&self, view: &View<'_, T>) -> Vec<Finding> {
        self.inner.findings(view)
    }

    fn tensors(&self) -> Vec<Tensor> {
        self.inner.tensors()
    }

    fn data_bytes(&self) -> usize {
        self.inner.data_bytes()
    }

    fn noisy(&self) -> bool {
        self.inner.noisy()
    }

    fn curvature(&self) -> Option<&dyn Curvature<T>> {
        self.inner.curvature().map(|_| self as _)
    }

    fn optimum(&self) -> Option<Optimum<T>> {
        self.inner.optimum()
    }

    fn closed_form(&self) -> Option<&dyn ClosedForm<T>> {
        self.inner.closed_form()
    }
}

impl<T: Scalar> Curvature<T> for Averaged<T> {
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: Slopes<'_, T>, scratch: &mut Scratch<T>) {
        if let Some(curvature) = self.inner.curvature() {
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
