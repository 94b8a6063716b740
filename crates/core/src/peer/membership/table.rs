//! The membership table: which nodes take part in the run, as one peer knows it.

use std::cmp::Ordering;

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
}

/// What one peer knows of all nodes.
///
/// Tables are merged by the maximum of each entry, so neither the order nor the number of merges
/// matters: all peers that have heard the same news have the same table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table(Vec<Option<MemberState>>);

impl Table {
    /// A table for this many nodes, none of which is known yet.
    pub fn new(nodes: usize) -> Self {
        Self(vec![None; nodes])
    }

    /// The largest number of nodes that can take part.
    pub fn nodes(&self) -> usize {
        self.0.len()
    }

    /// What is known of a node, or `None` if it has never been heard of.
    pub fn get(&self, node: u32) -> Option<MemberState> {
        self.0.get(node as usize).copied().flatten()
    }

    /// The incarnation of a node that counts as alive.
    pub fn living(&self, node: u32) -> Option<Incarnation> {
        self.get(node).filter(|state| !state.dead).map(|state| state.incarnation)
    }

    /// Merges news of a node into the table and returns how it compares with what was known.
    pub fn merge(&mut self, node: u32, news: MemberState) -> Ordering {
        let Some(known) = self.0.get_mut(node as usize) else { return Ordering::Less };
        let order = Some(news).cmp(known);
        if order.is_gt() {
            *known = Some(news);
        }
        order
    }

    /// All nodes that have been heard of, ascending.
    pub fn entries(&self) -> impl Iterator<Item = (u32, MemberState)> {
        (0..).zip(&self.0).filter_map(|(node, state)| Some((node, (*state)?)))
    }

    /// The nodes that count as alive, ascending.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.entries().filter(|(_, state)| !state.dead).map(|(node, _)| node)
    }
}

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
            prop_assert_eq!(straight, other);
        }
    }
}
