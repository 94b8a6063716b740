//! News that peers spread by gossip: closed edges and acknowledgements.

use std::collections::BTreeMap;
use std::hash::Hasher;

use twox_hash::XxHash64;

use super::gossip::{ACKS_PER_MESSAGE, Ack, EdgeClosure};
use super::table::Table;

/// Closed edges and acknowledgements, as one peer knows them.
///
/// Numbers are merged by the maximum within one life of the node that made them, and forgotten with
/// that life.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    /// (from, to) → (tag of the life of `from`, generation).
    closures: BTreeMap<(u32, u32), (u64, u64)>,
    /// (by, from) → (tag of the life of `from`, sequence).
    acks: BTreeMap<(u32, u32), (u64, u64)>,
    /// The number of entries to skip in the next message, so that all have their turn.
    cursor: usize,
}

impl News {
    /// The largest number of acknowledgements that are kept: those of all pairs of 64 nodes.
    const ACKS_KEPT: usize = 4096;

    /// Takes in that an edge was closed and returns whether that was unknown.
    pub(crate) fn add_closure(&mut self, closure: EdgeClosure) -> bool {
        let EdgeClosure { from, to, life, generation } = closure;
        raise(&mut self.closures, (from, to), (life, generation))
    }

    /// Takes in that a message has arrived.
    ///
    /// Where too many are known, the one after the new one is forgotten. It returns with later
    /// messages, since acknowledgements are cumulative.
    pub(crate) fn add_ack(&mut self, ack: Ack) {
        raise(&mut self.acks, (ack.by, ack.from), (ack.life, ack.sequence));
        if self.acks.len() > Self::ACKS_KEPT {
            let next = self.acks.range((ack.by, ack.from.wrapping_add(1))..).next().or(self.acks.first_key_value());
            let forgotten = next.map(|(key, _)| *key);
            forgotten.map(|key| self.acks.remove(&key));
        }
    }

    /// Forgets what was said of a node's messages, because its life is over.
    ///
    /// Closures of edges *towards* it stay: their generations count through the sender's life.
    pub(crate) fn forget(&mut self, node: u32) {
        self.closures.retain(|(from, _), _| *from != node);
        self.acks.retain(|(by, from), _| *from != node && *by != node);
    }

    /// At most `most` closed edges, for a message.
    pub(crate) fn closures(&self, most: usize) -> impl Iterator<Item = EdgeClosure> {
        let all = self.closures.iter().cycle().skip(self.cursor % self.closures.len().max(1));
        let closure = |(&(from, to), &(life, generation))| EdgeClosure { from, to, life, generation };
        all.take(most.min(self.closures.len())).map(closure)
    }

    /// Some acknowledgements for a message from `me` to `to`: first the one that concerns the
    /// receiver, then others in turn.
    pub(crate) fn acks_for(&mut self, me: u32, to: u32) -> Vec<Ack> {
        let ack = |(&(by, from), &(life, sequence)): (&(u32, u32), &(u64, u64))| Ack { by, from, life, sequence };
        let mut out = Vec::with_capacity(ACKS_PER_MESSAGE);
        out.extend(self.acks.get_key_value(&(me, to)).map(ack));
        let (others, start) = (self.acks.len(), self.cursor % self.acks.len().max(1));
        let first = self.acks.iter().skip(start).chain(self.acks.iter().take(start));
        out.extend(first.filter(|(key, _)| **key != (me, to)).map(ack).take(ACKS_PER_MESSAGE - out.len()));
        self.cursor = (self.cursor + ACKS_PER_MESSAGE - 1) % others.max(1);
        out
    }

    /// A hash of what is known of members and closed edges.
    ///
    /// Messages carry it: a receiver with another hash knows that one of the two is behind.
    pub(crate) fn digest(&self, table: &Table) -> u64 {
        let mut hash = XxHash64::with_seed(0);
        for (node, state) in table.entries() {
            hash.write_u32(node);
            hash.write_u64(state.incarnation.tag());
            hash.write_u8(u8::from(state.dead));
        }
        for ((from, to), (life, generation)) in &self.closures {
            for word in [u64::from(*from), u64::from(*to), *life, *generation] {
                hash.write_u64(word);
            }
        }
        hash.finish()
    }
}

/// Keeps the greater number of one life; a number of another life replaces it. Returns whether
/// anything has changed.
fn raise(map: &mut BTreeMap<(u32, u32), (u64, u64)>, key: (u32, u32), (life, number): (u64, u64)) -> bool {
    let known = map.entry(key).or_insert((life, 0));
    let news = known.0 != life || known.1 < number;
    if news {
        *known = (life, number);
    }
    news
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closure(from: u32, life: u64, generation: u64) -> EdgeClosure {
        EdgeClosure { from, to: 9, life, generation }
    }

    #[test]
    fn generations_only_grow_within_a_life() {
        let mut news = News::default();
        assert!(news.add_closure(closure(1, 5, 2)));
        assert!(!news.add_closure(closure(1, 5, 2)) && !news.add_closure(closure(1, 5, 1)), "old news");
        assert!(news.add_closure(closure(1, 6, 1)), "another life counts anew");
        assert_eq!(news.closures(9).collect::<Vec<_>>(), [closure(1, 6, 1)]);
    }

    #[test]
    fn the_end_of_a_life_ends_its_closures_and_acks() {
        let mut news = News::default();
        for (by, from) in [(1, 2), (2, 1), (2, 3)] {
            news.add_ack(Ack { by, from, life: 0, sequence: 1 });
            news.add_closure(EdgeClosure { from, to: by, life: 0, generation: 1 });
        }
        news.forget(1);
        assert_eq!(news.acks_for(0, 9), [Ack { by: 2, from: 3, life: 0, sequence: 1 }]);
        assert_eq!(news.closures(9).map(|closure| closure.from).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_message_acknowledges_its_receiver_first_and_all_others_in_turn() {
        let mut news = News::default();
        (0..40).for_each(|from| news.add_ack(Ack { by: 50, from, life: 0, sequence: 1 }));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..40 {
            let acks = news.acks_for(50, 17);
            assert_eq!((acks.len(), acks[0].from), (ACKS_PER_MESSAGE, 17));
            seen.extend(acks.iter().map(|ack| ack.from));
        }
        assert_eq!(seen.len(), 40);
    }

    #[test]
    fn the_number_of_acks_is_bounded() {
        let mut news = News::default();
        for node in 0..2 * News::ACKS_KEPT as u32 {
            news.add_ack(Ack { by: node / 100, from: node % 100, life: 0, sequence: 1 });
        }
        assert_eq!(news.acks.len(), News::ACKS_KEPT);
    }

    #[test]
    fn the_digest_tells_different_knowledge_apart() {
        let (mut news, table) = (News::default(), Table::new(2));
        let before = news.digest(&table);
        news.add_ack(Ack { by: 1, from: 0, life: 0, sequence: 1 });
        assert_eq!(news.digest(&table), before, "acknowledgements are not part of it");
        news.add_closure(closure(1, 5, 2));
        assert_ne!(news.digest(&table), before);
    }
}
