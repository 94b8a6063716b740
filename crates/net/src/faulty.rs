//! Messages that are lost on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fabnet_core::rng::{Purpose, Stream};

use crate::transport::Transport;

/// Loses a part of all messages before another transport carries the rest: packets that are lost under TCP are only late.
pub struct Faulty<C> {
    inner: C,
    loss: f64,
    seed: u64,
    sent: AtomicU64,
    dropped: Arc<AtomicU64>,
}

impl<C: Transport> Faulty<C> {
    /// Loses this part; counts what was lost.
    pub fn new(inner: C, loss: f64, seed: u64, dropped: Arc<AtomicU64>) -> Self {
        Self { inner, loss, seed, sent: AtomicU64::new(0), dropped }
    }
}

impl<C: Transport> Transport for Faulty<C> {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        if Stream::new(self.seed, from as usize, number, Purpose::Faults).open01() < self.loss {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        } else {
            self.inner.send(from, to, bytes);
        }
    }

    fn renew(&self, ways: Vec<String>) {
        self.inner.renew(ways);
    }

    fn renewals(&self) -> u64 {
        self.inner.renewals()
    }

    fn close(&self) {
        self.inner.close();
    }
}
