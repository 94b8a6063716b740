//! What has arrived and waits for the node.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::config::Limits;
use crate::greeting::Greeting;
use crate::refusals::{RefusalReason, Refusals};

/// Something for the node to handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A message has arrived.
    Message {
        /// The sending agent, as the key of the message says.
        from: u32,
        /// The receiving agent.
        to: u32,
        /// The message as it came.
        bytes: Vec<u8>,
    },
    /// Another node greets.
    Greeting {
        /// The name of the other node.
        node: String,
        /// What it says of itself.
        greeting: Greeting,
    },
    /// The node is to leave the run and end.
    Stop,
}

/// Takes in what arrives, within limits for each sender: nobody can fill a node's memory or time.
pub struct Inbox {
    inputs: Sender<Input>,
    limits: Limits,
    longest: usize,
    senders: Mutex<BTreeMap<u32, SenderUsage>>,
    greeters: Mutex<BTreeMap<String, Greeter>>,
    refusals: Arc<Refusals>,
    clock: Arc<dyn Clock>,
}

/// How much of its limits one sender uses.
struct SenderUsage {
    /// Messages that have arrived and were not handled yet, and their bytes.
    waiting: usize,
    waiting_bytes: usize,
    /// The beginning of the second in which messages and bytes are counted.
    second: Duration,
    messages: u64,
    bytes: u64,
}

/// How many greetings of one name have arrived in the present second.
struct Greeter {
    second: Duration,
    greetings: u64,
}

impl SenderUsage {
    /// A sender of which nothing has arrived before this moment.
    fn new(now: Duration) -> Self {
        Self { waiting: 0, waiting_bytes: 0, second: now, messages: 0, bytes: 0 }
    }
}

impl Inbox {
    /// The bytes of one sender that may wait; a single message may be longer.
    const WAITING_BYTES: usize = 64 << 20;
    /// The greetings of one name in a second. A node greets twice a second until it is admitted.
    const GREETINGS: u64 = 4;
    /// The names whose greetings are counted: as many as the largest run has members, or somebody
    /// could fill the memory with names.
    const GREETERS: usize = 1 << 14;

    /// An empty inbox for messages up to a length in bytes, and the end at which inputs come out.
    pub fn new(
        limits: Limits,
        longest: usize,
        refusals: Arc<Refusals>,
        clock: Arc<dyn Clock>,
    ) -> (Arc<Self>, Receiver<Input>) {
        let (inputs, outputs) = channel();
        (
            Arc::new(Self {
                inputs,
                limits,
                longest,
                senders: Mutex::default(),
                greeters: Mutex::default(),
                refusals,
                clock,
            }),
            outputs,
        )
    }

    /// The length of the longest message that is accepted.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The counters of what was refused.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Accepts a message, or refuses it; only an accepted one is copied by `bytes`.
    pub fn message(&self, from: u32, to: u32, length: usize, bytes: impl FnOnce() -> Vec<u8>) {
        match self.admit(from, length) {
            Ok(()) => self.put(Input::Message { from, to, bytes: bytes() }),
            Err(reason) => self.refusals.count(reason),
        }
    }

    /// Accepts a greeting, or refuses it: greetings are rare, and come before anything is known of
    /// their sender.
    pub fn greeting(&self, node: &str, bytes: &[u8]) {
        match Greeting::read(bytes) {
            Err(reason) => self.refusals.count(reason),
            Ok(_) if !self.admits_greeting(node) => self.refusals.count(RefusalReason::Rate),
            Ok(greeting) => self.put(Input::Greeting { node: node.to_owned(), greeting }),
        }
    }

    fn admits_greeting(&self, node: &str) -> bool {
        let now = self.clock.now();
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        if greeters.len() >= Self::GREETERS && !greeters.contains_key(node) {
            return false;
        }
        let greeter = greeters.entry(node.to_owned()).or_insert(Greeter { second: now, greetings: 0 });
        if now.saturating_sub(greeter.second).as_secs() > 0 {
            *greeter = Greeter { second: now, greetings: 0 };
        }
        greeter.greetings += 1;
        greeter.greetings <= Self::GREETINGS
    }

    /// Accepts an input without limits.
    pub fn put(&self, input: Input) {
        // A node that has ended takes nothing.
        let _ = self.inputs.send(input);
    }

    /// Notes that a message of this sender and this length is handled now.
    pub(crate) fn done(&self, from: u32, length: usize) {
        if let Some(usage) = self.senders().get_mut(&from) {
            usage.waiting = usage.waiting.saturating_sub(1);
            usage.waiting_bytes = usage.waiting_bytes.saturating_sub(length);
        }
    }

    fn admit(&self, from: u32, length: usize) -> Result<(), RefusalReason> {
        if length > self.longest {
            return Err(RefusalReason::Oversized);
        }
        let now = self.clock.now();
        let mut senders = self.senders();
        let usage = senders.entry(from).or_insert_with(|| SenderUsage::new(now));
        if now.saturating_sub(usage.second).as_secs() > 0 {
            (usage.second, usage.messages, usage.bytes) = (now, 0, 0);
        }
        let room = usage.waiting == 0 || usage.waiting_bytes + length <= Self::WAITING_BYTES;
        if usage.waiting >= self.limits.waiting || !room {
            return Err(RefusalReason::Queue);
        }
        if usage.messages >= self.limits.messages || usage.bytes >= self.limits.bytes {
            return Err(RefusalReason::Rate);
        }
        usage.waiting += 1;
        usage.waiting_bytes += length;
        usage.messages += 1;
        usage.bytes += length as u64;
        Ok(())
    }

