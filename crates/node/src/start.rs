//! How the agents of a node begin: where they were, or at the start.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{PeerConfig, SealScheme};
use fabnet_core::{DataRange, Peer, ProblemExt, Scalar};
use fabnet_lab::Setup;
use fabnet_net::{Config, Disk, Nonces, StartGate, StateFolder, WantedPoint, read_stopped_agent};

use crate::error::NodeRuntimeError;

/// What the lives of a node's peers begin with.
pub(crate) struct Beginning<'a> {
    pub(crate) unix_time: Duration,
    pub(crate) nonces: &'a dyn Nonces,
    pub(crate) seals: &'a Arc<dyn SealScheme>,
    /// The state folder of the run that this one continues.
    pub(crate) continues: Option<&'a Path>,
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
        peers.push((begin(task, (state, &disk), beginning)?, disk, rounds));
    }
    Ok(peers)
}

/// Continues in the same incarnation if the whole state is there, else from the last checkpoint in
/// a new one: that of this run, or of the one that it continues.
fn begin<T: Scalar>(
    task: PeerConfig<T>,
    (state, disk): (&StateFolder, &Disk),
    Beginning { unix_time, nonces, seals, continues }: &Beginning<'_>,
) -> Result<Peer<T>, NodeRuntimeError> {
    if task.policy.exact
        && let Some(saved) = disk.state()?
    {
        match Peer::resume_sealed(task.clone(), Arc::clone(seals), &saved) {
            Ok(peer) => return Ok(peer),
            Err(error) => tracing::warn!(%error, "the saved state is not gone on with"),
        }
    }
    let incarnation = disk.next_life(*unix_time, *nonces)?;
    let begins_at = match (disk.checkpoint()?, continues) {
        (None, Some(stopped)) => Some(stopped_point(&task, state, stopped)?),
        (checkpoint, _) => checkpoint,
    };
    let (round, point) = begins_at.map_or((0, None), |(round, point)| {
        (round, Some(point.chunks_exact(T::BYTES).map(T::read).collect::<Vec<T>>()))
    });
    Ok(Peer::sealed(task, Arc::clone(seals), incarnation, round, point.as_deref()))
}

/// The round and the point at which an agent was when the run that this one continues was stopped.
fn stopped_point<T: Scalar>(
    task: &PeerConfig<T>,
    state: &StateFolder,
    stopped: &Path,
) -> Result<(u64, Vec<u8>), NodeRuntimeError> {
    let agent = task.node;
    let width = task.algorithm.blocks().width() + task.problem.private(agent as usize);
    let wanted = WantedPoint { agent, width, scalar: T::BYTES, rounds: task.policy.rounds };
    let found = read_stopped_agent(&*state.files(), stopped, wanted)?;
    tracing::info!(agent, round = found.round, run = found.run, "begins where a run was stopped");
    Ok((found.round, found.point))
}
