//! One agent of a real run, as its node sees it, and the results that stay with the node.

use std::io;
use std::ops::Range;
use std::path::Path;

use fabnet_core::observe::Agents;
use fabnet_core::{Optimum, Peer, ProblemExt, Scalar, View};
use fabnet_files::Files;

use super::findings;
use super::setup::Setup;
use super::watch_hello::is_error;
use crate::figure::FigureError;
use crate::plan::Plan;
use crate::results::agent_solution;

/// Writes the findings of one agent of a real run, its private coordinates included: these files
/// stay with the agent's node.
pub fn write_findings_of<T: Scalar>(
    files: &dyn Files,
    setup: &Setup<T>,
    peer: &Peer<T>,
    folder: &Path,
) -> Result<(), FigureError> {
    findings::write_into(files, folder, &SingleAgent(peer).view(setup))
}

/// Writes the solution of one agent of a real run, its private coordinates included: this file
/// stays with the agent's node.
pub fn write_solution_of<T: Scalar>(
    files: &dyn Files,
    setup: &Setup<T>,
    peer: &Peer<T>,
    path: &Path,
) -> io::Result<()> {
    let file = agent_solution(&SingleAgent(peer).view(setup), peer.node() as usize, setup.group(), setup.seed());
    files.write_parts(path, file.parts().map(Ok))
}

/// The first metric of a plan for one agent of a real run, which a node can measure by itself where
/// the solution is known.
pub struct AgentMetric<T: Scalar> {
    setup: Setup<T>,
    optimum: Optimum<T>,
}

impl<T: Scalar> AgentMetric<T> {
    /// The metric, if it is an error and the solution is known.
    pub fn new(plan: &Plan, setup: &Setup<T>) -> Option<Self> {
        plan.metrics.first().filter(|name| is_error(name))?;
        Some(Self { setup: setup.clone(), optimum: setup.problem.optimum()? })
    }

    /// The relative error of an agent.
    pub fn measure(&self, peer: &Peer<T>) -> f64 {
        let agent = SingleAgent(peer);
        let view = agent.view(&self.setup);
        view.relative_error(&self.optimum).f64()
    }
}

/// An agent that is seen without the others of its run.
struct SingleAgent<'a, T: Scalar>(&'a Peer<T>);

impl<T: Scalar> SingleAgent<'_, T> {
    /// The state of the agent, for observers.
    fn view<'v>(&'v self, setup: &'v Setup<T>) -> View<'v, T> {
        View {
            round: self.0.round(),
            problem: &*setup.problem,
            algorithm: &*setup.algorithm,
            costs: self.0.costs(),
            agents: self,
        }
    }
}

impl<T: Scalar> Agents<T> for SingleAgent<'_, T> {
    fn range(&self) -> Range<usize> {
        let node = self.0.node() as usize;
        node..node + 1
    }

    fn row(&self, _agent: usize) -> &[T] {
        self.0.row()
    }

    fn keep(&self, _agent: usize) -> &[T] {
        self.0.keep()
    }

    fn input(&self, _agent: usize) -> &[T] {
        self.0.input()
    }
}
