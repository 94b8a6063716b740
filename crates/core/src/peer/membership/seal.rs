//! Seals: how a peer knows that a declaration which others pass on was made by its owner.

use std::fmt;

use super::table::Incarnation;

/// The largest number of bytes of a seal: an Ed25519 signature has as many.
pub const LONGEST_SEAL: usize = 64;

/// What a node says in its own name, and others pass on for it.
///
/// Suspicions, heartbeats, acknowledgements and receipts are not among these: docs/protocol.md says
/// why, and what a lie about them can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The number of the run: a declaration counts in this run only.
    pub run: u64,
    /// The node that makes the declaration.
    pub node: u32,
    /// The life in which it makes the declaration.
    pub incarnation: Incarnation,
    /// What it says.
    pub claim: Claim,
}

/// What a declaration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The node lives in this life: it has started, or refutes that it is dead.
    Lives,
    /// The node has left the run in this life.
    Left,
    /// The node has closed its edge to another one.
    Closed {
        /// The node at the other end of the edge.
        to: u32,
        /// The number of times that the edge was closed in this life.
        generation: u64,
    },
}

/// Of whom a seal is, as far as whoever checks it can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealOrigin {
    /// There is no seal, or the key of the owner is not known yet: it is not believed, and nobody
    /// is blamed.
    Unknown,
    /// The owner of the declaration has sealed it.
    Owner,
    /// Somebody else has made it up.
    Forged,
}

/// Makes and checks seals. Like a clock, it is handed into a peer: core has no keys.
pub trait SealScheme: fmt::Debug + Send + Sync {
    /// The bytes of every seal, at most [`LONGEST_SEAL`]; 0 if nothing is sealed.
    fn length(&self) -> usize;

    /// Seals a declaration of the node whose keys these are.
    fn seal(&self, declaration: &Declaration) -> Vec<u8>;

    /// Whether the node that a declaration names has made this seal of it.
    fn origin(&self, declaration: &Declaration, seal: &[u8]) -> SealOrigin;
}

/// The scheme of peers without keys: nothing is sealed, and every member is believed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unsealed;

impl Declaration {
    /// The bytes that are sealed. No two declarations have the same.
    pub fn bytes(&self) -> [u8; 64] {
        let (kind, to, generation) = match self.claim {
            Claim::Lives => (1, 0, 0),
            Claim::Left => (2, 0, 0),
            Claim::Closed { to, generation } => (3, to, generation),
        };
        let (who, what) = (u64::from(self.node) | u64::from(to) << 32, kind);
        let Incarnation { counter, nonce } = self.incarnation;
        let title = u64::from_le_bytes(*b"fabseal1");
        let words = [title, self.run, who, what, counter, nonce, generation, 0];
        let mut bytes = [0; 64];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

impl SealScheme for Unsealed {
    fn length(&self) -> usize {
        0
    }

    fn seal(&self, _declaration: &Declaration) -> Vec<u8> {
        Vec::new()
    }

    fn origin(&self, _declaration: &Declaration, _seal: &[u8]) -> SealOrigin {
        SealOrigin::Unknown
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_declarations_have_the_same_bytes() {
        let mut all = BTreeSet::new();
        let mut made = 0;
        let claims = [Claim::Lives, Claim::Left].into_iter();
        let closed = (0..9).map(|number| Claim::Closed { to: number % 3, generation: u64::from(number / 3) });
        for claim in claims.chain(closed) {
            for number in 0..81 {
                let [run, node, counter, nonce] = [1, 3, 9, 27].map(|weight| number / weight % 3);
                let incarnation = Incarnation { counter, nonce };
                let declaration = Declaration { run, node: node as u32, incarnation, claim };
                made += 1;
                all.insert(declaration.bytes());
            }
        }
        assert_eq!(all.len(), made);
    }
}
