//! The standard output: a closed pipe is not a failure (`fabnet list | head`), a full device is
//! one.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// The first error of writing to the standard output.
static ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints a text and ends the line.
pub(crate) fn print_line(text: impl std::fmt::Display) {
    note_error(writeln!(io::stdout(), "{text}"));
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
