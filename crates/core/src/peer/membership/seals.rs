//! The seals that a peer passes on with what others have said.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::gossip::EdgeClosure;
use super::table::{Incarnation, MemberState};
use crate::peer::membership::{Claim, Declaration, LONGEST_SEAL, SealOrigin, SealScheme};

/// The scheme of a run, and the seals of the lives and closed edges that one peer knows.
#[derive(Clone, Debug)]
pub(crate) struct SealBook {
    scheme: Arc<dyn SealScheme>,
    run: u64,
    /// The bytes of a seal.
    length: usize,
    /// The seal of the life of a node, or of its departure.
    lives: BTreeMap<u32, Box<[u8]>>,
    /// The seals of closed edges, by (from, to).
    closures: BTreeMap<(u32, u32), Box<[u8]>>,
}

impl SealBook {
    /// No seals are known yet in the run with this number.
    pub(crate) fn new(scheme: Arc<dyn SealScheme>, run: u64) -> Self {
        let length = scheme.length().min(LONGEST_SEAL);
        Self { scheme, run, length, lives: BTreeMap::new(), closures: BTreeMap::new() }
    }

    /// Whether declarations of this run are sealed.
    pub(crate) fn is_used(&self) -> bool {
        self.length > 0
    }

    /// The number of seals that are kept.
    pub(crate) fn len(&self) -> usize {
        self.lives.len() + self.closures.len()
    }

    /// Of whom the seal of a declaration is.
    pub(crate) fn origin(&self, node: u32, incarnation: Incarnation, claim: Claim, seal: &[u8]) -> SealOrigin {
        if is_empty(seal) {
            return SealOrigin::Unknown;
        }
        self.scheme.origin(&Declaration { run: self.run, node, incarnation, claim }, seal)
    }

    /// Seals a declaration of this very peer.
    fn seal(&self, node: u32, incarnation: Incarnation, claim: Claim) -> Box<[u8]> {
        let mut seal = self.scheme.seal(&Declaration { run: self.run, node, incarnation, claim });
        seal.resize(self.length, 0);
        seal.into()
    }

    /// Seals the own state of a peer: that it lives, or that it leaves.
    pub(crate) fn seal_own(&mut self, node: u32, state: MemberState) {
        if self.is_used() {
            let claim = if state.dead { Claim::Left } else { Claim::Lives };
            let seal = self.seal(node, state.incarnation, claim);
            self.lives.insert(node, seal);
        }
    }

    /// Seals that a peer has closed its own edge.
    pub(crate) fn seal_closure(&mut self, closure: EdgeClosure, incarnation: Incarnation) {
        if self.is_used() {
            let EdgeClosure { from, to, generation, .. } = closure;
            let seal = self.seal(from, incarnation, Claim::Closed { to, generation });
            self.closures.insert((from, to), seal);
        }
    }

    /// Keeps the seal of another node's life or departure, if there is one.
    pub(crate) fn keep_life(&mut self, node: u32, seal: &[u8]) {
        if !is_empty(seal) {
            self.lives.insert(node, seal.into());
        }
    }

    /// Keeps the seal of an edge that another node has closed, if there is one.
    pub(crate) fn keep_closure(&mut self, from: u32, to: u32, seal: &[u8]) {
        if !is_empty(seal) {
            self.closures.insert((from, to), seal.into());
        }
    }

    /// Forgets the closed edges of a life that is over.
    pub(crate) fn forget_closures(&mut self, node: u32) {
        self.closures.retain(|(from, _), _| *from != node);
    }

    /// The seal of the life of a node, if it is known.
    pub(crate) fn of_life(&self, node: u32) -> Option<&[u8]> {
        self.lives.get(&node).map(|seal| &**seal)
    }

    /// The seals of states and closed edges, one after the other; zeros stand for none.
    pub(crate) fn of_gossip(&self, states: &[(u32, MemberState)], closures: &[EdgeClosure]) -> Vec<u8> {
        let lives = states.iter().map(|(node, _)| self.lives.get(node));
        let closed = closures.iter().map(|closure| self.closures.get(&(closure.from, closure.to)));
        let mut bytes = Vec::new();
        for seal in lives.chain(closed).take(if self.is_used() { usize::MAX } else { 0 }) {
            let end = bytes.len() + self.length;
            bytes.extend_from_slice(seal.map_or(&[], |seal| seal));
            bytes.resize(end, 0);
        }
        bytes
    }

    /// The bytes of a seal.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

/// Whether this stands for no seal.
fn is_empty(seal: &[u8]) -> bool {
    seal.iter().all(|byte| *byte == 0)
}
