//! The peer: one agent among unreliable links, as a machine that takes events and returns effects.
//!
//! Gradient tracking is right only as long as `Σ t = Σ d`: one lost message breaks that for ever. Here mass is booked in whole units, edges carry cumulative sums, and a
//! tracker is *derived* from what its agent put in and what its edges say ([`Ledger`]): any later message repairs all that were lost before it, and the edges of a node that is gone can be undone. docs/protocol.md explains
//! the protocol for its users.
//!
//! A [`Peer`] owns no clock, socket, thread or random source. A simulator drives thousands of them from one seed; a network runtime drives one.

mod contact;
mod inspect;
mod judgement;
mod ledger;
mod mass;
mod membership;
mod message;
mod neighbours;
mod news;
mod policy;
mod post;
mod round;
mod saved;
mod state;
#[cfg(test)]
mod tests;

pub use ledger::{Ledger, Overflow, Reversal};
pub use mass::{Fraction, Unit};
pub use membership::{Incarnation, Standing, Table};
pub use message::{Ack, BEGINNING, Beat, Close, Contents, Envelope, Header, Malformed, Manifest, Manner, Message};
pub use neighbours::{Links, Schedule};
pub use policy::{Pace, Policy};
pub use saved::Damaged;
pub use state::{Command, Counters, Effect, Event, Peer, Record, Task};
