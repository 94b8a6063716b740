//! Who is in the run: what each peer believes, and how two beliefs become one.

use std::cmp::Ordering;

/// One life of a node. Two starts never share one, so nothing of an old life is taken for the new one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incarnation {
    /// One more at every start and every refutation.
    pub counter: u64,
    /// Drawn at random: tells lives apart of which a broken disk has forgotten one.
    pub nonce: u64,
}

/// What is known of a node. Ordered: a later life above an earlier one, and dead above alive in the same life, so only the node itself can come back, as somebody new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Its latest known life.
    pub incarnation: Incarnation,
    /// Whether that is over. Tombstones are kept for the run.
    pub dead: bool,
}

/// What one peer knows of all nodes. Merged by the maximum, entry by entry: the order and number of merges do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table(Vec<Option<Standing>>);

impl Table {
    /// Room for this many nodes, of whom nothing is known.
    pub fn new(nodes: usize) -> Self {
        Self(vec![None; nodes])
    }

    /// How many nodes there can be.
    pub fn nodes(&self) -> usize {
        self.0.len()
    }

    /// What is known of a node.
    pub fn get(&self, node: u32) -> Option<Standing> {
        self.0.get(node as usize).copied().flatten()
    }

    /// The life of a node that is alive, as far as is known.
    pub fn living(&self, node: u32) -> Option<Incarnation> {
        self.get(node).filter(|standing| !standing.dead).map(|standing| standing.incarnation)
    }

    /// Takes news of a node in; says how it compares with what was known.
    pub fn merge(&mut self, node: u32, news: Standing) -> Ordering {
        let Some(known) = self.0.get_mut(node as usize) else { return Ordering::Less };
        let order = Some(news).cmp(known);
        if order.is_gt() {
            *known = Some(news);
        }
        order
    }

    /// All known nodes.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Standing)> {
        (0..).zip(&self.0).filter_map(|(node, standing)| Some((node, (*standing)?)))
    }

    /// Those that live, ascending.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.entries().filter(|(_, standing)| !standing.dead).map(|(node, _)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_life_passes_a_tombstone() {
        let life = |counter| Incarnation { counter, nonce: 7 };
        let (alive, dead) =
            (|c| Standing { incarnation: life(c), dead: false }, |c| Standing { incarnation: life(c), dead: true });
        let mut table = Table::new(2);
        assert_eq!(table.merge(1, alive(3)), Ordering::Greater);
        assert_eq!(table.merge(1, dead(3)), Ordering::Greater);
        assert_eq!(table.merge(1, alive(3)), Ordering::Less);
        assert_eq!(table.merge(1, dead(2)), Ordering::Less);
        assert_eq!((table.living(1), table.members().count()), (None, 0));
        assert_eq!(table.merge(1, alive(4)), Ordering::Greater);
        assert_eq!(table.living(1), Some(life(4)));
        assert_eq!(table.merge(2, alive(4)), Ordering::Less, "a node that cannot be");
    }
}
