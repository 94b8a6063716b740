//! The checkpoints of a run that was stopped, from which another run begins.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use fabnet_files::Files;

use super::checkpoint::{CheckpointFile, IntactCheckpoint};

/// The point that an agent of the new run needs.
#[derive(Clone, Copy, Debug)]
pub struct WantedPoint {
    /// The number of the agent.
    pub agent: u32,
    /// The number of its scalars.
    pub width: usize,
    /// The bytes of a scalar: 4 or 8.
    pub scalar: usize,
    /// The rounds of the new run.
    pub rounds: u64,
}

/// Where an agent was when its run was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedAgent {
    /// The round of its newest intact checkpoint.
    pub round: u64,
    /// The point, scalar by scalar.
    pub point: Vec<u8>,
    /// The digest of the run, if the checkpoint has it: earlier versions did not note it.
    pub run: Option<String>,
}

/// Why a run cannot begin with what another one has left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoppedRunError {
    /// A file cannot be read.
    #[error("{}: {error}; `continues` in the node's file names the state folder of the run that was stopped", path.display())]
    File {
        /// The file that is meant.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A process uses the folder.
    #[error("{}: another process uses this state folder: stop the run before another one continues it", .0.display())]
    Running(PathBuf),
    /// There is no checkpoint that is intact.
    #[error(
        "{}: no intact checkpoint of agent {agent}, so the run cannot be continued here: without `continues` in the \
         node's file the agent begins anew", path.display()
    )]
    Nothing {
        /// The folder of the agent.
        path: PathBuf,
        /// The number of the agent.
        agent: u32,
    },
    /// The newest checkpoint is of another agent or problem.
    #[error("{}: it has {found}, and this run needs {wanted}: only a run of the same problem can be continued", path.display())]
    Unfit {
        /// The file of the checkpoint.
        path: PathBuf,
        /// What it has.
        found: String,
        /// What is needed.
        wanted: String,
    },
    /// The run has no rounds beyond the checkpoint.
    #[error(
        "{}: it is of round {round}, and this run ends with round {rounds}: give the plan more rounds", path.display()
    )]
    Over {
        /// The file of the checkpoint.
        path: PathBuf,
        /// The round of the checkpoint.
        round: u64,
        /// The rounds of the new run.
        rounds: u64,
    },
}

/// Reads where an agent was from the state folder of a stopped run, whatever its name, plan and
/// version of the wire were. The folder is not changed, and must not be in use.
pub fn read_stopped_agent(
    files: &dyn Files,
    state: &Path,
    wanted: WantedPoint,
) -> Result<StoppedAgent, StoppedRunError> {
    let failure = |path: &Path, error| StoppedRunError::File { path: path.to_owned(), error };
    let folder = state.join(wanted.agent.to_string());
    let rounds = CheckpointFile::rounds_in(files, &folder).map_err(|error| failure(&folder, error))?;
    let _lock = files.lock(&state.join("lock")).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => StoppedRunError::Running(state.to_owned()),
        _ => failure(state, error),
    })?;
    for round in rounds.into_iter().rev() {
        let path = folder.join(CheckpointFile::name(round));
        let bytes = files.read(&path).map_err(|error| failure(&path, error))?;
        if let Some(found) = IntactCheckpoint::read(&bytes, round) {
            return fit(path, round, found, wanted);
        }
        tracing::warn!(path = %path.display(), "a damaged checkpoint is not used");
    }
    Err(StoppedRunError::Nothing { path: folder, agent: wanted.agent })
}

/// Checks that a checkpoint is what an agent of the new run needs.
fn fit(
    path: PathBuf,
    round: u64,
    found: IntactCheckpoint,
    wanted: WantedPoint,
) -> Result<StoppedAgent, StoppedRunError> {
    let IntactCheckpoint { owner, scalar, point } = found;
    let described =
        |agent: &str, width: usize, scalar: usize| format!("agent {agent}, {width} scalars of {scalar} bytes");
    let own = wanted.agent.to_string();
    let agent = owner.as_ref().map_or(&own, |(_, agent)| agent);
    let scalar = scalar.unwrap_or(1);
    let found = described(agent, point.len() / scalar, scalar);
    let wanted_text = described(&own, wanted.width, wanted.scalar);
    if found != wanted_text {
        return Err(StoppedRunError::Unfit { path, found, wanted: wanted_text });
    }
    if round >= wanted.rounds {
        return Err(StoppedRunError::Over { path, round, rounds: wanted.rounds });
    }
    Ok(StoppedAgent { round, point, run: owner.map(|(run, _)| run) })
}
