//! The peer: one agent among unreliable links, as a state machine that takes events and returns
//! effects.
//!
//! Gradient tracking is right only as long as `Σ t = Σ d`, and one lost message breaks that for
//! ever. Here mass is booked in whole units, edges carry cumulative sums, and a tracker is
//! *derived* from what its agent contributes and what its edges say ([`Ledger`]). So any later
//! message makes up for all that were lost before it, and the edges of a node that is gone can be
//! undone. docs/protocol.md explains the protocol for its users.
//!
//! A [`Peer`] owns no clock, socket, thread or random source. A simulator drives thousands of them
//! from one seed; a network runtime drives one.
//!
//! It consists of parts that do not know each other: `membership` (who takes part), `clock` (epoch,
//! round, ticks), `exchange` (edges and messages that wait), `ledger` (mass), `local` (the agent
//! itself) and `write_ahead` (what waits for the disk). `machine`, `round`, `receive`, `send` and
//! `transitions` put them together.

mod apply;
mod clock;
mod config;
mod counters;
mod event;
mod exchange;
mod inspect;
mod ledger;
mod local;
mod machine;
mod membership;
mod movements;
mod neighbours;
mod notice;
mod outgoing;
mod policy;
mod pull;
mod receive;
mod round;
mod send;
mod snapshot;
#[cfg(test)]
mod tests;
mod transitions;
mod wire;
mod write_ahead;

pub use config::PeerConfig;
pub use counters::Counters;
pub use event::{Command, Effect, Event, Record};
pub use ledger::{Fraction, Ledger, Overflow, Reversal, Unit};
pub use machine::Peer;
pub use membership::{
    Ack, Carried, Claim, Declaration, EdgeClosure, Heartbeat, Incarnation, LONGEST_SEAL, MemberState, Receipt,
    SealOrigin, SealScheme, Table, Unsealed,
};
pub use neighbours::{Links, NeighbourSource};
pub use notice::{EpochCause, Notice};
pub use policy::{Policy, SyncMode};
pub use snapshot::Damaged;
pub use wire::{BEGINNING, Contents, Control, Envelope, Header, Intent, Malformed, Message, WireFormat, WordLength};
