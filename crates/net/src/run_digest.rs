//! The digest of a run: a hash of everything that all its nodes must have in common.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::hex::Hex;

/// A hash (SHA-256) of a run's name, plan and members. Nodes with different digests refuse each
/// other's messages, and files with another digest are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunDigest([u8; 32]);

impl RunDigest {
    /// Hashes a list of texts; the order and the length of each matter.
    pub(crate) fn of(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut hash = Sha256::new();
        for text in texts {
            let text = text.as_ref();
            // With its length first, no text can be mistaken for the end of another one.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        Self(hash.finalize().into())
    }

    /// The number that messages carry: the first 8 bytes.
    pub fn number(&self) -> u64 {
        self.0.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Writes the first 16 bytes as hexadecimal digits, as status, logs and files have them.
impl fmt::Display for RunDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0[..16]).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_where_texts_begin() {
        assert_eq!(RunDigest::of(["ab", "c"]), RunDigest::of(["ab", "c"]));
        assert_ne!(RunDigest::of(["ab", "c"]), RunDigest::of(["a", "bc"]));
        assert_ne!(RunDigest::of(["ab", "c"]), RunDigest::of(["abc"]));
    }

    /// Messages and files of earlier versions hold these: they must not change.
    #[test]
    fn the_number_and_the_text_of_a_digest_are_fixed() {
        let digest = RunDigest::of(["today", "agents = 1\n", "alpha", "[0]"]);
        assert_eq!(digest.to_string(), "bc7da21e74902b3d0c9fb415214d0a5c");
        assert_eq!(format!("{:016x}", digest.number()), "bc7da21e74902b3d");
    }
}
