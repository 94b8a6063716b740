//! The membership table: which nodes take part in the run, as one peer knows it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::Arc;

use twox_hash::XxHash64;

/// One life of a node: the time from a start, or a refutation of its death, to the next.
///
/// No two lives of a node share an incarnation, so no message of an earlier life is taken for one
/// of the present life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incarnation {
    /// A number that grows by one with every start and every refutation.
    pub counter: u64,
    /// A random number. It separates two lives with the same counter, which occur when a damaged
    /// disk has forgotten one of them.
    pub nonce: u64,
}

impl Incarnation {
    /// A hash of 64 bits that stands for this life where a message has no room for both numbers.
    pub fn tag(self) -> u64 {
        self.counter.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.nonce
    }
}

/// What is known of a node.
///
/// The order is the rule of merging: a later life is above an earlier one, and dead is above alive
/// within one life. So only a restart with a higher incarnation overrides a death record, and only
/// the node itself can start again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberState {
    /// The latest known life of the node.
    pub incarnation: Incarnation,
    /// Whether that life is over. Death records are kept until the end of the run, because a record
    /// that was dropped would come back as a living member with an old message.
    pub dead: bool,
}

impl MemberState {
    /// The state of a node that is alive in this life.
    pub fn alive(incarnation: Incarnation) -> Self {
        Self { incarnation, dead: false }
    }

    /// The state of a node whose life with this incarnation is over.
    pub fn dead(incarnation: Incarnation) -> Self {
        Self { incarnation, dead: true }
    }

    /// A hash of this state of a node.
    fn hash(self, node: u32) -> u64 {
        let mut hash = XxHash64::with_seed(u64::from(self.dead));
        hash.write_u32(node);
        hash.write_u64(self.incarnation.tag());
        hash.finish()
    }
}

/// What one peer knows of all nodes.
///
/// Tables are merged by the maximum of each entry, so neither the order nor the number of merges
/// matters: all peers that have heard the same news have the same table. Copies share what has not
/// changed since they were made, so that ten thousand peers of one process need not have it each.
#[derive(Clone, Debug)]
pub struct Table {
    /// What was known when the table was last gathered.
    shared: Arc<[Option<MemberState>]>,
    /// What has changed since then.
    changed: BTreeMap<u32, MemberState>,
    /// The sum of the hashes of all entries.
    digest: u64,
}

impl Table {
    /// Changes are put together with what is shared when they are more than one in this many nodes.
    const GATHERED_AT: usize = 8;

    /// A table for this many nodes, none of which is known yet.
    pub fn new(nodes: usize) -> Self {
        Self { shared: vec![None; nodes].into(), changed: BTreeMap::new(), digest: 0 }
    }

    /// A table for this many nodes, of which these are alive in these lives.
    pub fn of_living(nodes: usize, lives: impl IntoIterator<Item = (u32, Incarnation)>) -> Self {
        let mut table = Self::new(nodes);
        for (node, incarnation) in lives {
            table.merge(node, MemberState::alive(incarnation));
        }
        table.gather();
        table
    }

    /// The largest number of nodes that can take part.
    pub fn nodes(&self) -> usize {
        self.shared.len()
    }

    /// What is known of a node, or `None` if it has never been heard of.
    pub fn get(&self, node: u32) -> Option<MemberState> {
        let shared = self.shared.get(node as usize)?;
        if self.changed.is_empty() { *shared } else { self.changed.get(&node).copied().or(*shared) }
    }

    /// The incarnation of a node that counts as alive.
    pub fn living(&self, node: u32) -> Option<Incarnation> {
        self.get(node).filter(|state| !state.dead).map(|state| state.incarnation)
    }

