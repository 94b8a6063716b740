//! Printing: a closed pipe is no failure (`fabnet list | head`), a full device is one.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Why something could not be printed, the first time.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints a text and a line's end.
pub(crate) fn say(text: impl std::fmt::Display) {
    note(writeln!(io::stdout(), "{text}"));
}

/// Remembers that something could not be printed, for the end of the command.
pub(crate) fn note(printed: io::Result<()>) {
    match printed {
        Ok(()) => {}
        // Whoever reads has gone: there is nobody to tell.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => _ = FAILURE.set(error),
    }
}

/// Prints what is still held back; an error if anything could not be printed.
pub(crate) fn finish() -> Result<(), &'static io::Error> {
    note(io::stdout().flush());
    FAILURE.get().map_or(Ok(()), Err)
}
