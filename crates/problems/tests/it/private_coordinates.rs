//! Private outer coordinates never leave their agent: they are neither mixed nor counted as
//! traffic.

use std::sync::Arc;

use fabnet_core::algorithm::{Method, Steps, methods};
use fabnet_core::observe::Agents;
use fabnet_core::{Capabilities, Dim, GradientMut, Level, Point, Problem, Scratch, Shard, Venue};
use fabnet_problems::BilevelQuadratic;

use crate::common;

/// A bilevel quadratic whose private coordinates start at values that name their agent.
struct Named(BilevelQuadratic<f64>);

impl Named {
    fn new(private: fn(usize) -> usize) -> Self {
        Self(BilevelQuadratic::with_private(10, Dim { outer: 3, inner: 5 }, 3.0, 0.3, 7, private))
    }
}

impl Problem<f64> for Named {
    fn agents(&self) -> usize {
        self.0.agents()
    }

    fn dim(&self) -> Dim {
        self.0.dim()
    }

    fn start(&self, agent: usize, own: &mut [f64], _x: &mut [f64], _y: &mut [f64]) {
        own.fill(1.0 + agent as f64);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, scratch: &mut Scratch<f64>) {
        self.0.add_gradient(level, at, to, scratch);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.0.value(level, at)
    }

    fn capabilities(&self) -> Capabilities<'_, f64> {
        Capabilities { private: self.0.capabilities().private, ..Capabilities::default() }
    }
}

fn shard(method: &str, step: f64, private: fn(usize) -> usize) -> Shard<f64> {
    let problem = Arc::new(Named::new(private));
    let algorithm = common::build(method, &*problem, Steps::same(step));
    Shard::new(algorithm, problem, common::phases(1), 1).unwrap()
}

fn bilevel() -> impl Iterator<Item = Method<f64>> {
    methods().into_iter().filter(|method| method.direction.private && method.venue != Venue::Central)
}

#[test]
fn private_coordinates_are_not_mixed() {
    for method in bilevel() {
        // With step sizes of 0, mixing is all that happens.
        let mut shard = shard(method.name, 0.0, |agent| 1 + agent % 4);
        for _ in 0..50 {
            shard.round().unwrap();
            for agent in 0..10 {
                let point = shard.view().point(agent);
                let own = &point[point.len() - 1 - agent % 4..];
                assert!(
                    own.iter().all(|value| *value == 1.0 + agent as f64),
                    "{}: agent {agent} has {own:?}",
                    method.name
                );
            }
        }
    }
}

#[test]
fn private_coordinates_are_not_sent() {
    for method in bilevel() {
        let mut shard = shard(method.name, 0.01, |agent| agent % 4);
        shard.round().unwrap();
        for agent in 0..10 {
            assert_eq!(shard.sent(agent).len(), shard.row(agent).len() - agent % 4, "{}", method.name);
        }
    }
}

#[test]
fn private_coordinates_are_no_traffic() {
    for method in bilevel() {
        let bytes = |private| {
            let mut shard = shard(method.name, 0.01, private);
            for _ in 0..30 {
                shard.round().unwrap();
            }
            shard.view().bytes_per_agent()
        };
        let (without, with) = (bytes(|_| 0), bytes(|_| 100));
        assert!(without > 0.0, "{}: nothing was sent", method.name);
        assert!(
            (without - with).abs() < 0.5,
            "{}: {without} bytes without, {with} with private coordinates",
            method.name
        );
    }
}
