//! A problem of your own: agents tune the ridge of a regression together. Each has training and
//! validation data that never leave it.
//!
//! The outer variable is θ, and exp(θ) is the ridge. The lower level fits the training data; the
//! upper level is the error of the fit on the validation data.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, PushPull, Steps};
use fabnet_core::direction::Difference;
use fabnet_core::hypergradient::Solver;
use fabnet_core::network::connectivity;
use fabnet_core::observe::run;
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::topology::OnePeerExponential;
use fabnet_core::weights::Uniform;
use fabnet_core::{Dim, GradientMut, Level, Network, Point, Problem, Scratch, Shard, linalg};

const FEATURES: usize = 10;
const SAMPLES: usize = 8;

/// The data of all agents: for each agent, samples of features and target.
struct RidgeTuning {
    train: Vec<Vec<([f64; FEATURES], f64)>>,
    valid: Vec<Vec<([f64; FEATURES], f64)>>,
}

impl RidgeTuning {
    fn new(agents: usize, seed: u64) -> Self {
        let truth: Vec<f64> = Stream::new(seed, EVERYONE, 0, Purpose::Data).normals(FEATURES, 1.0);
        let draw = |agent: usize, part: u64| {
            let mut stream = Stream::new(seed, agent, part, Purpose::Data);
            let mut sample = || {
                let features: [f64; FEATURES] = std::array::from_fn(|_| stream.normal_pair().0);
                (features, linalg::dot(&features, &truth) + 2.0 * stream.normal_pair().0)
            };
            (0..SAMPLES).map(|_| sample()).collect()
        };
        Self { train: (0..agents).map(|i| draw(i, 0)).collect(), valid: (0..agents).map(|i| draw(i, 1)).collect() }
    }

    fn data(&self, level: Level, agent: usize) -> &[([f64; FEATURES], f64)] {
        if level == Level::Upper { &self.valid[agent] } else { &self.train[agent] }
    }
}

impl Problem<f64> for RidgeTuning {
    fn agents(&self) -> usize {
        self.train.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: 1, inner: FEATURES }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        let (sx, sy) = to.scale;
        for (features, target) in self.data(level, at.agent) {
            linalg::add_scaled(to.y, sy * (linalg::dot(features, at.y) - target) / SAMPLES as f64, features);
        }
        if level == Level::Lower {
            let ridge = at.x[0].exp();
            linalg::add_scaled(to.y, sy * ridge, at.y);
            to.x.iter_mut().for_each(|slope| *slope += sx * 0.5 * ridge * linalg::norm_squared(at.y));
        }
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        let square = |(features, target): &([f64; FEATURES], f64)| (linalg::dot(features, at.y) - target).powi(2);
        let fit = self.data(level, at.agent).iter().map(square).sum::<f64>() / (2 * SAMPLES) as f64;
        let ridge = if level == Level::Lower { at.x[0].exp() } else { 0.0 };
        fit + 0.5 * ridge * linalg::norm_squared(at.y)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem: Arc<dyn Problem<f64>> = Arc::new(RidgeTuning::new(8, 3));
    let topology = OnePeerExponential::new(8);
    let spread = connectivity(&topology, &Uniform, 8).spread.ok_or("not jointly strongly connected")?;
    let dfab = PushPull::new(&*problem, Difference::new(), Steps::auto(Auto::new(spread.bound())))?;
    let mut agents =
        Shard::new(Arc::new(dfab), problem.clone(), Network::new(Arc::new(topology), Arc::new(Uniform)), 1)?;
    let mut solver = Solver::new(&*problem);
    for rounds in [0, 100, 1_000, 10_000] {
        run(&mut agents, rounds, &mut ())?;
        let theta = agents.view().mean()[0];
        let slope = solver.hypergradient(&*problem, &[theta])[0];
        println!("after {rounds:>6} rounds: ridge {:.4}, hypergradient {slope:+.2e}", theta.exp());
    }
    let end = solver.hypergradient(&*problem, &[agents.view().mean()[0]])[0];
    if end.abs() < 1e-6 { Ok(()) } else { Err(format!("the hypergradient is still {end:e}").into()) }
}
