//! A member that lies: what it says in its own name and of others.
//!
//! The transport says who has sent a message, so a liar sends in its own name only. Its node runs a
//! peer like all others, whose true messages tell it rounds, lives and seals; with these it makes
//! its lies up.

use fabnet_core::Peer;
use fabnet_core::peer::{Claim, Declaration, Incarnation, SealScheme};

use super::forgery::Forgery;
use super::sampler::FaultSampler;
use super::seals::NodeKey;
use super::wire::{ChunkLengths, WireMessage, header};

/// A count that no run comes to, and that messages may still hold.
const ABSURD: u64 = 1 << 61;
/// Epochs that one message may be ahead.
const EPOCHS_AHEAD: usize = 1 << 20;
/// The number of copies of a message in a flood.
const FLOOD: usize = 12;
/// The scalars of a liar are at most this large. Larger ones would bring honest peers to points
/// from which their own gradients are too large for the ledger.
const LARGEST_SCALAR: f64 = 50.0;

/// Kinds of entries in the control section.
mod part {
    pub(super) const STATES: u32 = 1;
    pub(super) const CLOSURES: u32 = 2;
    pub(super) const HEARTBEATS: u32 = 3;
    pub(super) const ACKS: u32 = 4;
    pub(super) const RECEIPTS: u32 = 5;
}

/// A liar at the moment in which its peer sends a true message.
pub(super) struct Liar<'a> {
    pub(super) peer: &'a Peer<f64>,
    pub(super) seed: u64,
    pub(super) lengths: &'a ChunkLengths,
    pub(super) sampler: &'a mut FaultSampler,
}

