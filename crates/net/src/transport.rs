//! What carries messages between nodes.

/// Carries messages, as well as it can: they may be lost, doubled or late. What arrives goes to the [`Inbox`](crate::Inbox) that a transport was opened with.
pub trait Transport: Send + Sync {
    /// Hands a message of one agent to another over. Never waits: to a neighbour that takes nothing, the oldest messages are dropped, and later ones make that good.
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>);

    /// Connects anew, since something that should arrive does not. Does not wait for it.
    fn renew(&self);

    /// Ends, after what is still to leave has left, or a moment has passed.
    fn close(&self);
}

impl<C: Transport + ?Sized> Transport for std::sync::Arc<C> {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        (**self).send(from, to, bytes);
    }

    fn renew(&self) {
        (**self).renew();
    }

    fn close(&self) {
        (**self).close();
    }
}
