//! A first run: ten agents evaluate a policy together with dFAB and automatic step sizes, over
//! links that change over time.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, PushPull, Steps};
use fabnet_core::direction::Difference;
use fabnet_core::network::connectivity;
use fabnet_core::observe::{ErrorWatch, run};
use fabnet_core::topology::Phases;
use fabnet_core::weights::Uniform;
use fabnet_core::{Network, ProblemExt, Shard};
use fabnet_problems::PolicyEvaluation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Arc::new(PolicyEvaluation::<f64>::new(10, 1));
    let topology = Phases::new(10, 0.3, 1);
    let spread = connectivity(&topology, &Uniform, 30).spread.ok_or("not jointly strongly connected")?;
    let network = Network::new(Arc::new(topology), Arc::new(Uniform));
    let steps = Steps::auto(Auto::new(spread.bound())).on(network.clone(), false)?;
    let dfab = PushPull::new(&*problem, Difference::new(), steps)?;
    let mut watch = ErrorWatch::new(problem.optimum().ok_or("no known optimum")?, 20).until(1e-6);
    let mut agents = Shard::new(Arc::new(dfab), problem, network, 1)?;
    println!("{:?}", run(&mut agents, 5_000, &mut watch)?); // Reached { round: … }
    Ok(())
}
