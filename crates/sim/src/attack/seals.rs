//! The seals of simulated nodes: cheap, and beyond the reach of a node without the key.

use fabnet_core::peer::{Declaration, SealOrigin, SealScheme};
use fabnet_core::rng::{Purpose, Stream};
use twox_hash::XxHash64;

/// The key of one node of a run. A seal is a hash of the declaration under the key of its node, 16
/// bytes long.
///
/// Whoever checks a seal derives the key of the other node from the seed, which a real node could
/// not. A node that lies has this type as well, and seals with its own key only.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeKey {
    seed: u64,
    node: u32,
}

impl NodeKey {
    /// The bytes of a seal.
    pub(super) const SEAL: usize = 16;

    /// The key of a node in the run of a seed.
    pub(super) fn new(seed: u64, node: u32) -> Self {
        Self { seed, node }
    }
}

impl SealScheme for NodeKey {
    fn length(&self) -> usize {
        Self::SEAL
    }

    fn seal(&self, declaration: &Declaration) -> Vec<u8> {
        let mut keys = Stream::new(self.seed, self.node as usize, 0, Purpose::Seals);
        let mut half = || XxHash64::oneshot(keys.bits(), &declaration.bytes()).to_le_bytes();
        [half(), half()].concat()
    }

    fn origin(&self, declaration: &Declaration, seal: &[u8]) -> SealOrigin {
        let made = Self::new(self.seed, declaration.node).seal(declaration);
        if made == seal { SealOrigin::Owner } else { SealOrigin::Forged }
    }
}

#[cfg(test)]
mod tests {
    use fabnet_core::peer::{Claim, Incarnation};

    use super::*;

    #[test]
    fn a_seal_is_of_its_node_and_of_its_declaration() {
        let declaration =
            Declaration { run: 1, node: 2, incarnation: Incarnation { counter: 3, nonce: 4 }, claim: Claim::Lives };
        let seal = NodeKey::new(9, 2).seal(&declaration);
        assert_eq!(seal.len(), NodeKey::SEAL);
        let anybody = NodeKey::new(9, 5);
        assert_eq!(anybody.origin(&declaration, &seal), SealOrigin::Owner, "anybody can check it");
        assert_eq!(anybody.origin(&declaration, &anybody.seal(&declaration)), SealOrigin::Forged, "one can make it");
        assert_eq!(anybody.origin(&Declaration { claim: Claim::Left, ..declaration }, &seal), SealOrigin::Forged);
        assert_eq!(NodeKey::new(8, 5).origin(&declaration, &seal), SealOrigin::Forged, "each run has its own keys");
    }
}
