//! News that peers spread by gossip: closed edges and acknowledgements.

use std::collections::BTreeMap;
use std::hash::Hasher;

use twox_hash::XxHash64;

use super::gossip::{ACKS_PER_MESSAGE, Ack, EdgeClosure};
use super::rumours::Rumours;
use crate::rng::Stream;

/// Closed edges and acknowledgements, as one peer knows them.
///
/// Numbers are merged by the maximum within one life of the node that made them, and forgotten with
/// that life.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// (from, to) → (tag of the life of `from`, generation).
    closures: BTreeMap<(u32, u32), (u64, u64)>,
    /// The sum of the hashes of all closed edges.
    digest: u64,
    /// (by, from) → (tag of the life of `from`, sequence).
    acks: Rumours<(u32, u32), (u64, u64)>,
}

impl News {
    /// Nothing is known yet to this node.
    pub(crate) fn new(node: u32) -> Self {
        Self { closures: BTreeMap::new(), digest: 0, acks: Rumours::new(node, ACKS_PER_MESSAGE) }
    }

    /// Takes in that an edge was closed and returns whether that was unknown.
    pub(crate) fn add_closure(&mut self, closure: EdgeClosure) -> bool {
        let EdgeClosure { from, to, life, generation } = closure;
        let (edge, closed) = ((from, to), (life, generation));
        let known = self.closures.get(&edge).copied();
        let news = known.as_ref().map_or(generation > 0, is_newer(closed));
        if news {
            let forgotten = known.map_or(0, |known| hash_of(edge, known));
            self.digest = self.digest.wrapping_sub(forgotten).wrapping_add(hash_of(edge, closed));
            self.closures.insert(edge, closed);
        }
        news
    }

    /// Whether an edge was closed as often in this life, as far as is known.
    pub(crate) fn knows(&self, closure: EdgeClosure) -> bool {
        let EdgeClosure { from, to, life, generation } = closure;
        self.closures.get(&(from, to)).map_or(generation == 0, |known| !is_newer((life, generation))(known))
    }

    /// The number of closed edges and acknowledgements that are kept.
    pub(crate) fn len(&self) -> usize {
        self.closures.len() + self.acks.len()
    }

    /// Takes in, at a tick, that a message has arrived.
    pub(crate) fn add_ack(&mut self, ack: Ack, tick: u64) {
        let newest = (ack.life, ack.sequence);
        self.acks.add((ack.by, ack.from), newest, tick, is_newer(newest));
    }

    /// Forgets what was said of a node's messages, because its life is over.
    ///
    /// Closures of edges *towards* it stay: their generations count through the sender's life.
    pub(crate) fn forget(&mut self, node: u32) {
        for (&edge, &closed) in self.closures.range((node, 0)..=(node, u32::MAX)) {
            self.digest = self.digest.wrapping_sub(hash_of(edge, closed));
        }
        self.closures.retain(|(from, _), _| *from != node);
        self.acks.retain(|(by, from)| *from != node && *by != node);
    }

    /// All closed edges.
    pub(crate) fn closures(&self) -> impl Iterator<Item = EdgeClosure> + Clone {
        let closure = |(&(from, to), &(life, generation))| EdgeClosure { from, to, life, generation };
        self.closures.iter().map(closure)
    }

    /// At most `most` closed edges, for a message: those after one that `stream` chooses.
    pub(crate) fn closures_for(
        &self,
        most: usize,
        stream: impl FnOnce() -> Stream,
    ) -> impl Iterator<Item = EdgeClosure> {
        let all = self.closures.len();
        let skipped = if all > most { stream().below(all) } else { 0 };
        self.closures().cycle().skip(skipped).take(most.min(all))
    }

    /// Some acknowledgements for a message of this tick from `me` to `to`: first the one that
    /// concerns the receiver.
    pub(crate) fn acks_for(&mut self, me: u32, to: u32, tick: u64) -> Vec<Ack> {
        let chosen = self.acks.for_message((me, to)..=(me, to), ACKS_PER_MESSAGE, tick);
        chosen.into_iter().map(|((by, from), (life, sequence))| Ack { by, from, life, sequence }).collect()
    }

    /// A hash of all closed edges.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }
}

/// A hash of one closed edge.
fn hash_of((from, to): (u32, u32), (life, generation): (u64, u64)) -> u64 {
    let mut hash = XxHash64::with_seed(0);
    for word in [u64::from(from), u64::from(to), life, generation] {
        hash.write_u64(word);
    }
    hash.finish()
}

/// Whether a number of a life is newer than one that is known: greater, or of another life.
fn is_newer((life, number): (u64, u64)) -> impl Fn(&(u64, u64)) -> bool {
    move |known| known.0 != life || known.1 < number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closure(from: u32, life: u64, generation: u64) -> EdgeClosure {
        EdgeClosure { from, to: 9, life, generation }
    }

    #[test]
    fn generations_only_grow_within_a_life() {
        let mut news = News::new(0);
        assert!(news.add_closure(closure(1, 5, 2)));
        assert!(!news.add_closure(closure(1, 5, 2)) && !news.add_closure(closure(1, 5, 1)), "old news");
        assert!(news.add_closure(closure(1, 6, 1)), "another life counts anew");
        assert_eq!(news.closures().collect::<Vec<_>>(), [closure(1, 6, 1)]);
    }

    #[test]
    fn the_end_of_a_life_ends_its_closures_and_acks() {
        let mut news = News::new(0);
        for (by, from) in [(1, 2), (2, 1), (2, 3)] {
            news.add_ack(Ack { by, from, life: 0, sequence: 1 }, 0);
            news.add_closure(EdgeClosure { from, to: by, life: 0, generation: 1 });
        }
        news.forget(1);
        assert_eq!(news.acks_for(0, 9, 0), [Ack { by: 2, from: 3, life: 0, sequence: 1 }]);
        assert_eq!(news.closures().map(|closure| closure.from).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn the_digest_tells_different_knowledge_apart() {
        let mut news = News::new(0);
        let before = news.digest();
        news.add_ack(Ack { by: 1, from: 0, life: 0, sequence: 1 }, 0);
        assert_eq!(news.digest(), before, "acknowledgements are not part of it");
        news.add_closure(closure(1, 5, 2));
        let with_one = news.digest();
        assert_ne!(with_one, before);
        news.add_closure(closure(2, 5, 2));
        news.add_closure(closure(2, 5, 3));
        assert_ne!(news.digest(), with_one);
        news.forget(2);
        assert_eq!(news.digest(), with_one, "what is forgotten does not count");
    }
}
