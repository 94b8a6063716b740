//! The seeds of an experiment.

use std::ops::Range;

use fabnet_core::settings::Value;

use super::tree::{Entry, Node};

/// The largest number of seeds that a count or a range may stand for.
const LARGEST_COUNT: u64 = 1_000_000;

/// What is said about seeds that cannot be used.
pub(super) const UNUSABLE: &str = "not usable: it is how many (10), a range without its end (\"0..10\") \
                                   or a list ([1, 2, 3]), of whole numbers, a million at most";

/// Reads a number of seeds, a range `"a..b"` without b, or a list; `None` if it is none of these.
pub(super) fn read_seeds(entry: &Entry) -> Option<Vec<u64>> {
    let seeds = match &entry.node {
        Node::Value(Value::Text(range)) => {
            let (from, to) = range.split_once("..")?;
            collect(from.trim().parse().ok()?..to.trim().parse().ok()?)
        }
        Node::Value(_) => collect(0..whole(entry)?),
        Node::List(list) => list.iter().map(whole).collect(),
        Node::Table(_) => None,
    };
    seeds.filter(|seeds| !seeds.is_empty())
}

fn whole(entry: &Entry) -> Option<u64> {
    if let Node::Value(Value::Whole(seed)) = entry.node { u64::try_from(seed).ok() } else { None }
}

/// The seeds of a range, unless there are too many.
fn collect(seeds: Range<u64>) -> Option<Vec<u64>> {
    (seeds.end.saturating_sub(seeds.start) <= LARGEST_COUNT).then(|| seeds.collect())
}
