//! Diagnostics: what is wrong with an experiment file, where, and what to do about it.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

use crate::number::grouped;
use crate::plan::Origin;

/// The number of diagnostics that are printed; the others are counted.
const PRINTED: usize = 20;

/// One thing that is wrong with an experiment file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Where the value was typed.
    pub origin: Origin,
    /// The dotted key; empty if the file as a whole is meant.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// Everything that is wrong with an experiment file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics {
    /// The experiment file.
    pub file: PathBuf,
    /// The diagnostics, at least one.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// A list of a single diagnostic.
    pub fn one(file: &Path, origin: Origin, key: &str, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic { origin, key: key.to_owned(), message: message.into() };
        Self { file: file.to_owned(), list: vec![diagnostic] }
    }
}

impl Display for Diagnostics {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (number, Diagnostic { origin, key, message }) in self.list.iter().take(PRINTED).enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            origin.write_prefix(f, &self.file)?;
            if !key.is_empty() {
                write!(f, "`{key}`: ")?;
            }
            f.write_str(message)?;
        }
        match self.list.len().saturating_sub(PRINTED) {
            0 => Ok(()),
            more => write!(f, "\n… and {} more", grouped(more)),
        }
    }
}

/// Says what to do about an unknown word: take the nearest known one, or choose from all of them.
pub(crate) fn suggest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    match nearest(typed, known.clone()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("known are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// The known word nearest to what was typed, if one is near enough to be meant.
fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distances = known.into_iter().map(|word| (strsim::damerau_levenshtein(typed, word), word));
    // One typing error for each three letters, and one more.
    distances.filter(|(distance, word)| *distance <= 1 + word.len() / 3).min().map(|(_, word)| word)
}
