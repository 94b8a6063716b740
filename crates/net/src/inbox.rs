//! What has arrived and waits for the node.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::config::Limits;
use crate::refusals::{Reason, Refusals};

/// Something for the node to do.
#[derive(Debug)]
pub enum Input {
    /// A message has arrived.
    Message {
        /// From this agent, as its key says.
        from: u32,
        /// For this one.
        to: u32,
        /// As it came.
        bytes: Vec<u8>,
    },
    /// Another node of the run says that its manifest is this.
    Hello {
        /// What it is called.
        node: String,
        /// Its manifest.
        manifest: String,
    },
    /// Leave, and end.
    Stop,
}

/// Takes in what arrives, within limits for each neighbour: nobody can fill a node's memory or time.
pub struct Inbox {
    inputs: Sender<Input>,
    limits: Limits,
    longest: usize,
    neighbours: Mutex<BTreeMap<u32, Neighbour>>,
    refusals: Arc<Refusals>,
}

struct Neighbour {
    waiting: usize,
    second: Instant,
    messages: u64,
    bytes: u64,
}

impl Inbox {
    /// An empty one, for messages up to this length.
    pub fn new(limits: Limits, longest: usize, refusals: Arc<Refusals>) -> (Arc<Self>, Receiver<Input>) {
        let (inputs, outputs) = channel();
        (Arc::new(Self { inputs, limits, longest, neighbours: Mutex::default(), refusals }), outputs)
    }

    /// The longest message that is looked at.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Where refusals are counted.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Takes a message in, or refuses it.
    pub fn message(&self, from: u32, to: u32, length: usize, bytes: impl FnOnce() -> Vec<u8>) {
        match self.admit(from, length) {
            Ok(()) => self.put(Input::Message { from, to, bytes: bytes() }),
            Err(reason) => self.refusals.count(reason),
        }
    }

    /// Takes anything else in.
    pub fn put(&self, input: Input) {
        // A node that has ended takes nothing.
        let _ = self.inputs.send(input);
    }

    /// A message of this neighbour was dealt with.
    pub(crate) fn done(&self, from: u32) {
        if let Some(neighbour) = self.neighbours().get_mut(&from) {
            neighbour.waiting = neighbour.waiting.saturating_sub(1);
        }
    }

    fn admit(&self, from: u32, length: usize) -> Result<(), Reason> {
        if length > self.longest {
            return Err(Reason::Oversized);
        }
        let now = Instant::now();
        let mut neighbours = self.neighbours();
        let neighbour = neighbours.entry(from).or_insert(Neighbour { waiting: 0, second: now, messages: 0, bytes: 0 });
        if now.duration_since(neighbour.second).as_secs() > 0 {
            (neighbour.second, neighbour.messages, neighbour.bytes) = (now, 0, 0);
        }
        if neighbour.waiting >= self.limits.waiting {
            return Err(Reason::Queue);
        }
        if neighbour.messages >= self.limits.messages || neighbour.bytes >= self.limits.bytes {
            return Err(Reason::Rate);
        }
        neighbour.waiting += 1;
        neighbour.messages += 1;
        neighbour.bytes += length as u64;
        Ok(())
    }

    fn neighbours(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Neighbour>> {
        self.neighbours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
