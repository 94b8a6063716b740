//! Mistakes in experiment files: where, which key, what to do.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

use crate::number::grouped;

/// How many mistakes are printed; the others are counted.
const PRINTED: usize = 20;

/// Where a value was typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// In this line of the file, counted from 1.
    Line(usize),
    /// On the command line.
    Flag(String),
    /// Nowhere: it is missing.
    Missing,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Where.
    pub origin: Origin,
    /// The dotted key; empty if the file as a whole is meant.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes {
    /// The file.
    pub file: PathBuf,
    /// At least one.
    pub list: Vec<Mistake>,
}

impl Mistakes {
    /// A single one.
    pub fn one(file: &Path, origin: Origin, key: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), list: vec![Mistake { origin, key: key.to_owned(), message: message.into() }] }
    }
}

impl Display for Mistakes {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (number, Mistake { origin, key, message }) in self.list.iter().take(PRINTED).enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match origin {
                Origin::Line(line) => write!(f, "{}:{line}: ", self.file.display())?,
                Origin::Flag(flag) => write!(f, "{flag}: ")?,
                Origin::Missing => write!(f, "{}: ", self.file.display())?,
            }
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

/// The known word nearest to what was typed, if it is near at all.
fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distances = known.into_iter().map(|word| (strsim::damerau_levenshtein(typed, word), word));
    distances.filter(|(distance, word)| *distance <= 1 + word.len() / 3).min().map(|(_, word)| word)
}

/// What to do about an unknown word: take the nearest known one, or look at all of them.
pub(crate) fn suggest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    match nearest(typed, known.clone()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("known are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}