    fn senders(&self) -> MutexGuard<'_, BTreeMap<u32, SenderUsage>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    struct Bench {
        inbox: Arc<Inbox>,
        inputs: Receiver<Input>,
        clock: Arc<ManualClock>,
    }

    fn bench(limits: Limits) -> Bench {
        let clock = Arc::new(ManualClock::default());
        let (inbox, inputs) = Inbox::new(limits, 100, Arc::default(), clock.clone());
        Bench { inbox, inputs, clock }
    }

    impl Bench {
        fn send(&self, from: u32, length: usize) {
            self.inbox.message(from, 9, length, || vec![0; length]);
        }

        fn accepted(&self) -> usize {
            self.inputs.try_iter().count()
        }

        fn refused(&self, reason: RefusalReason) -> u64 {
            self.inbox.refusals().get(reason)
        }
    }

    #[test]
    fn a_message_comes_out_as_it_went_in() {
        let bench = bench(Limits::default());
        bench.inbox.message(3, 9, 2, || vec![7, 8]);
        assert_eq!(bench.inputs.try_recv(), Ok(Input::Message { from: 3, to: 9, bytes: vec![7, 8] }));
    }

    #[test]
    fn a_message_that_is_too_long_is_counted_and_never_copied() {
        let bench = bench(Limits::default());
        bench.send(3, 100);
        bench.inbox.message(3, 9, 101, || unreachable!("it is refused before it is copied"));
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Oversized)), (1, 1));
    }

    #[test]
    fn messages_that_wait_are_limited_for_each_sender_by_itself() {
        let bench = bench(Limits { waiting: 2, ..Limits::default() });
        (0..5).for_each(|_| bench.send(3, 1));
        bench.send(4, 1);
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Queue)), (3, 3));
        bench.inbox.done(3, 1);
        (0..2).for_each(|_| bench.send(3, 1));
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Queue)), (1, 4));
    }

    /// A message that is longer than all that may wait is accepted where none waits.
    #[test]
    fn bytes_that_wait_are_limited() {
        let (inbox, inputs) =
            Inbox::new(Limits::default(), usize::MAX, Arc::default(), Arc::new(ManualClock::default()));
        let send = |length| inbox.message(3, 9, length, Vec::new);
        let half = Inbox::WAITING_BYTES / 2;
        [half, half, 1].into_iter().for_each(send);
        assert_eq!((inputs.try_iter().count(), inbox.refusals().get(RefusalReason::Queue)), (2, 1));
        inbox.done(3, half);
        [half, 1].into_iter().for_each(send);
        assert_eq!((inputs.try_iter().count(), inbox.refusals().get(RefusalReason::Queue)), (1, 2));
        (0..2).for_each(|_| inbox.done(3, half));
        [3 * half, 1].into_iter().for_each(send);
        assert_eq!((inputs.try_iter().count(), inbox.refusals().get(RefusalReason::Queue)), (1, 3));
    }

    #[test]
    fn messages_in_a_second_are_limited_and_the_next_second_is_free_again() {
        let bench = bench(Limits { messages: 3, ..Limits::default() });
        (0..5).for_each(|_| bench.send(3, 1));
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Rate)), (3, 2));
        bench.clock.advance(Duration::from_millis(999));
        bench.send(3, 1);
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Rate)), (0, 3));
        bench.clock.advance(Duration::from_millis(1));
        bench.send(3, 1);
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Rate)), (1, 3));
    }

    /// 193,600 greetings in five seconds once filled a log with 39 MB and lines of their own.
    #[test]
    fn greetings_are_limited_by_name_and_in_length() {
        let bench = bench(Limits::default());
        (0..1000).for_each(|_| bench.inbox.greeting("a", b"c0ffee"));
        bench.inbox.greeting("b", b"c0ffee");
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Rate)), (5, 996));
        bench.clock.advance(Duration::from_secs(1));
        bench.inbox.greeting("a", b"c0ffee");
        bench.inbox.greeting("a", b"forged\tline");
        bench.inbox.greeting("a", &[0xff; 8]);
        bench.inbox.greeting("a", &[b'0'; 65]);
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Manifest)), (1, 2));
        assert_eq!(bench.refused(RefusalReason::Oversized), 1);
        (0..2 * Inbox::GREETERS).for_each(|number| bench.inbox.greeting(&number.to_string(), b"c0ffee"));
        assert_eq!(bench.accepted(), Inbox::GREETERS - 2, "no more names are kept in mind");
    }

    #[test]
    fn bytes_in_a_second_are_limited() {
        let bench = bench(Limits { bytes: 150, ..Limits::default() });
        (0..4).for_each(|_| bench.send(3, 100));
        assert_eq!((bench.accepted(), bench.refused(RefusalReason::Rate)), (2, 2));
    }
}
