//! Messages between nodes of one process, with faults by a seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use fabnet_core::rng::{Purpose, Stream};

use super::{OpenError, OpenedTransport, Transport, TransportFactory};
use crate::clock::Clock;
use crate::config::Config;
use crate::greeting::Greeting;
use crate::inbox::Inbox;

/// A network within one process. It moves messages only when [`deliver`](Self::deliver) is called,
/// so that one thread which drives clock, network and nodes repeats a run exactly.
#[derive(Clone)]
pub struct MemoryNetwork {
    switch: Arc<Mutex<Switch>>,
    clock: Arc<dyn Clock>,
}

/// What links do to messages, chosen by a seed: the same seed and the same messages meet the same
/// faults.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkFaults {
    /// The seed of all faults.
    pub seed: u64,
    /// The fraction of messages that are lost.
    pub loss: f64,
    /// The fraction of the others that arrive twice.
    pub duplication: f64,
    /// The longest time that a message takes. Each takes a random part of it, so that messages
    /// overtake each other.
    pub delay: Duration,
}

/// The end of a node in a [`MemoryNetwork`].
pub struct MemoryTransport {
    network: MemoryNetwork,
    /// The number under which the node has joined.
    number: u64,
}

/// Everybody who has joined, and the messages between them.
struct Switch {
    faults: LinkFaults,
    /// Those that have joined, by number: two processes may have the same name, as in a real
    /// network.
    nodes: BTreeMap<u64, JoinedNode>,
    joined: u64,
    links: BTreeMap<(u32, u32), Vec<Pending>>,
    sent: u64,
}

/// A node that takes part until it closes its transport, or is dropped with its inbox as by a
/// crash.
struct JoinedNode {
    address: String,
    agents: Vec<u32>,
    inbox: Weak<Inbox>,
}

/// A message under way.
struct Pending {
    due: Duration,
    bytes: Vec<u8>,
}

impl MemoryNetwork {
    /// The messages on one link that wait at most, as many as towards a neighbour on a real
    /// network.
    pub const DEPTH: usize = 16;

    /// A network that nobody has joined yet.
    pub fn new(clock: Arc<dyn Clock>, faults: LinkFaults) -> Self {
        let switch = Switch { faults, nodes: BTreeMap::new(), joined: 0, links: BTreeMap::new(), sent: 0 };
        Self { switch: Arc::new(Mutex::new(switch)), clock }
    }

    /// Adds the node that a configuration is of; what arrives goes into the inbox as long as
    /// somebody else holds that.
    pub fn join(&self, config: &Config, inbox: &Arc<Inbox>) -> Result<MemoryTransport, OpenError> {
        let me = config.me().ok_or_else(|| OpenError("this node is no member".into()))?;
        let (address, agents, inbox) = (me.address.clone(), me.agents.clone(), Arc::downgrade(inbox));
        let mut switch = self.lock();
        switch.nodes.retain(|_, node| node.inbox.strong_count() > 0);
        let number = switch.joined;
        switch.joined += 1;
        switch.nodes.insert(number, JoinedNode { address, agents, inbox });
        Ok(MemoryTransport { network: self.clone(), number })
    }

    /// Changes what happens to messages that are sent from now on.
    pub fn set_faults(&self, faults: LinkFaults) {
        self.lock().faults = faults;
    }

    /// Puts every message that is due into the inbox of its receiver; says how many these were.
    pub fn deliver(&self) -> usize {
        let now = self.clock.now();
        self.lock().deliver(|_, pending| pending.due <= now)
    }

