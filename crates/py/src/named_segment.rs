//! The segments of an algorithm of Python.

use std::collections::BTreeSet;

use fabnet_core::{Mask, SegmentKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A named segment of a row, or of what an agent remembers.
#[derive(Clone, Debug)]
pub(crate) struct NamedSegment {
    pub(crate) name: String,
    pub(crate) kind: SegmentKind,
    pub(crate) len: usize,
}

impl NamedSegment {
    /// Attributes that an agent has beside its segments.
    const TAKEN: [&str; 8] = ["own", "now", "input", "keep", "index", "round", "upper", "lower"];

    /// Reads what `segments(outer, inner)` returns: a list of (name, kind, length).
    pub(crate) fn read(list: Vec<(String, String, usize)>) -> PyResult<Vec<Self>> {
        // A row also has a segment for private coordinates, so one fewer is left.
        if list.len() >= Mask::LIMIT {
            let message = format!("{} segments are too many: a row has at most {}", list.len(), Mask::LIMIT - 1);
            return Err(PyValueError::new_err(message));
        }
        let mut names = BTreeSet::from(Self::TAKEN.map(str::to_owned));
        let segment = |(name, kind, len): (String, String, usize)| {
            let kind = kind_of(&name, &kind)?;
            if !names.insert(name.clone()) {
                return Err(PyValueError::new_err(format!("an agent has another `{name}`: choose another name")));
            }
            Ok(Self { name, kind, len })
        };
        list.into_iter().map(segment).collect()
    }
}

/// The kind of a segment by the word for it.
fn kind_of(name: &str, word: &str) -> PyResult<SegmentKind> {
    match word {
        "pull" => Ok(SegmentKind::Pull),
        "push" => Ok(SegmentKind::Push),
        "max" => Ok(SegmentKind::Max),
        _ => Err(PyValueError::new_err(format!(
            "`{name}` is to be mixed by \"{word}\": use \"pull\", \"push\" or \"max\""
        ))),
    }
}
