//! How a simulation went.

use super::fault::ByFault;

/// The result of one simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The invariant that did not hold, if any.
    pub violation: Option<String>,
    /// The number of times that each fault happened.
    pub faults: ByFault<u64>,
    /// Rounds of all peers together.
    pub peer_rounds: u64,
    /// A hash over all events in their order: equal traces mean equal simulations.
    pub trace: u64,
    /// The number of events.
    pub events: u64,
    /// Ticks after the last fault until all peers agreed.
    pub settled_after: Option<u64>,
    /// Ticks after that until every peer was at the solution.
    pub converged_after: Option<u64>,
    /// The last lines of the readable log, if one was asked for.
    pub log: Vec<String>,
}
