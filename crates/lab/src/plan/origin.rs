//! Where settings were written, so that messages can name the file, the line and the key.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// The place at which a value was typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A line of the file, counted from 1.
    Line(usize),
    /// An argument of the command line, as it was given.
    Flag(String),
    /// The value was not typed anywhere: it is missing.
    Missing,
}

impl Origin {
    /// Writes the start of a message about this place in a file.
    pub(crate) fn write_prefix(&self, f: &mut Formatter<'_>, file: &Path) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "{}:{line}: ", file.display()),
            Self::Flag(flag) => write!(f, "{flag}: "),
            Self::Missing => write!(f, "{}: ", file.display()),
        }
    }
}

/// Where the settings of a plan entry were written.
///
/// All values of this type are equal: a plan is the same plan wherever it was written, and the one
/// that is read back from `plan.toml` equals the one that was written there.
#[derive(Clone, Debug, Default)]
pub struct EntryOrigin {
    /// The experiment file; `None` for plans that a program puts together.
    pub(crate) file: Option<PathBuf>,
    /// The texts of the entry, which may come from files of their own.
    pub(crate) texts: Vec<TextOrigin>,
}

impl PartialEq for EntryOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Where a text was written that is given in place or as a file.
#[derive(Clone, Debug)]
pub(crate) struct TextOrigin {
    /// The dotted key, with its section.
    pub(crate) key: String,
    /// Where the key was typed.
    pub(crate) origin: Origin,
    /// The file that holds the text, if the key names one.
    pub(crate) read_from: Option<PathBuf>,
}

impl EntryOrigin {
    /// The location of the entry's text, or of its whole section if it has none.
    pub(crate) fn locate(&self, section: &str) -> Location {
        let file = self.file.clone();
        match self.texts.first() {
            Some(TextOrigin { key, origin, read_from }) => {
                Location { file, origin: origin.clone(), key: key.clone(), read_from: read_from.clone() }
            }
            None => Location { file, origin: Origin::Missing, key: section.to_owned(), read_from: None },
        }
    }
}

/// The file, the line and the key that a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The experiment file; `None` for plans that a program puts together.
    pub file: Option<PathBuf>,
    /// Where in it the key was typed.
    pub origin: Origin,
    /// The dotted key, such as `topology.contacts`.
    pub key: String,
    /// Another file whose contents the key stands for. Lines that a message names are its lines.
    pub read_from: Option<PathBuf>,
}

/// Writes the location as the start of a message.
impl Display for Location {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            self.origin.write_prefix(f, file)?;
        }
        write!(f, "`{}`: ", self.key)?;
        self.read_from.as_ref().map_or(Ok(()), |path| write!(f, "{}: ", path.display()))
    }
}
