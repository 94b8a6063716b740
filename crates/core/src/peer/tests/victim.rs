//! One peer that hears what a test wants it to hear.

use std::sync::Arc;

use super::fixtures::{Keyed, configs, life};
use crate::Mask;
use crate::peer::membership::GossipPayload;
use crate::peer::wire::tests::in_full;
use crate::peer::{Contents, Effect, Event, Header, Peer, SealScheme, Table, Unsealed};
use crate::topology::Complete;

/// A count that no run comes to.
pub(super) const ABSURD: u64 = 1 << 62;
/// The member that lies.
pub(super) const LIAR: u32 = 2;

/// One honest peer among three nodes, and the messages that it has sent.
pub(super) struct Victim {
    pub(super) peer: Peer<f64>,
    pub(super) sent: Vec<Vec<u8>>,
}

impl Victim {
    /// A peer without seals.
    pub(super) fn new() -> Self {
        Self::of(Arc::new(Unsealed))
    }

    /// A peer that believes lives only with the seals of their owners.
    pub(super) fn sealed() -> Self {
        Self::of(Arc::new(Keyed(0)))
    }

    fn of(scheme: Arc<dyn SealScheme>) -> Self {
        let config = configs(3, false, Complete::new).into_iter().next().unwrap();
        let mut victim = Self { peer: Peer::sealed(config, scheme, life(0), 0, None), sent: Vec::new() };
        victim.peer.meet(&Table::of_living(3, (0..3).map(|node| (node, life(node)))));
        victim.tell(Event::Stored { ticket: 0, safe: true });
        victim.tell(Event::Tick);
        victim
    }

    /// Hands an event to the peer; what it stores is safe at once.
    pub(super) fn tell(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.peer.handle(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { bytes, .. } => self.sent.push(bytes),
                Effect::Store { ticket, .. } => self.tell(Event::Stored { ticket, safe: true }),
            }
        }
    }

    /// A tick, before which the others say that they are alive.
    pub(super) fn hear_of_others(&mut self) {
        let number = 1_000_000 + self.peer.clock.ticks();
        for from in 1..3 {
            let incarnation = self.peer.table().get(from).unwrap_or_default().incarnation;
            let digest = self.peer.membership.digest();
            let header = Header { from, incarnation, digest, beat: self.peer.clock.ticks(), ..self.header(number) };
            self.hear(&header, &GossipPayload::default());
        }
        self.tell(Event::Tick);
    }

    /// A header of the liar that is right in every respect.
    pub(super) fn header(&self, sequence: u64) -> Header {
        Header {
            from: LIAR,
            to: 0,
            incarnation: life(LIAR),
            to_incarnation: life(0),
            epoch: self.peer.epoch(),
            round: self.peer.round(),
            sequence,
            generation: 0,
            held: 0,
            beat: sequence,
            digest: 0,
            mask: Mask::ALL,
            contents: Contents::default(),
        }
    }

    /// Lets the peer receive a message without scalars and mass.
    pub(super) fn hear(&mut self, header: &Header, gossip: &GossipPayload) {
        let bytes = in_full::<f64>(&self.peer.format, header, gossip, (&[], &[]));
        self.tell(Event::Message(bytes));
    }
}
