//! Bytes as hexadecimal digits.

use std::fmt;

/// Displays bytes as two lower-case hexadecimal digits each.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The bytes that these digits stand for; none if other characters are among them, or half a byte
/// is missing.
pub(crate) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8; 2]| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8);
    pairs.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_the_bytes_that_were_displayed() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&Hex(&bytes).to_string()), Some(bytes));
        for wrong in ["0", "0g", "é", "+1", "00 "] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}
