//! What peers tell each other beside their own state: closed edges, and who has heard whom.

use std::collections::BTreeMap;
use std::hash::Hasher;

use twox_hash::XxHash64;

use super::membership::Table;
use super::message::{ACKS, Ack, Close};

/// What goes round. Everything is merged by the maximum within one life of a node, and forgotten with that life.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// (from, to) → (life of from, generation).
    closes: BTreeMap<(u32, u32), (u64, u64)>,
    /// (by, from) → (life of from, sequence).
    acks: BTreeMap<(u32, u32), (u64, u64)>,
    /// Where the next message goes on.
    cursor: usize,
}

impl News {
    /// All pairs of 64 nodes.
    const ACKS_KNOWN: usize = 4096;

    /// Takes in that an edge was closed, in the sender's present life; says whether that is new.
    pub(super) fn close(&mut self, close: Close) -> bool {
        grow(&mut self.closes, (close.from, close.to), (close.life, close.generation))
    }

    /// Takes in that a message has arrived. Where too many are known, others are forgotten in turn: they return with later messages.
    pub(super) fn ack(&mut self, ack: Ack) {
        grow(&mut self.acks, (ack.by, ack.from), (ack.life, ack.sequence));
        if self.acks.len() > Self::ACKS_KNOWN {
            let next = self.acks.range((ack.by, ack.from.wrapping_add(1))..).next().or(self.acks.first_key_value());
            let forgotten = next.map(|(key, _)| *key);
            forgotten.map(|key| self.acks.remove(&key));
        }
    }

    /// A node's life is over: so is what was said of its messages. Edges towards it stay closed so many times, whoever it is now.
    pub(super) fn forget(&mut self, node: u32) {
        self.closes.retain(|(from, _), _| *from != node);
        self.acks.retain(|(by, from), _| *from != node && *by != node);
    }

    /// Closed edges, as many as a message can carry.
    pub(super) fn closes(&self, most: usize) -> impl Iterator<Item = Close> {
        let all = self.closes.iter().cycle().skip(self.cursor % self.closes.len().max(1));
        all.take(most.min(self.closes.len())).map(|(&(from, to), &(life, generation))| Close {
            from,
            to,
            life,
            generation,
        })
    }

    /// A few acknowledgements, first the one that concerns the receiver, then others in turn.
    pub(super) fn acks_for(&mut self, me: u32, to: u32) -> Vec<Ack> {
        let ack = |(&(by, from), &(life, sequence)): (&(u32, u32), &(u64, u64))| Ack { by, from, life, sequence };
        let mut out = Vec::with_capacity(ACKS);
        out.extend(self.acks.get_key_value(&(me, to)).map(ack));
        let (others, start) = (self.acks.len(), self.cursor % self.acks.len().max(1));
        let first = self.acks.iter().skip(start).chain(self.acks.iter().take(start));
        out.extend(first.filter(|(key, _)| **key != (me, to)).map(ack).take(ACKS - out.len()));
        self.cursor = (self.cursor + ACKS - 1) % others.max(1);
        out
    }

    /// One number for what is known of members and closed edges.
    pub(super) fn digest(&self, table: &Table) -> u64 {
        let mut hash = XxHash64::with_seed(0);
        for (node, standing) in table.entries() {
            hash.write_u32(node);
            hash.write_u64(standing.incarnation.tag());
            hash.write_u8(u8::from(standing.dead));
        }
        for ((from, to), (life, generation)) in &self.closes {
            for word in [u64::from(*from), u64::from(*to), *life, *generation] {
                hash.write_u64(word);
            }
        }
        hash.finish()
    }
}

/// Keeps the greater; another life takes the place of one that is over.
fn grow(map: &mut BTreeMap<(u32, u32), (u64, u64)>, key: (u32, u32), (life, number): (u64, u64)) -> bool {
    let known = map.entry(key).or_insert((life, 0));
    let news = known.0 != life || known.1 < number;
    if news {
        *known = (life, number);
    }
    news
}
