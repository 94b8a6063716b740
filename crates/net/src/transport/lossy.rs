//! Messages that are lost on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fabnet_core::rng::{Purpose, Stream};

use super::Transport;
use crate::greeting::Greeting;

/// Loses a fraction of all messages and hands the rest to another transport. Tests of real networks
/// need it, because packets that are lost under TCP are only late.
pub struct LossyTransport {
    inner: Arc<dyn Transport>,
    loss: f64,
    seed: u64,
    sent: AtomicU64,
    dropped: Arc<AtomicU64>,
}

impl LossyTransport {
    /// Loses this fraction of the messages, chosen by the seed, and counts the lost ones.
    pub fn new(inner: Arc<dyn Transport>, loss: f64, seed: u64, dropped: Arc<AtomicU64>) -> Self {
        Self { inner, loss, seed, sent: AtomicU64::new(0), dropped }
    }
}

impl Transport for LossyTransport {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        if Stream::new(self.seed, from as usize, number, Purpose::Faults).open01() < self.loss {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        } else {
            self.inner.send(from, to, bytes);
        }
    }

    fn greet(&self, node: &str, greeting: &Greeting) {
        self.inner.greet(node, greeting);
    }

    fn reaches(&self, address: &str) -> bool {
        self.inner.reaches(address)
    }

    fn close(&self) {
        self.inner.close();
    }
}
