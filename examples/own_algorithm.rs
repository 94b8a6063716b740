//! An algorithm of your own: a direction is what one agent computes from its own data. Combined
//! with push-pull it becomes a decentralized method, which is simulated, divided into shards and
//! measured like every other.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::{Direction, Gradient, Parts, PartsMut, StepSizes};
use fabnet_core::observe::{ErrorWatch, run};
use fabnet_core::topology::Ring;
use fabnet_core::weights::Uniform;
use fabnet_core::{Blocks, Dim, Network, Oracle, ProblemExt, Shard, Smoothness, Stop, linalg};
use fabnet_problems::Quadratic;

/// The gradient, clipped to a largest norm, so that one agent with outliers cannot move the others
/// far.
struct Clipped {
    gradient: Gradient<f64>,
    bound: f64,
}

impl Direction<f64> for Clipped {
    fn blocks(&self, dim: Dim) -> Blocks {
        self.gradient.blocks(dim)
    }

    fn start(&self, x: &[f64], y: &[f64], v: &mut [f64]) {
        self.gradient.start(x, y, v);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        self.gradient.solution(dim, v)
    }

    fn eval(&self, at: Parts<'_, f64>, oracle: &mut Oracle<'_, f64>, d: PartsMut<'_, f64>) {
        let PartsMut { shared, own } = d;
        self.gradient.eval(at, oracle, PartsMut { shared: &mut *shared, own });
        let length = linalg::norm(shared);
        if length > self.bound {
            linalg::scale(shared, self.bound / length);
        }
    }

    fn bound(&self, smoothness: &Smoothness) -> Option<f64> {
        Direction::<f64>::bound(&self.gradient, smoothness)
    }

    fn step_sizes(&self, smoothness: &Smoothness, sizes: StepSizes) -> StepSizes {
        Direction::<f64>::step_sizes(&self.gradient, smoothness, sizes)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Arc::new(Quadratic::<f64>::new(6, 4, 3.0, 0.1, 1));
    let clipped = PushPull::new(&*problem, Clipped { gradient: Gradient::new(), bound: 1.0 }, Steps::same(0.1))?;
    let mut watch = ErrorWatch::new(problem.optimum().ok_or("no known optimum")?, 10).until(1e-6);
    let mut agents =
        Shard::new(Arc::new(clipped), problem, Network::new(Arc::new(Ring::new(6)), Arc::new(Uniform)), 1)?;
    let stop = run(&mut agents, 5_000, &mut watch)?;
    println!("{stop:?}");
    if matches!(stop, Stop::Reached { .. }) { Ok(()) } else { Err("the optimum was not reached".into()) }
}
