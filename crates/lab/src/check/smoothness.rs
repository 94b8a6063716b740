//! How fast the gradients of a problem change, over all agents.

use fabnet_core::{Oracle, ProblemExt, Scalar, Smoothness, Work};

use crate::run::Setup;

/// The largest number of agents whose smoothness is measured.
const SAMPLE: usize = 64;

/// The largest smoothness over agents, or over a sample of them if there are many.
pub(crate) fn smoothness<T: Scalar>(setup: &Setup<T>) -> Smoothness {
    let problem = &*setup.problem;
    let agents = problem.agents();
    let mut work = Work::default();
    let measured = (0..agents).step_by(agents.div_ceil(SAMPLE)).map(|agent| {
        let (own, x, y) = problem.starting_point(agent);
        Smoothness::measure(&mut Oracle { problem, seed: 0, agent, round: 0, work: &mut work }, &own, &x, &y).to_array()
    });
    Smoothness::from_array(measured.fold([0.0; Smoothness::LEN], |largest, norms| {
        std::array::from_fn(|place| f64::max(largest[place], norms[place]))
    }))
}
