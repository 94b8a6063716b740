//! What goes into a peer and what comes out: events and effects.

use super::membership::Incarnation;

/// Something that has happened, which the driver tells a peer.
#[derive(Clone, Debug)]
pub enum Event {
    /// A message has arrived.
    Message(Vec<u8>),
    /// Time has passed. Ticks must come at a steady pace.
    Tick,
    /// A record was written and will survive a crash, or it could not be written. A peer does not
    /// wait for checkpoints.
    Stored {
        /// The number that came with the record.
        ticket: u64,
        /// Whether the record will survive a crash.
        safe: bool,
    },
    /// Somebody outside believes that a node is gone. If it is not, it will refute that.
    Suspect(u32),
    /// An operator asks for something.
    Command(Command),
}

/// What an operator can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Leave the run for good.
    Leave,
    /// Start a new epoch at the current points.
    Restart,
    /// Take back what went over the edge to a node, which is no longer a contact.
    Close(u32),
    /// Begin with the first round, if the peer is held.
    Begin,
    /// Believe nothing that a node says any more: the members of the run have expelled it. A peer
    /// that starts must be told again.
    Expel(u32),
    /// Listen to a node again that was expelled. It comes back in a new life.
    Readmit(u32),
}

/// Something that the driver of a peer must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send a message.
    Send {
        /// The node that is to receive it.
        to: u32,
        /// The message as it is to arrive.
        bytes: Vec<u8>,
    },
    /// Write a record to disk, and report with [`Event::Stored`] when that is done.
    Store {
        /// The number by which the record is reported.
        ticket: u64,
        /// What is to be written.
        record: Record,
    },
}

/// What a peer writes to disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The present life. Nothing is sent before this is safe, and the next start takes a greater
    /// one.
    Incarnation(Incarnation),
    /// The whole state, on which the messages that wait for it depend.
    /// [`Peer::resume`](super::Peer::resume) goes on there.
    State(Vec<u8>),
    /// The point at which to start again; no message waits for it.
    Checkpoint {
        /// The number of rounds that are done.
        round: u64,
        /// The point, scalar by scalar.
        point: Vec<u8>,
    },
}