    /// Delivers from a thread of its own until nobody uses the network any more, for nodes that run
    /// in real time.
    pub fn deliver_in_background(&self) -> std::io::Result<()> {
        // The clock may be any, so the time between two deliveries is short in real time.
        const EVERY: Duration = Duration::from_millis(1);
        let (switch, clock) = (Arc::downgrade(&self.switch), self.clock.clone());
        let deliver = move || {
            while let Some(switch) = switch.upgrade() {
                Self { switch, clock: clock.clone() }.deliver();
                std::thread::sleep(EVERY);
            }
        };
        std::thread::Builder::new().name("memory network".into()).spawn(deliver).map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, Switch> {
        self.switch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TransportFactory for MemoryNetwork {
    fn open(&self, config: &Config, inbox: &Arc<Inbox>) -> Result<OpenedTransport, OpenError> {
        Ok(OpenedTransport { transport: Arc::new(self.join(config, inbox)?), reconnect: None })
    }
}

impl Transport for MemoryTransport {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        let now = self.network.clock.now();
        let mut switch = self.network.lock();
        if switch.nodes.contains_key(&self.number) {
            switch.send(from, to, &bytes, now);
        }
    }

    fn greet(&self, node: &str, greeting: &Greeting) {
        let switch = self.network.lock();
        if !switch.nodes.contains_key(&self.number) {
            return;
        }
        let others = switch.nodes.iter().filter(|(number, _)| **number != self.number);
        for inbox in others.filter_map(|(_, other)| other.inbox.upgrade()) {
            inbox.greeting(node, greeting.to_string().as_bytes());
        }
    }

    fn reaches(&self, address: &str) -> bool {
        let switch = self.network.lock();
        switch.nodes.values().any(|node| node.address == address && node.inbox.strong_count() > 0)
    }

    fn close(&self) {
        let mut switch = self.network.lock();
        let agents = switch.nodes.get(&self.number).map(|node| node.agents.clone()).unwrap_or_default();
        switch.deliver(|from, _| agents.contains(&from));
        switch.nodes.remove(&self.number);
    }
}

impl Switch {
    /// Lets a message meet the faults of its link, and queues what is left of it.
    fn send(&mut self, from: u32, to: u32, bytes: &[u8], now: Duration) {
        let LinkFaults { seed, loss, duplication, delay } = self.faults;
        let mut stream = Stream::new(seed, from as usize, self.sent, Purpose::Faults);
        self.sent += 1;
        if stream.open01() < loss {
            return;
        }
        let copies = if stream.open01() < duplication { 2 } else { 1 };
        let link = self.links.entry((from, to)).or_default();
        for _ in 0..copies {
            if link.len() == MemoryNetwork::DEPTH {
                link.remove(0);
            }
            link.push(Pending { due: now + delay.mul_f64(stream.open01()), bytes: bytes.to_vec() });
        }
    }

    /// Delivers the messages that are wanted, by sender; says how many these were. What is for
    /// somebody who is not there is lost.
    fn deliver(&mut self, wanted: impl Fn(u32, &Pending) -> bool) -> usize {
        let mut delivered = 0;
        for (&(from, to), link) in &mut self.links {
            let receivers = self.nodes.values().filter(|node| node.agents.contains(&to));
            let inboxes: Vec<Arc<Inbox>> = receivers.filter_map(|node| node.inbox.upgrade()).collect();
            for Pending { bytes, .. } in link.extract_if(.., |pending| wanted(from, pending)) {
                delivered += 1;
                for inbox in &inboxes {
                    inbox.message(from, to, bytes.len(), || bytes.clone());
                }
            }
        }
        delivered
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;

    use super::*;
    use crate::clock::ManualClock;
    use crate::config::{Limits, Member};
    use crate::inbox::Input;

    /// Two nodes, of agent 0 and of agents 1 and 2.
    struct TwoNodes {
        clock: Arc<ManualClock>,
        network: MemoryNetwork,
        ends: [(MemoryTransport, Arc<Inbox>, Receiver<Input>); 2],
    }

    impl TwoNodes {
        fn new(faults: LinkFaults) -> Self {
            let clock = Arc::new(ManualClock::default());
            let network = MemoryNetwork::new(clock.clone(), faults);
            let ends = ["a", "b"].map(|node| join(&network, &clock, node));
            Self { clock, network, ends }
        }

        fn send(&self, number: u8) {
            self.ends[0].0.send(0, 1, vec![number]);
        }

        /// What has arrived at the second node.
        fn arrived(&self) -> Vec<u8> {
            let number = |input| if let Input::Message { bytes, .. } = input { Some(bytes[0]) } else { None };
            self.ends[1].2.try_iter().filter_map(number).collect()
        }
    }

    fn join(
        network: &MemoryNetwork,
        clock: &Arc<ManualClock>,
        node: &str,
    ) -> (MemoryTransport, Arc<Inbox>, Receiver<Input>) {
        let member = |name: &str, agents: &[u32]| Member {
            name: name.into(),
            agents: agents.into(),
            address: format!("{name}:1"),
            http: None,
        };
        let config = Config::new("r", node, vec![member("a", &[0]), member("b", &[1, 2])]);
        let limits = Limits { waiting: 1000, ..Limits::default() };
        let (inbox, inputs) = Inbox::new(limits, 100, Arc::default(), clock.clone());
        (network.join(&config, &inbox).unwrap(), inbox, inputs)
    }

    #[test]
    fn nothing_arrives_before_it_is_delivered() {
        let pair = TwoNodes::new(LinkFaults::default());
        pair.send(7);
        assert_eq!(pair.arrived(), [0; 0]);
        assert_eq!(pair.network.deliver(), 1);
        assert_eq!(pair.arrived(), [7]);
    }

    #[test]
    fn a_link_holds_the_newest_messages_only() {
        let pair = TwoNodes::new(LinkFaults::default());
        (0..40).for_each(|number| pair.send(number));
        pair.network.deliver();
        assert_eq!(pair.arrived(), (24..40).collect::<Vec<_>>());
    }

    #[test]
    fn delays_are_within_their_limit_and_change_the_order() {
        let pair = TwoNodes::new(LinkFaults { delay: Duration::from_millis(100), ..LinkFaults::default() });
        (0..16).for_each(|number| pair.send(number));
        let mut arrived = Vec::new();
        for _ in 0..100 {
            pair.clock.advance(Duration::from_millis(1));
            pair.network.deliver();
            arrived.extend(pair.arrived());
        }
        assert!(!arrived.is_sorted(), "{arrived:?}");
        arrived.sort_unstable();
        assert_eq!(arrived, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn closing_delivers_at_once_what_is_under_way() {
        let pair = TwoNodes::new(LinkFaults { delay: Duration::from_secs(60), ..LinkFaults::default() });
        pair.send(7);
        pair.ends[0].0.close();
        pair.send(8);
        assert_eq!(pair.arrived(), [7]);
    }

    #[test]
    fn faults_are_as_frequent_as_wanted_and_repeat_with_their_seed() {
        let run = |seed| {
            let faults = LinkFaults { seed, loss: 0.3, duplication: 0.2, delay: Duration::ZERO };
            let pair = TwoNodes::new(faults);
            let send = |number: u8| {
                pair.send(number);
                pair.network.deliver();
            };
            (0..200).for_each(send);
            pair.arrived()
        };
        let arrived = run(1);
        let mut distinct = arrived.clone();
        distinct.dedup();
        assert!((120..160).contains(&distinct.len()), "{}", distinct.len());
        assert!((15..45).contains(&(arrived.len() - distinct.len())), "{}", arrived.len() - distinct.len());
        assert_eq!(run(1), arrived);
        assert_ne!(run(2), arrived);
    }

    #[test]
    fn a_node_that_crashes_is_out_of_reach_and_two_of_one_name_both_hear() {
        let mut pair = TwoNodes::new(LinkFaults::default());
        assert!(pair.ends[0].0.reaches("b:1"));
        let twin = join(&pair.network, &pair.clock, "b");
        pair.send(7);
        pair.network.deliver();
        assert_eq!((pair.arrived(), twin.2.try_iter().count()), (vec![7], 1));
        drop(twin);
        pair.ends.swap(0, 1);
        let [b, a] = pair.ends;
        drop(b);
        assert!(!a.0.reaches("b:1") && a.0.reaches("a:1"));
    }

    #[test]
    fn a_thread_delivers_until_nobody_uses_the_network() {
        let TwoNodes { network, ends, .. } = TwoNodes::new(LinkFaults::default());
        network.deliver_in_background().unwrap();
        ends[0].0.send(0, 1, vec![7]);
        let arrived = ends[1].2.recv_timeout(Duration::from_secs(20));
        assert_eq!(arrived, Ok(Input::Message { from: 0, to: 1, bytes: vec![7] }));
        let switch = Arc::downgrade(&network.switch);
        drop((network, ends));
        // The thread holds the network for moments only.
        (0..20_000)
            .take_while(|_| switch.strong_count() > 0)
            .for_each(|_| std::thread::sleep(Duration::from_millis(1)));
        assert_eq!(switch.strong_count(), 0);
    }
}
