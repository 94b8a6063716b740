//! Real nodes whose gradients are computed in Python.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_core::{Peer, ProblemExt};
use fabnet_lab::data::Library;
use fabnet_lab::{Experiment, Plan};
use fabnet_net::{Authority, Config, NodeIdentity, ONE_THREAD_FOR_LINKS, SharedStatus, Validity, log_to_stderr};
use fabnet_node::{NodeRuntime, NodeRuntimeError};
use pyo3::exceptions::{PyConnectionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::agent_solutions::points;
use crate::first_exception::FirstException;
use crate::python_parts::PythonParts;

/// Runs one node until it is done. After Ctrl-C, or an exception in a function, the node announces
/// that it leaves before the exception is raised. Functions are called from this thread.
#[pyfunction]
pub(crate) fn node<'py>(
    py: Python<'py>,
    file: PathBuf,
    problem: Option<Bound<'py, PyAny>>,
    algorithm: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    // Through Python, which knows whether its process has other threads that read variables.
    py.import("os")?.getattr("environ")?.call_method1("setdefault", ONE_THREAD_FOR_LINKS)?;
    let (config, plan) = read(&file)?;
    let agents = config.me().map(|me| me.agents.clone());
    let (group, seed) = plan.real_run().map_err(|error| wrong(&error))?;
    let (status, refusals) = (SharedStatus::of(&config), Arc::default());
    log_to_stderr("warn", false, &status, &refusals);
    let failure = FirstException::default();
    let setup = PythonParts { problem, topology: None, algorithm }.setup(py, &group, seed, &failure)?;
    let (method, dim) = (setup.algorithm.clone(), setup.problem.dim());
    let done = py.detach(|| {
        let mut runtime = NodeRuntime::open(config, &plan, setup, (status, refusals))?;
        runtime.run(&mut || goes_on(&failure))?;
        Ok(runtime.peers().map(|peer| (point(peer), peer.round())).unzip::<_, _, Vec<_>, Vec<_>>())
    });
    failure.raise()?;
    let (found, rounds) = done.map_err(|error| exception(&error))?;
    let answer = points(py, &*method, dim, found.into_iter())?;
    answer.set_item("agents", agents)?;
    answer.set_item("rounds", rounds.into_iter().min())?;
    Ok(answer)
}

/// Reads the file of a node, and the plan that it names.
fn read(file: &Path) -> PyResult<(Config, Plan)> {
    let config = Config::read(file).map_err(|error| wrong(&error))?;
    if config.me().is_none() {
        return Err(wrong(&format!("{}: a router needs no gradients: run `fabnet node`", file.display())));
    }
    config.data.iter().for_each(|folder| Library::look_in(folder));
    let plan = Experiment::read(&config.plan).and_then(|experiment| experiment.plan());
    Ok((config, plan.map_err(|error| wrong(&error))?))
}

/// The point at which an agent is: its solution and its private coordinates.
fn point(peer: &Peer<f64>) -> Vec<f64> {
    let (method, private) = (&peer.config().algorithm, peer.config().problem.private(peer.node() as usize));
    let mut point = vec![0.0; method.blocks().width() + private];
    method.point(peer.row(), peer.keep(), &mut point);
    point
}

fn wrong(error: &dyn Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The exception of Python for the reason why a node has failed.
fn exception(error: &NodeRuntimeError) -> PyErr {
    let message = error.to_string();
    match error {
        NodeRuntimeError::Node(_) | NodeRuntimeError::Open(_) => PyConnectionError::new_err(message),
        NodeRuntimeError::Agents { .. } | NodeRuntimeError::Start { .. } | NodeRuntimeError::Missing(_) => {
            PyValueError::new_err(message)
        }
        _ => PyRuntimeError::new_err(message),
    }
}

/// Whether the run goes on: no function has raised an exception, and nobody has pressed Ctrl-C.
fn goes_on(failure: &FirstException) -> bool {
    Python::attach(|py| failure.catch(py.check_signals()));
    !failure.is_there()
}

/// Makes a certificate authority in a folder, and certificates of nodes. Each node has the hosts
/// under which others reach it; without any, it is reachable on this machine only.
#[pyfunction]
pub(crate) fn certificates(folder: PathBuf, nodes: BTreeMap<String, Vec<String>>) -> PyResult<()> {
    let failed = |error: &dyn Display| PyRuntimeError::new_err(error.to_string());
    let authority = Authority::create(&folder, Validity::OF_AUTHORITIES).map_err(|error| failed(&error))?;
    for (name, hosts) in nodes {
        let node = NodeIdentity::new(&name, hosts).map_err(|mistake| wrong(&mistake))?;
        authority.issue(&node, Validity::OF_NODES).map_err(|error| failed(&error))?;
    }
    Ok(())
}
