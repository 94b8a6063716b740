//! Gradients that are evaluated for all agents at once change nothing.

use std::sync::Arc;

use fabnet_core::algorithm::methods;
use fabnet_core::{BatchOracle, Capabilities, Dim, GradientMut, Level, Point, Problem, QueryBatch, Scratch, Venue};

use crate::every_algorithm::{paces, problem, rows_after};

/// A problem that evaluates all agents at once, and nobody alone.
struct BatchedOnly(Arc<dyn Problem<f64>>);

impl Problem<f64> for BatchedOnly {
    fn agents(&self) -> usize {
        self.0.agents()
    }

    fn dim(&self) -> Dim {
        self.0.dim()
    }

    fn start(&self, agent: usize, own: &mut [f64], x: &mut [f64], y: &mut [f64]) {
        self.0.start(agent, own, x, y);
    }

    fn add_gradient(&self, _: Level, at: Point<'_, f64>, _: GradientMut<'_, f64>, _: &mut Scratch<f64>) {
        unreachable!("agent {} is asked alone", at.agent)
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.0.value(level, at)
    }

    fn capabilities(&self) -> Capabilities<'_, f64> {
        Capabilities { private: self.0.capabilities().private, batched: Some(self), ..Capabilities::default() }
    }
}

impl BatchOracle<f64> for BatchedOnly {
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut QueryBatch<f64>]) {
        for sheet in sheets {
            for agent in sheet.agents().filter(|&agent| sheet.is_open(agent)).collect::<Vec<_>>() {
                let asked = sheet.clone();
                let (_, [own, x, y]) = sheet.answer(agent);
                for slope in [&mut *own, &mut *x, &mut *y] {
                    slope.fill(0.0);
                }
                let to = GradientMut { scale: (1.0, 1.0), own, x, y };
                self.0.add_gradient(level, asked.point(agent, round), to, &mut Scratch::default());
            }
        }
    }
}

#[test]
fn agents_that_are_evaluated_together_do_what_they_do_alone() {
    for method in methods::<f64>().into_iter().filter(|method| method.venue != Venue::Central) {
        for steps in paces(&method) {
            let alone = problem(&method, 12);
            // Exact products with second derivatives are nothing that is asked for together.
            if alone.capabilities().curvature.is_some() && method.name.contains("soba") {
                continue;
            }
            let together: Arc<dyn Problem<f64>> = Arc::new(BatchedOnly(alone.clone()));
            let (expected, found) = (
                rows_after(&method, &alone, &steps, &[0..12], 200),
                rows_after(&method, &together, &steps, &[0..5, 5..12], 200),
            );
            for (expected, found) in expected.iter().flatten().zip(found.iter().flatten()) {
                let gap = (expected - found).abs() / (1.0 + expected.abs());
                assert!(gap < 1e-6, "{} with {steps:?}: {expected} alone, {found} together", method.name);
            }
        }
    }
}
