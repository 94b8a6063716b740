//! Printing that survives a closed pipe: `fabnet list | head` is no reason to panic.

use std::io::Write;

/// Prints a text and a line's end.
pub(crate) fn say(text: impl std::fmt::Display) {
    // Whoever reads has gone: there is nobody to tell.
    let _ = writeln!(std::io::stdout(), "{text}");
}
