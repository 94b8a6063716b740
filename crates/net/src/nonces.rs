//! Numbers that are used once.

use std::io;

/// A source of numbers that nobody has used before. It is handed in like the clock: all else in a
/// node follows from the plan and from what arrives, so that a test can repeat a run exactly.
pub trait Nonces: Send + Sync {
    /// The next number.
    fn next(&self) -> io::Result<u64>;
}

/// The random numbers of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNonces;

impl Nonces for SystemNonces {
    fn next(&self) -> io::Result<u64> {
        getrandom::u64().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_does_not_repeat_a_number() {
        let numbers: std::collections::BTreeSet<u64> = (0..100).map(|_| SystemNonces.next().unwrap()).collect();
        assert_eq!(numbers.len(), 100);
    }
}
