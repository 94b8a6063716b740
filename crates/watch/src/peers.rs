//! Frames of peers.

use fabnet_core::{Peer, Scalar};

use crate::alphabet::age_letter;
use crate::edge_numbers::EdgeNumbers;
use crate::{ByAgent, RoundEdges, WatchFrame};

/// Makes frames of the peers of a run, and remembers what earlier ones have said.
#[derive(Debug, Default)]
pub struct PeerFrames {
    edges: EdgeNumbers,
    /// The round of its receiver in which the last message over each edge was used.
    used: Vec<Option<u64>>,
    /// What was last known of each agent, also of those that are down.
    last: Vec<LastKnown>,
    epochs: Option<ByAgent<u64>>,
    lives: Option<ByAgent<u64>>,
    refusals: Option<ByAgent<u64>>,
    /// The largest mass residual so far.
    residual: u64,
}

/// What was last known of an agent.
#[derive(Clone, Copy, Debug, Default)]
struct LastKnown {
    round: u64,
    epoch: u64,
    life: u64,
    refused: u64,
    bytes: u64,
}

impl PeerFrames {
    /// A frame of all peers at a time, by agent; those that are down have none.
    pub fn frame<T: Scalar>(&mut self, t: f64, mut peers: Vec<Option<&mut Peer<T>>>) -> WatchFrame {
        self.last.resize(peers.len(), LastKnown::default());
        for peer in peers.iter().flatten() {
            self.last[peer.node() as usize] = LastKnown {
                round: peer.round(),
                epoch: peer.epoch(),
                life: peer.incarnation().counter,
                refused: peer.counters().malformed + peer.counters().refused,
                bytes: peer.costs().bytes,
            };
        }
        let k = self.last.iter().map(|last| last.round).max().unwrap_or(0);
        let scheduled = self.look_at_edges(&mut peers);
        let of = |number: fn(&LastKnown) -> u64| self.last.iter().map(number).collect::<Vec<u64>>();
        let (epochs, lives, refusals) = (of(|last| last.epoch), of(|last| last.life), of(|last| last.refused));
        let residual = peers.iter().flatten().map(|peer| peer.ledger().residual()).max().unwrap_or(0);
        self.residual = self.residual.max(residual);
        WatchFrame {
            t,
            k,
            s: Some(peers.iter().map(|peer| state(peer.as_deref())).collect()),
            r: Some(self.last.iter().map(|last| k - last.round).collect()),
            a: Some(peers.iter_mut().map(|peer| peer.as_mut().map(|peer| peer.pull_age())).collect()),
            b: Some(self.last.iter().map(|last| last.bytes).sum()),
            ne: self.edges.say_new(),
            q: Some(RoundEdges { i: scheduled }),
            g: Some(self.ages()),
            p: Some(self.parked(&peers)),
            ep: ByAgent::if_changed(epochs, &mut self.epochs),
            li: ByAgent::if_changed(lives, &mut self.lives),
            rf: ByAgent::if_changed(refusals, &mut self.refusals),
            m: Some(residual),
            mx: Some(self.residual),
            ..WatchFrame::default()
        }
    }

    /// Notes over which edges messages came, and returns the edges of the last round of each
    /// receiver, ascending.
    fn look_at_edges<T: Scalar>(&mut self, peers: &mut [Option<&mut Peer<T>>]) -> Vec<usize> {
        let mut scheduled = Vec::new();
        for peer in peers.iter_mut().flatten() {
            let to = peer.node();
            let last = peer.round().saturating_sub(1);
            scheduled.extend(peer.sources_in(last).map(|from| self.edges.number((from, to))));
            for (from, round) in peer.used_in() {
                let number = self.edges.number((from, to));
                self.used.resize(self.edges.edges().len(), None);
                self.used[number] = Some(round);
            }
        }
        self.used.resize(self.edges.edges().len(), None);
        scheduled.sort_unstable();
        scheduled
    }

    /// A letter for each edge: the rounds of its receiver since a message was used, none in the
    /// last one; a space where none ever was.
    fn ages(&self) -> String {
        let age = |(&(_, to), used): (&(u32, u32), &Option<u64>)| {
            let last = self.last[to as usize].round.saturating_sub(1);
            used.map_or(' ', |used| age_letter(last.saturating_sub(used)))
        };
        self.edges.edges().iter().zip(&self.used).map(age).collect()
    }

    /// The edges on which mass is parked.
    fn parked<T: Scalar>(&self, peers: &[Option<&mut Peer<T>>]) -> Vec<(usize, f64)> {
        let parked = peers.iter().flatten().flat_map(|peer| {
            let from = peer.node();
            peer.parked().filter_map(move |(to, mass)| Some((self.edges.find((from, to))?, mass)))
        });
        parked.collect()
    }
}

