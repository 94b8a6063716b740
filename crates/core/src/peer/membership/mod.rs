//! Membership: who takes part, as one peer knows it, and what it tells others of that.

mod failure_detector;
mod gossip;
mod heartbeats;
mod members;
mod news;
mod receipts;
mod rumours;
mod seal;
mod seals;
mod table;

pub(crate) use gossip::{
    ACKS_PER_MESSAGE, GossipPayload, HEARTBEATS_PER_MESSAGE, RECEIPTS_PER_MESSAGE, STATES_PER_MESSAGE,
};
pub use gossip::{Ack, Carried, EdgeClosure, Heartbeat, Receipt};
pub(crate) use members::{Belief, Membership};
pub use seal::{Claim, Declaration, LONGEST_SEAL, SealOrigin, SealScheme, Unsealed};
pub(crate) use seals::SealBook;
pub use table::{Incarnation, MemberState, Table};
