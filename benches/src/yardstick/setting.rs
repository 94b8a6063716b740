//! Fixed settings: what automatic step sizes are compared with.

use std::fmt;
use std::sync::Arc;

use fabnet_core::algorithm::{Auto, MixingPlan, Steps, StepsError, Tracker};
use fabnet_core::network::Reach;
use fabnet_core::weights::Uniform;
use fabnet_core::{Network, Oracle, Problem, ProblemExt, Smoothness, Topology, Work};

use super::Cell;

/// How a cell is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// With automatic step sizes.
    Automatic,
    /// With step sizes that are multiples of what the curvatures allow.
    Fixed {
        /// Mixings for each step, and their order.
        mixing: MixingPlan,
        /// The heavy ball β.
        momentum: f64,
        /// The outer step size times the bound Lₓ of the curvature.
        outer: f64,
        /// The inner step size times `L_z`.
        inner: f64,
    },
}

impl Setting {
    /// The grid of fixed settings for a cell, the likely ones first.
    pub fn grid(cell: &Cell) -> Vec<Self> {
        let slow = ["ring", "undirected-ring", "contact-plan"].contains(&cell.network) && cell.agents >= 30;
        let mixings: &[u64] = if slow { &[5, 3, 8, 2, 1, 13, 20, 40] } else { &[2, 1, 3, 5, 8] };
        let outers: &[f64] = match cell.problem {
            "quadratic" => &[1.0],
            "policy-evaluation" => &[4.0, 1.0, 16.0, 0.25],
            _ => &[0.25, 1.0, 0.06, 4.0],
        };
        let mut grid = Vec::new();
        for &mixings in mixings {
            for order in [Tracker::AddThenMix, Tracker::MixThenAdd] {
                let mixing = MixingPlan { mixings, order, ..MixingPlan::default() };
                for momentum in [0.8, 0.0, 0.5] {
                    let inners = [0.25, 0.5, 1.0, 2.0, 4.0].into_iter().filter(|inner| inner * (1.0 - momentum) <= 1.1);
                    for inner in inners {
                        grid.extend(outers.iter().map(|&outer| Self::Fixed { mixing, momentum, outer, inner }));
                    }
                }
            }
        }
        grid
    }

    /// The step sizes for a problem on a network.
    pub fn steps(
        &self,
        cell: &Cell,
        problem: &dyn Problem<f64>,
        topology: &Arc<dyn Topology>,
        smoothness: &Smoothness,
    ) -> Result<Steps, StepsError> {
        let network = Network::new(topology.clone(), Arc::new(Uniform));
        match *self {
            Self::Automatic => {
                let spread = Reach::new(&**topology, 200).spread().expect("the networks are connected");
                Steps::auto(Auto::new(spread.bound())).on(network, false)
            }
            Self::Fixed { mixing, momentum, outer, inner } => {
                let [outer_bound, _, inner_bound] = smoothness.difference_bounds();
                let (x, z) = (outer / outer_bound, inner / inner_bound);
                let direction = cell.make_method(problem, Steps::same(0.0))?;
                let sizes = direction.direction().step_sizes(smoothness, [x, z, z]).map(|size| size * (1.0 - momentum));
                let sizes = direction.blocks().names().zip(sizes);
                Ok(Steps::each(sizes).momentum(momentum).mixing(mixing))
            }
        }
    }
}

/// The largest curvatures that agents measure at their starts; of many agents, a hundred are asked.
pub(super) fn smoothness(problem: &dyn Problem<f64>) -> Smoothness {
    let (agents, mut work) = (problem.agents(), Work::default());
    let asked = (0..agents).step_by(agents.div_ceil(100));
    let measured = asked.map(|agent| {
        let (own, x, y) = problem.starting_point(agent);
        Smoothness::measure(&mut Oracle::new(problem, 0, agent, 0, &mut work), &own, &x, &y).to_array()
    });
    Smoothness::from_array(measured.fold([0.0; Smoothness::LEN], |largest, norms| {
        std::array::from_fn(|place| f64::max(largest[place], norms[place]))
    }))
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Automatic => write!(formatter, "automatic"),
            Self::Fixed { mixing, momentum, outer, inner } => {
                let order = if mixing.order == Tracker::AddThenMix { "add-then-mix" } else { "mix-then-add" };
                write!(formatter, "K={} {order} β={momentum} x={outer} z={inner}", mixing.mixings)
            }
        }
    }
}
