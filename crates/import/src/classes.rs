//! The classes that rows may have.

use crate::error::ImportError;
use crate::names::Names;

/// The most classes that labels may name; more are a sign that the column is another one.
const MOST: usize = 10_000;

/// The labels of rows, numbered as they are met, or as they were given.
pub(crate) struct Classes {
    names: Names,
    given: bool,
}

impl Classes {
    /// The classes that were given, or none so far.
    pub(crate) fn new(given: Option<&[String]>) -> Self {
        let mut names = Names::default();
        given.iter().copied().flatten().for_each(|name| _ = names.number(name));
        Self { names, given: given.is_some() }
    }

    /// The number of a label, or why it has none.
    pub(crate) fn number(&mut self, label: &str) -> Result<u32, String> {
        let before = self.names.len();
        let number = self.names.number(label);
        if !self.given || (number as usize) < before {
            return Ok(number);
        }
        self.names.forget_last();
        Err(format!("the label \"{label}\", expected one of the classes {}", self.list()))
    }

    /// Refuses labels that are hardly names of classes.
    pub(crate) fn check(&self) -> Result<(), ImportError> {
        match self.names.len() {
            0 | 1 => Err(ImportError::Request(format!(
                "there are labels of {} class, at least two are needed: check --label, or name all classes with \
                 --classes",
                self.names.len()
            ))),
            count if count > MOST => Err(ImportError::Request(format!(
                "there are more than {MOST} different labels, first {}: is this the column of the labels?",
                self.list()
            ))),
            _ => Ok(()),
        }
    }

    /// Whether there are too many labels already.
    pub(crate) fn are_too_many(&self) -> bool {
        self.names.len() > MOST
    }

    /// The classes in their order, and the place of each number in it.
    pub(crate) fn order(&self) -> (Vec<String>, Vec<u32>) {
        let order = if self.given { self.names.all().to_vec() } else { self.names.sorted() };
        let places = self.names.places_in(&order);
        (order, places)
    }

    /// The first classes, as a list.
    fn list(&self) -> String {
        const SHOWN: usize = 20;
        let shown = self.names.all().iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        if self.names.len() > SHOWN { format!("{shown}, …") } else { shown }
    }
}
