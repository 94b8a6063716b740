//! The standard output: a closed pipe is not a failure (`fabnet list | head`), a full device is
//! one.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// The first error of writing to the standard output.
static ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints a text and ends the line. Control characters are shown as escapes: some of what is
/// printed comes from other machines, and must not move the cursor of a terminal or set its title.
pub(crate) fn print_line(text: impl std::fmt::Display) {
    note_error(writeln!(io::stdout(), "{}", without_controls(&text.to_string())));
}

/// The text with its line ends and tabs, and all other control characters as escapes.
fn without_controls(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Keeps the first error of printing until the end of the command.
pub(crate) fn note_error(printed: io::Result<()>) {
    match printed {
        Ok(()) => {}
        // The reader has closed the pipe, so nobody is left to be told.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => _ = ERROR.set(error),
    }
}

/// Flushes the output, and returns the first error of printing, if there was one.
pub(crate) fn finish() -> Result<(), &'static io::Error> {
    note_error(io::stdout().flush());
    ERROR.get().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_does_not_move_the_cursor() {
        assert_eq!(without_controls("a\tb\nü\x1b[2J\r\u{9b}"), "a\tb\nü\\u{1b}[2J\\r\\u{9b}");
    }
}
