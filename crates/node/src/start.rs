//! How the agents of a node begin: where they were, or at the start.

use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{PeerConfig, SealScheme};
use fabnet_core::{DataRange, Peer, ProblemExt, Scalar};
use fabnet_lab::Setup;
use fabnet_net::{Config, Disk, DiskError, Nonces, StartGate, StateFolder};

use crate::error::NodeRuntimeError;

/// What the lives of a node's peers begin with.
pub(crate) struct Beginning<'a> {
    pub(crate) unix_time: Duration,
    pub(crate) nonces: &'a dyn Nonces,
    pub(crate) seals: &'a Arc<dyn SealScheme>,
}

/// Checks that plan and members fit together; returns what the first round waits for.
pub(crate) fn check<T: Scalar>(config: &Config, setup: &Setup<T>) -> Result<StartGate, NodeRuntimeError> {
    let (plan, members) = (setup.problem.agents(), config.agents());
    if plan != members {
        return Err(NodeRuntimeError::Agents { plan, members });
    }
    let (network, members) = (setup.network(), config.members.len());
    match network.start {
        Some(start) if start > members => Err(NodeRuntimeError::Start { start, members }),
        start => Ok(StartGate { start, within: network.start_within }),
    }
}

/// Begins the agents of a node; each comes with its disk and the rounds that it is to do.
pub(crate) fn begin_all<T: Scalar>(
    state: &StateFolder,
    setup: &Setup<T>,
    agents: &[u32],
    record_every: u64,
    beginning: &Beginning<'_>,
) -> Result<Vec<(Peer<T>, Disk, u64)>, NodeRuntimeError> {
    let mut peers = Vec::new();
    for &agent in agents {
        if let Some(missing) = setup.problem.missing(agent as usize) {
            return Err(NodeRuntimeError::Missing(missing));
        }
        if let Some(DataRange { low, high, rms }) = setup.problem.data_range(agent as usize) {
            tracing::info!(agent, low, high, rms, "range of the inputs: compare it with the other sites");
        }
        let disk = state.disk(agent, T::BYTES)?;
        let mut task = setup.task(agent, state.run().number(), record_every);
        // The node lets its peers begin when enough members are there.
        task.policy.held = true;
        let rounds = task.policy.rounds;
        peers.push((begin(task, &disk, beginning)?, disk, rounds));
    }
    Ok(peers)
}

/// Continues in the same incarnation if the whole state is there, else from the last checkpoint in
/// a new one.
fn begin<T: Scalar>(
    task: PeerConfig<T>,
    disk: &Disk,
    Beginning { unix_time, nonces, seals }: &Beginning<'_>,
) -> Result<Peer<T>, DiskError> {
    if task.policy.exact
        && let Some(state) = disk.state()?
    {
        match Peer::resume_sealed(task.clone(), Arc::clone(seals), &state) {
            Ok(peer) => return Ok(peer),
            Err(error) => tracing::warn!(%error, "the saved state is not gone on with"),
        }
    }
    let incarnation = disk.next_life(*unix_time, *nonces)?;
    let (round, point) = disk.checkpoint()?.map_or((0, None), |(round, point)| {
        (round, Some(point.chunks_exact(T::BYTES).map(T::read).collect::<Vec<T>>()))
    });
    Ok(Peer::sealed(task, Arc::clone(seals), incarnation, round, point.as_deref()))
}
