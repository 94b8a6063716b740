//! Nodes with certificates seal what they say of themselves.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use fabnet_core::Peer;
use fabnet_core::peer::{Declaration, Effect, Event, Incarnation, SealOrigin, SealScheme, Unsealed};
use fabnet_net::{Inbox, Input, Limits, MemberKeys, MemoryTransport, Transport};

use crate::cluster::{Cluster, TICK, setup};

#[test]
fn nodes_that_seal_reach_the_answer() {
    let mut cluster = Cluster::new(4, 300, "");
    cluster.secure();
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
    let mut without = Cluster::new(4, 300, "");
    without.start_all();
    without.run_to_end();
    let error = cluster.solution(2).into_iter().zip(without.solution(2)).map(|(one, other)| (one - other).abs());
    assert!(error.fold(0.0, f64::max) < 1e-9);
}

/// In lockstep all bits are the same, since seals touch no numbers.
#[test]
fn seals_change_no_bit_in_lockstep() {
    let answer = |secure: bool| {
        let mut cluster = Cluster::new(3, 100, "pace = \"lockstep\"");
        if secure {
            cluster.secure();
        }
        cluster.start_all();
        cluster.run_to_end();
        cluster.assert_all_done();
        cluster.solution(0)
    };
    assert_eq!(answer(true), answer(false));
}

#[test]
fn a_node_that_starts_learns_the_key_of_one_that_is_away() {
    let mut cluster = Cluster::new(4, 100_000, "");
    cluster.secure();
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(3) > 20);
    let life = |cluster: &Cluster, of: u32| cluster.nodes[2].as_ref().unwrap().peers().next().unwrap().table().get(of);
    let (first, third) = (life(&cluster, 0).unwrap(), life(&cluster, 3).unwrap());
    cluster.crash(3);
    cluster.crash(2);
    cluster.step_for(TICK * 10);
    cluster.start(2);
    cluster.step_until("the life of one that is away is believed", |cluster| {
        life(cluster, 3).map(|state| state.incarnation) == Some(third.incarnation)
    });
    assert_eq!(life(&cluster, 0), Some(first));
    cluster.start(3);
    cluster.step_until("it is believed again", |cluster| {
        life(cluster, 3).is_some_and(|state| !state.dead && state.incarnation > third.incarnation)
    });
}

/// Counters of true lives are milliseconds since 1970.
const ABSURD: u64 = 1 << 60;

/// A scheme that believes everything, and seals with the key of one member.
#[derive(Debug)]
struct Gullible(Arc<dyn SealScheme>);

impl SealScheme for Gullible {
    fn length(&self) -> usize {
        self.0.length()
    }

    fn seal(&self, declaration: &Declaration) -> Vec<u8> {
        self.0.seal(declaration)
    }

    fn origin(&self, _declaration: &Declaration, _seal: &[u8]) -> SealOrigin {
        SealOrigin::Owner
    }
}

/// Member `n2`, which has a peer of its own for agent 0 as well, in a life that agent 0 never had.
struct Liar {
    peer: Peer<f64>,
    transport: MemoryTransport,
    inputs: Receiver<Input>,
    _inbox: Arc<Inbox>,
}

impl Liar {
    fn new(cluster: &Cluster, is_sealed: bool) -> Self {
        let config = &cluster.configs[2];
        let (plan, clock) = (cluster.plan(), cluster.clock.clone());
        let keys = MemberKeys::open(cluster.disks[2].clone(), config).unwrap();
        let own: Arc<dyn SealScheme> = if is_sealed { Arc::new(keys.unwrap()) } else { Arc::new(Unsealed) };
        let scheme = Arc::new(Gullible(own));
        let run = config.run_digest(&plan.text_of_digest(), is_sealed).number();
        let (inbox, inputs) = Inbox::new(Limits::default(), 1 << 20, Arc::default(), clock);
        let transport = cluster.network.join(config, &inbox).unwrap();
        let begin = |agent, counter| {
            let task = setup(&plan).task(agent, run, 10);
            Peer::sealed(task, scheme.clone(), Incarnation { counter, nonce: 1 }, 0, None)
        };
        let mut liar = Self { peer: begin(2, 1), transport, inputs, _inbox: inbox };
        let mut false_peer = begin(0, ABSURD);
        let mut said = Vec::new();
        false_peer.meet(&fabnet_core::peer::Table::of_living(3, [(2, liar.peer.incarnation())]));
        false_peer.handle(Event::Stored { ticket: 0, safe: true }, &mut said);
        (0..3).for_each(|_| false_peer.handle(Event::Tick, &mut said));
        liar.handle(Event::Stored { ticket: 0, safe: true });
        for effect in said {
            if let Effect::Send { to: 2, bytes } = effect {
                liar.handle(Event::Message(bytes));
            }
        }
        assert_eq!(liar.peer.table().get(0).map(|state| state.incarnation.counter), Some(ABSURD));
        liar
    }

    /// Says what it believes, like an honest node.
    fn step(&mut self) {
        while let Ok(input) = self.inputs.try_recv() {
            if let Input::Message { bytes, .. } = input {
                self.handle(Event::Message(bytes));
            }
        }
        self.handle(Event::Tick);
    }

    fn handle(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.peer.handle(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, bytes } => self.transport.send(2, to, bytes),
                Effect::Store { ticket, .. } => self.handle(Event::Stored { ticket, safe: true }),
            }
        }
    }
}

/// What node 1 believes of agent 0 after member 2 has lied for five seconds, and the seals that it
/// found to be forged.
fn after_a_lie(is_sealed: bool) -> (Incarnation, u64) {
    let mut cluster = Cluster::new(3, 100_000, "start = 2");
    if is_sealed {
        cluster.secure();
    }
    let mut liar = Liar::new(&cluster, is_sealed);
    (0..2).for_each(|node| cluster.start(node));
    for _ in 0..500 {
        cluster.step();
        liar.step();
    }
    let peer = cluster.nodes[1].as_ref().unwrap().peers().next().unwrap();
    (peer.table().get(0).unwrap().incarnation, peer.counters().forged)
}

#[test]
fn no_member_can_take_the_life_of_another_from_it() {
    let (believed, forged) = after_a_lie(true);
    assert!(believed.counter < ABSURD && forged > 0, "{believed:?}, {forged} forged seals");
    let (believed, _) = after_a_lie(false);
    assert!(believed.counter >= ABSURD, "without seals the lie is believed: {believed:?}");
}
