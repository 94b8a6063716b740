//! What carries messages between nodes.

mod lossy;
mod memory;

pub use lossy::LossyTransport;
pub use memory::{LinkFaults, MemoryNetwork, MemoryTransport};

use std::sync::Arc;

use crate::config::Config;
use crate::greeting::Greeting;
use crate::inbox::Inbox;

/// Carries messages as well as it can: they may be lost, duplicated, late or out of order. What
/// arrives goes to the [`Inbox`] that the transport was opened with.
pub trait Transport: Send + Sync {
    /// Hands over a message of one agent to another. It never blocks: if a neighbour takes nothing,
    /// the oldest messages to it are dropped, and later ones make that good.
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>);

    /// Greets all other nodes of the run in the name of this node. It may get lost; whoever needs
    /// an answer greets again.
    fn greet(&self, node: &str, greeting: &Greeting);

    /// Whether anything accepts connections at an address. It may take a fraction of a second.
    fn reaches(&self, address: &str) -> bool;

    /// Ends after everything that waits has left, or after a few seconds. What is sent later is
    /// lost.
    fn close(&self);
}

/// A transport whose connections can look open and yet deliver nothing, as Zenoh's can. The node,
/// which knows whom it ought to hear, tells it so.
pub trait Reconnect: Send + Sync {
    /// Connects again if one of these addresses can be reached, because messages that should come
    /// from there do not arrive. It never blocks.
    fn reconnect(&self, addresses: Vec<String>);

    /// Connects again, whoever is heard, because certificates have changed, which are read when a
    /// connection is opened. It never blocks. False says that it is connecting at present, and must
    /// be asked again.
    fn reopen(&self) -> bool;

    /// How often it has connected again.
    fn reconnections(&self) -> u64;
}

/// Opens the transport of a node, once its inbox is known.
pub trait TransportFactory {
    /// Joins the other members of a run; what arrives goes into the inbox.
    fn open(&self, config: &Config, inbox: &Arc<Inbox>) -> Result<OpenedTransport, OpenError>;
}

/// A transport that is ready.
#[derive(Clone)]
pub struct OpenedTransport {
    /// The transport itself.
    pub transport: Arc<dyn Transport>,
    /// The means to connect again, for transports that need it.
    pub reconnect: Option<Arc<dyn Reconnect>>,
}

/// Why a transport cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot join the network: {0}. Is the address free and of this host, and are the certificates readable?")]
pub struct OpenError(pub(crate) String);