impl Liar<'_> {
    /// The lies that follow a true message, with their receivers: none or one, now and then many.
    pub(super) fn lies(&mut self, truth: WireMessage<'_>) -> Vec<(u32, Vec<u8>)> {
        if self.sampler.below(2) == 0 {
            return Vec::new();
        }
        let mut lie = Forgery::from(truth);
        let to = self.address(&mut lie);
        self.number(&mut lie, truth);
        match self.sampler.below(10) {
            0 | 1 => self.lives_of_others(&mut lie, truth),
            2 => self.deaths(&mut lie),
            3 => self.own_life(&mut lie),
            4 => self.heartbeats(&mut lie),
            5 => self.acknowledgements(&mut lie),
            6 => self.receipts(&mut lie),
            7 => self.closures(&mut lie),
            8 => self.times(&mut lie, truth),
            _ => self.sums(&mut lie, truth),
        }
        let copies = if self.sampler.below(16) == 0 { FLOOD } else { 1 };
        let bytes = lie.bytes();
        vec![(to, bytes); copies]
    }

    /// Chooses a receiver, in the life that the liar knows of it.
    fn address(&mut self, lie: &mut Forgery) -> u32 {
        let nodes = self.peer.table().nodes();
        let to = (self.peer.node() as usize + 1 + self.sampler.below(nodes - 1)) % nodes;
        let Incarnation { counter, nonce } = self.life_of(to as u32);
        lie.address(to as u32, (counter, nonce));
        to as u32
    }

    /// Numbers a lie like the true message, as the next one, or as one that nothing can follow.
    fn number(&mut self, lie: &mut Forgery, truth: WireMessage<'_>) {
        let ahead = [0, 1, ABSURD][self.sampler.below(30).saturating_sub(27)];
        lie.set(header::SEQUENCE, truth.sequence() + ahead);
    }

    fn life_of(&self, node: u32) -> Incarnation {
        self.peer.table().get(node).unwrap_or_default().incarnation
    }

    fn others(&self) -> Vec<u32> {
        (0..self.peer.table().nodes() as u32).filter(|&node| node != self.peer.node()).collect()
    }

    /// A seal by the liar's own key.
    fn seal(&self, node: u32, incarnation: Incarnation, claim: Claim) -> Vec<u8> {
        let declaration = Declaration { run: self.peer.config().run, node, incarnation, claim };
        NodeKey::new(self.seed, self.peer.node()).seal(&declaration)
    }

    /// Lives of all others that they have never lived, alive or over, with all kinds of seals:
    /// none, any bytes, that of the liar, and those that the owners have made of older lives.
    fn lives_of_others(&mut self, lie: &mut Forgery, truth: WireMessage<'_>) {
        let (kind, dead) = (self.sampler.below(4), self.sampler.below(3) == 0);
        let ahead = [1, 2, 1 << 20, ABSURD][self.sampler.below(4)];
        let (true_seals, mut words, mut seals) = (truth.seals_of_lives(NodeKey::SEAL), Vec::new(), Vec::new());
        for node in self.others() {
            let known = self.life_of(node);
            let life = Incarnation { counter: (known.counter + ahead).min(2 * ABSURD), nonce: self.sampler.bits() };
            words.extend([u64::from(node) | u64::from(dead) << 32, life.counter, life.nonce]);
            seals.push(match kind {
                0 => vec![0; NodeKey::SEAL],
                1 => (0..NodeKey::SEAL).map(|_| self.sampler.bits() as u8).collect(),
                2 => self.seal(node, life, Claim::Lives),
                _ => true_seals.get(&node).cloned().unwrap_or_else(|| vec![0; NodeKey::SEAL]),
            });
        }
        lie.add_part(part::STATES, words);
        lie.add_seals(seals);
    }

    /// Death records of all others in the lives that they live.
    fn deaths(&mut self, lie: &mut Forgery) {
        let record = |node: u32| {
            let life = self.life_of(node);
            [u64::from(node) | 1 << 32, life.counter, life.nonce]
        };
        let words: Vec<u64> = self.others().into_iter().flat_map(record).collect();
        lie.add_part(part::STATES, words);
        lie.add_seals(self.others().into_iter().map(|_| vec![0; NodeKey::SEAL]));
    }

    /// A life of the liar's own, which it has sealed.
    fn own_life(&mut self, lie: &mut Forgery) {
        let (me, known) = (self.peer.node(), self.peer.incarnation());
        let ahead = self.sampler.below(1 << 16) as u64;
        let life = Incarnation { counter: (known.counter + ahead).min(ABSURD), nonce: self.sampler.bits() };
        let left = self.sampler.below(4) == 0;
        lie.set(header::SENDER, life.counter);
        lie.set(header::SENDER + 1, life.nonce);
        lie.add_part(part::STATES, [u64::from(me) | u64::from(left) << 32, life.counter, life.nonce]);
        lie.add_seals([self.seal(me, life, if left { Claim::Left } else { Claim::Lives })]);
    }

    /// Heartbeats that nobody can follow, of members and of the dead.
    fn heartbeats(&mut self, lie: &mut Forgery) {
        let count = [u64::MAX, ABSURD, 1 << 20][self.sampler.below(3)];
        let words: Vec<u64> = self.others().into_iter().flat_map(|node| [self.who(node), count]).collect();
        lie.add_part(part::HEARTBEATS, words);
    }

    /// A node with the low bits of the tag of its life.
    fn who(&self, node: u32) -> u64 {
        u64::from(node) | self.life_of(node).tag() << 32
    }

    /// A pair of any two nodes.
    fn pair(&mut self) -> (u32, u32) {
        let nodes = self.peer.table().nodes();
        (self.sampler.node(nodes), self.sampler.node(nodes))
    }

    /// A number of a message: one that may have been sent, or any.
    fn sequence(&mut self) -> u64 {
        if self.sampler.below(2) == 0 { self.sampler.below(1000) as u64 } else { self.sampler.bits() }
    }

    fn acknowledgements(&mut self, lie: &mut Forgery) {
        let mut words = Vec::new();
        for _ in 0..8 {
            let (by, from) = self.pair();
            words.extend([u64::from(by) | u64::from(from) << 32, self.life_of(from).tag(), self.sequence()]);
        }
        lie.add_part(part::ACKS, words);
    }

    /// Receipts of others' messages, and of segments that nobody has.
    fn receipts(&mut self, lie: &mut Forgery) {
        let mut words = Vec::new();
        for _ in 0..256 {
            let (by, from) = self.pair();
            let lives = self.life_of(by).tag() & u64::from(u32::MAX) | self.life_of(from).tag() << 32;
            let mask = [u64::from(u32::MAX), self.sampler.bits() & 0xFFFF][self.sampler.below(2)];
            let carried = mask | (self.sampler.below(8) as u64) << 32;
            words.extend([u64::from(by) | u64::from(from) << 32, lives, carried, self.sequence()]);
        }
        lie.add_part(part::RECEIPTS, words);
    }

    /// Closed edges of others, with the seal of the liar, and of its own to everybody.
    fn closures(&mut self, lie: &mut Forgery) {
        let (generation, mut words, mut seals) = (1 + self.sampler.below(1 << 20) as u64, Vec::new(), Vec::new());
        let own = self.sampler.below(4) == 0;
        for _ in 0..self.peer.table().nodes() {
            let (from, to) = self.pair();
            let from = if own { self.peer.node() } else { from };
            let life = self.life_of(from);
            words.extend([u64::from(from) | u64::from(to) << 32, life.tag(), generation]);
            seals.push(self.seal(from, life, Claim::Closed { to, generation }));
        }
        lie.add_part(part::CLOSURES, words);
        lie.add_seals(seals);
    }

    /// Epochs, rounds, generations and digests that cannot be, and requests that never end.
    fn times(&mut self, lie: &mut Forgery, truth: WireMessage<'_>) {
        let epoch = truth.edge().epoch;
        match self.sampler.below(5) {
            0 => lie.set(header::EPOCH, epoch + self.sampler.below(EPOCHS_AHEAD) as u64),
            1 => lie.set(header::EPOCH, epoch + ABSURD),
            2 => lie.set(header::ROUND, ABSURD),
            3 => (header::HELD..header::HELD + 3).for_each(|place| lie.set(place, self.sampler.bits())),
            _ => lie.set_flags(0b1000),
        }
    }

    /// Scalars and sums of mass that were never there.
    fn sums(&mut self, lie: &mut Forgery, truth: WireMessage<'_>) {
        if !truth.carries_mass() || !truth.carries_scalars() {
            return;
        }
        let (generation, bits) = (truth.edge().generation, 20 + self.sampler.below(44));
        lie.set(header::GENERATION, generation + [0, 1, ABSURD][self.sampler.below(12).saturating_sub(9)]);
        let number = self.sampler.below(1 << 20);
        let scalar = (number as f64 / f64::from(1 << 19) - 1.0) * LARGEST_SCALAR;
        let mass = self.sampler.bits().cast_signed() >> (63 - bits);
        lie.add_body(self.lengths, || scalar, || mass);
    }
}

#[cfg(test)]
mod tests;
