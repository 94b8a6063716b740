//! Everything that a simulation can find to be wrong.

use fabnet_core::peer::Incarnation;

use super::settlement::Disagreement;
use super::wire::Edge;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Violation {
    /// Mass is not conserved within one node: `t ≠ D + Σ ρ − Σ σ`.
    #[error("node {node}: its mass is not what its input and edges say")]
    UnbalancedLedger { node: u32 },
    /// A node holds mass that the sender never sent over this edge.
    #[error("node {node}: holds mass from {source_node} that was never sent over this edge: {edge:?}")]
    MassNeverSent { node: u32, source_node: u32, edge: Edge },
    /// A node replaces a cumulative sum by an older one.
    #[error("node {node}: goes back to what {source_node} had sent before what it knew")]
    WentBack { node: u32, source_node: u32 },
    /// A node took its disk for forgetful, although the disk has lost nothing.
    #[error("node {node}: begins a new life because of what its disk has never lost")]
    NeedlessIncarnation { node: u32 },
    /// A node completed words to something else than their sender said, although no disk has
    /// forgotten anything.
    #[error("node {node}: completes words to what was never sent")]
    WrongWords { node: u32 },
    /// Edges or unread messages exceed their bounds: memory would grow without limit.
    #[error("node {node}: {edges} edges and {unread} unread messages among {nodes} nodes")]
    Unbounded { node: u32, edges: usize, unread: usize, nodes: usize },
    /// A peer keeps more to be passed on than there can be: memory would grow without limit.
    #[error("node {node}: keeps {rumours} things to pass them on, {most} at most")]
    TooManyRumours { node: u32, rumours: usize, most: usize },
    /// A peer believes in a life of another node that this node has never lived.
    #[error("node {node}: believes in a life of node {of} that was never lived: {life:?}")]
    LifeNeverLived { node: u32, of: u32, life: Incarnation },
    /// A row holds an infinity or a NaN.
    #[error("node {node}: a scalar that is not finite")]
    NotFinite { node: u32 },
    /// A message left before the state that it depends on was stored.
    #[error("node {node} sends what depends on a state that is not written down")]
    SendsBeforeState { node: u32 },
    /// A message left before the incarnation of its sender was stored.
    #[error("node {node} sends in a life that is not written down")]
    SendsBeforeIncarnation { node: u32 },
    /// Peers do not agree within the time limit after the last fault.
    #[error("not settled: {0}")]
    NotSettled(Disagreement),
    /// Mass is not conserved among all running nodes.
    #[error("{0} units of mass are missing or too much")]
    MissingMass(i64),
    /// Mass that was sent over an edge never arrives.
    #[error("what node {from} sent to {to} is stranded")]
    Stranded { from: u32, to: u32 },
    /// Peers do not reach the solution of the survivors within the time limit.
    #[error("{0} away from the solution of those that run")]
    NotConverged(f64),
}

/// The result of a check.
pub(super) type Check = Result<(), Violation>;
