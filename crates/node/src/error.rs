//! Why a node cannot begin, or go on.

use std::io;
use std::path::PathBuf;

use fabnet_files::FramesError;
use fabnet_lab::figure::FigureError;
use fabnet_net::{DiskError, KeptListError, NodeError, OpenError, PkiError, ServerError, StoppedRunError};

/// Why a node cannot begin, or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeRuntimeError {
    /// The plan and the list of members disagree.
    #[error("the plan has {plan} agents, the members own {members}")]
    Agents {
        /// The agents of the plan.
        plan: usize,
        /// The agents of all members.
        members: usize,
    },
    /// More members are waited for than there are.
    #[error("[network] start = {start}, but there are {members} members: give a smaller number, or \"all\"")]
    Start {
        /// The members that must be there.
        start: usize,
        /// The members that there are.
        members: usize,
    },
    /// The data of an agent is not here.
    #[error("{0}; `data` in the node's file says where it is looked for")]
    Missing(String),
    /// A certificate of the node cannot be used.
    #[error(transparent)]
    Certificate(#[from] PkiError),
    /// The state folder cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The run that this one is to continue cannot be continued.
    #[error(transparent)]
    Stopped(#[from] StoppedRunError),
    /// The list of expelled members in the state folder cannot be used.
    #[error(transparent)]
    KeptList(#[from] KeptListError),
    /// The network cannot be joined.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Status and metrics cannot be served.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Something happened on the way.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The records of an earlier start cannot be continued.
    #[error("{0}. Move the state folder away to begin anew; `fabnet collect --partial` reads what is left of it")]
    Track(FramesError),
    /// The answer cannot be written.
    #[error("{}: {error}; check the folder's space and rights", path.display())]
    Solution {
        /// The file of the answer.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The findings cannot be written.
    #[error(transparent)]
    Findings(#[from] FigureError),
}