/// Whether an agent runs, has not done a round yet, or is down.
fn state<T: Scalar>(peer: Option<&Peer<T>>) -> char {
    match peer {
        None => 'd',
        Some(peer) if peer.round() == 0 => 'j',
        Some(_) => 'u',
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fabnet_core::algorithm::{PushPull, Steps};
    use fabnet_core::direction::Gradient;
    use fabnet_core::peer::{
        Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Unit, WordLength,
    };
    use fabnet_core::topology::Ring;
    use fabnet_core::weights::Uniform;
    use fabnet_core::{Dim, GradientMut, Level, Point, Problem, Scratch};

    use super::*;

    /// `½ y²` for each of three agents.
    struct Bowl;

    impl Problem<f64> for Bowl {
        fn agents(&self) -> usize {
            3
        }

        fn dim(&self) -> Dim {
            Dim { outer: 0, inner: 1 }
        }

        fn add_gradient(&self, _: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _: &mut Scratch<f64>) {
            to.y.iter_mut().zip(at.y).for_each(|(slope, y)| *slope += to.scale.1 * y);
        }

        fn value(&self, _: Level, at: Point<'_, f64>) -> f64 {
            at.y.iter().map(|y| 0.5 * y * y).sum()
        }
    }

    fn peer(node: u32) -> Peer<f64> {
        let config = PeerConfig {
            algorithm: Arc::new(PushPull::new(&Bowl, Gradient::new(), Steps::same(0.1)).unwrap()),
            problem: Arc::new(Bowl),
            seed: 0,
            node,
            run: 7,
            unit: Unit::default(),
            words: WordLength::default(),
            schedule: NeighbourSource::Living(Arc::new(|agents| Arc::new(Ring::new(agents)))),
            weights: Arc::new(Uniform),
            policy: Policy::new(SyncMode::Free, 3),
        };
        Peer::new(config, Incarnation { counter: 1, nonce: u64::from(node) }, 0, None)
    }

    /// One tick of all peers, whose messages arrive unless they are lost.
    fn tick(peers: &mut [Peer<f64>], event: &dyn Fn() -> Event, lost: impl Fn(u32, u32) -> bool) {
        let mut sent = Vec::new();
        for peer in &mut *peers {
            let mut effects = Vec::new();
            peer.handle(event(), &mut effects);
            sent.extend(effects.into_iter().map(|effect| (peer.node(), effect)));
        }
        for (from, effect) in sent {
            if let Effect::Send { to, bytes } = effect
                && !lost(from, to)
            {
                peers[to as usize].handle(Event::Message(bytes), &mut Vec::new());
            }
        }
    }

    #[test]
    fn a_frame_says_what_peers_say_of_themselves() {
        let mut peers: Vec<Peer<f64>> = (0..3).map(peer).collect();
        let mut frames = PeerFrames::default();
        let mut look = |peers: &mut [Peer<f64>], down: usize| {
            let seen = peers.iter_mut().enumerate().map(|(node, peer)| Some(peer).filter(|_| node != down));
            frames.frame(1.5, seen.collect())
        };
        assert_eq!(look(&mut peers, 9).s.as_deref(), Some("jjj"));
        tick(&mut peers, &|| Event::Stored { ticket: 0, safe: true }, |_, _| false);
        (0..30).for_each(|_| tick(&mut peers, &|| Event::Tick, |_, _| false));
        let frame = look(&mut peers, 9);
        assert_eq!((frame.t, frame.k, frame.s.as_deref()), (1.5, peers[0].round(), Some("uuu")));
        assert_eq!(
            (frame.m, frame.mx, frame.b),
            (Some(0), Some(0), Some(peers.iter().map(|peer| peer.costs().bytes).sum()))
        );
        // On a ring of three, each hears one other; all messages of the last round have arrived.
        let scheduled = frame.q.unwrap().i;
        let ages: Vec<char> = frame.g.unwrap().chars().collect();
        assert_eq!((scheduled.len(), scheduled.iter().all(|&edge| ages[edge] == '0')), (3, true), "{ages:?}");
        (0..5).for_each(|_| tick(&mut peers, &|| Event::Tick, |from, _| from == 0));
        let frame = look(&mut peers, 2);
        assert_eq!(frame.s.as_deref(), Some("uud"));
        assert!(frame.g.unwrap().contains('4'), "the last message of agent 0 was used four rounds ago");
        assert_eq!(frame.ep, None, "epochs have not changed");
    }
}
