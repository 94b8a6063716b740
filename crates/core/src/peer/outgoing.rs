//! What a peer is about to say to a node.

use super::ledger::Fraction;
use super::wire::Contents;
use crate::Mask;

/// A message that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) to: u32,
    /// The segments that it carries.
    pub(super) mask: Mask,
    pub(super) contents: Contents,
    /// The part of the mass that it gives beside what was given before.
    pub(super) share: Fraction,
    /// Whether the table travels with it in any case.
    pub(super) table: bool,
}

impl Outgoing {
    /// A message with no scalars and no mass.
    pub(super) fn gossip(to: u32, contents: Contents, table: bool) -> Self {
        Self { to, mask: Mask::NONE, contents, share: Fraction::ZERO, table }
    }
}
