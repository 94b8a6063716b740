//! What a setting accepts: checked, documented and tested from the same definition.

use std::fmt::{Display, Formatter, Write};
use std::ops::{Bound, RangeBounds};

/// The values that a key accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepts {
    /// The values true and false.
    Flag,
    /// Whole numbers within bounds.
    Whole(Interval<u64>),
    /// One of several whole numbers.
    Among(Vec<u64>),
    /// Numbers within bounds.
    Number(Interval<f64>),
    /// A certain word, or numbers within bounds.
    WordOrNumber(String, Interval<f64>),
    /// A word, or a whole number within bounds.
    WordOrWhole(String, Interval<u64>),
    /// One of several words.
    Choice(Vec<String>),
    /// Texts of some form.
    Text {
        /// What kind of text, as the reference says it.
        what: String,
        /// Two texts that are accepted.
        examples: [String; 2],
    },
    /// The path of a file that holds what another key would hold.
    File {
        /// The key that is given instead.
        instead_of: String,
    },
}

/// Bounds of a number.
pub type Interval<V> = (Bound<V>, Bound<V>);

/// The bounds of any kind of range.
pub(super) fn interval<V: Clone>(within: &impl RangeBounds<V>) -> Interval<V> {
    (within.start_bound().cloned(), within.end_bound().cloned())
}

impl Display for Accepts {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag => f.write_str("true or false"),
            Self::Whole(within) => write!(f, "a whole number{}", bounds(within)),
            Self::Among(numbers) => f.write_str(&listed(numbers.iter().map(u64::to_string))),
            Self::Number(within) => write!(f, "a number{}", bounds(within)),
            Self::WordOrNumber(word, within) => write!(f, "\"{word}\" or a number{}", bounds(within)),
            Self::WordOrWhole(word, within) => write!(f, "\"{word}\" or a whole number{}", bounds(within)),
            Self::Choice(words) => f.write_str(&alternatives(words.iter().map(String::as_str))),
            Self::Text { what, .. } => f.write_str(what),
            Self::File { .. } => f.write_str("a path"),
        }
    }
}

/// Words as a reader likes them: `"a"`, `"b"` or `"c"`.
pub fn alternatives<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    listed(words.into_iter().map(|word| format!("\"{word}\"")))
}

/// Alternatives as a reader likes them: a, b or c.
fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

fn bounds<V: Display>(within: &Interval<V>) -> String {
    let mut text = String::new();
    let joint = |text: &str| if text.is_empty() { "," } else { " and" };
    match &within.0 {
        Bound::Included(low) => _ = write!(text, ", at least {low}"),
        Bound::Excluded(low) => _ = write!(text, ", above {low}"),
        Bound::Unbounded => {}
    }
    match &within.1 {
        Bound::Included(high) => _ = write!(text, "{} at most {high}", joint(&text)),
        Bound::Excluded(high) => _ = write!(text, "{} below {high}", joint(&text)),
        Bound::Unbounded => {}
    }
    text
}
