//! What carries messages between nodes.

/// Carries messages, as well as it can: they may be lost, doubled or late. What arrives goes to the [`Inbox`](crate::Inbox) that a transport was opened with.
pub trait Transport: Send + Sync {
    /// Hands a message of one agent to another over. Never waits: to a neighbour that takes nothing, the oldest messages are dropped, and later ones make that good.
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>);

    /// Connects anew if one of these addresses can be reached, since something that should come from there does not arrive. Never waits for that.
    fn renew(&self, ways: Vec<String>);

    /// How often it has connected anew.
    fn renewals(&self) -> u64;

    /// Ends, after what is still to leave has left, or a moment has passed.
    fn close(&self);
}

impl<C: Transport + ?Sized> Transport for std::sync::Arc<C> {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        (**self).send(from, to, bytes);
    }

    fn renew(&self, ways: Vec<String>) {
        (**self).renew(ways);
    }

    fn renewals(&self) -> u64 {
        (**self).renewals()
    }

    fn close(&self) {
        (**self).close();
    }
}