    /// Merges news of a node into the table and returns how it compares with what was known.
    pub fn merge(&mut self, node: u32, news: MemberState) -> Ordering {
        if node as usize >= self.nodes() {
            return Ordering::Less;
        }
        let known = self.get(node);
        let order = Some(news).cmp(&known);
        if order.is_gt() {
            let forgotten = known.map_or(0, |known| known.hash(node));
            self.digest = self.digest.wrapping_sub(forgotten).wrapping_add(news.hash(node));
            self.changed.insert(node, news);
            if self.changed.len() * Self::GATHERED_AT > self.nodes().max(64) {
                self.gather();
            }
        }
        order
    }

    /// A hash of all entries.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// All nodes that have been heard of, ascending.
    pub fn entries(&self) -> impl Iterator<Item = (u32, MemberState)> {
        (0..self.nodes() as u32).filter_map(|node| Some((node, self.get(node)?)))
    }

    /// The nodes that count as alive, ascending.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.entries().filter(|(_, state)| !state.dead).map(|(node, _)| node)
    }

    /// Puts changes together with what is shared: from now on later copies share them, too.
    fn gather(&mut self) {
        if !self.changed.is_empty() {
            self.shared = (0..self.nodes() as u32).map(|node| self.get(node)).collect();
            self.changed.clear();
        }
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.nodes() == other.nodes() && self.entries().eq(other.entries())
    }
}

impl Eq for Table {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn life(counter: u64) -> Incarnation {
        Incarnation { counter, nonce: 7 }
    }

    #[test]
    fn only_a_higher_incarnation_overrides_a_death_record() {
        let mut table = Table::new(2);
        assert_eq!(table.merge(1, MemberState::alive(life(3))), Ordering::Greater);
        assert_eq!(table.merge(1, MemberState::dead(life(3))), Ordering::Greater);
        assert_eq!(table.merge(1, MemberState::alive(life(3))), Ordering::Less);
        assert_eq!((table.living(1), table.members().count()), (None, 0));
        assert_eq!(table.merge(1, MemberState::dead(life(2))), Ordering::Less);
        assert_eq!(table.get(1), Some(MemberState::dead(life(3))));
        assert_eq!(table.merge(1, MemberState::alive(life(4))), Ordering::Greater);
        assert_eq!(table.living(1), Some(life(4)));
        assert_eq!(table.merge(2, MemberState::alive(life(4))), Ordering::Less, "a node that cannot exist");
    }

    #[test]
    fn copies_share_what_has_not_changed() {
        let roster = Table::of_living(1000, (0..1000).map(|node| (node, life(1))));
        let mut copy = roster.clone();
        copy.merge(7, MemberState::dead(life(1)));
        assert!(Arc::ptr_eq(&roster.shared, &copy.shared) && roster.changed.is_empty());
        assert_eq!((copy.changed.len(), roster.living(7), copy.living(7)), (1, Some(life(1)), None));
        assert_ne!(roster.digest(), copy.digest());
        for node in 0..500 {
            copy.merge(node, MemberState::dead(life(1)));
        }
        assert!(copy.changed.len() <= 1000 / Table::GATHERED_AT && copy.members().eq(500..1000));
    }

    fn news() -> impl Strategy<Value = Vec<(u32, MemberState)>> {
        let state =
            (0..4u64, any::<bool>()).prop_map(|(counter, dead)| MemberState { incarnation: life(counter), dead });
        prop::collection::vec((0..3u32, state), 0..20)
    }

    proptest! {
        /// Two peers that have heard the same news know the same, in whatever order and however
        /// often it came.
        #[test]
        fn the_order_and_number_of_merges_do_not_matter(news in news(), rotation in 0..20usize) {
            let (mut straight, mut other) = (Table::new(3), Table::new(3));
            let start = rotation.min(news.len());
            for &(node, state) in &news {
                straight.merge(node, state);
            }
            for &(node, state) in news[start..].iter().chain(&news).rev() {
                other.merge(node, state);
            }
            prop_assert_eq!(straight.digest(), other.digest());
            prop_assert_eq!(straight, other);
        }
    }
}
