//! What a peer notices that others may want to know: rare, and with its cause.

use std::collections::VecDeque;
use std::fmt;

/// Something rare that has happened to a peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    /// A member was silent for too long, and was declared dead.
    Eviction {
        /// The member that was silent.
        member: u32,
    },
    /// An edge was closed, because nothing came back over it.
    Closure {
        /// The receiver of the edge.
        to: u32,
    },
    /// The edges to a node were undone.
    Reversal {
        /// The node at the other end.
        node: u32,
        /// By how much that changed the mass here, relative to the mass.
        size: f64,
    },
    /// The peer was thought dead, or its disk had forgotten its life: it began a new one.
    Refutation {
        /// The number of the new life.
        life: u64,
    },
    /// The peer has entered an epoch.
    Epoch {
        /// The epoch that it has entered.
        epoch: u64,
        /// Why it began.
        cause: EpochCause,
    },
    /// A step was not taken, because its result was not finite or too large.
    BadStep,
}

/// Why an epoch began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpochCause {
    /// Another peer has entered it.
    Heard,
    /// Edges were undone that carried too much.
    Reversal,
    /// The peer began a new life, and its method cannot go on without its edges.
    NewLife,
    /// The method asked for it.
    Method,
    /// Mass was about to become too large to be booked.
    Overflow,
    /// An operator asked for it.
    Operator,
}

/// The newest notices of a peer, each with its round, until somebody takes them.
#[derive(Debug, Default)]
pub(super) struct Notices(VecDeque<(u64, Notice)>);

impl Notices {
    /// The largest number of notices that are kept; older ones are dropped.
    const KEPT: usize = 64;

    /// Adds a notice.
    pub(super) fn add(&mut self, round: u64, notice: Notice) {
        if self.0.len() == Self::KEPT {
            self.0.pop_front();
        }
        self.0.push_back((round, notice));
    }

    /// Takes all notices, the oldest first.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u64, Notice)> {
        self.0.drain(..)
    }
}

impl Notice {
    /// The kind of the notice, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Eviction { .. } => "suspect",
            Self::Closure { .. } => "close",
            Self::Reversal { .. } => "reversal",
            Self::Refutation { .. } => "refute",
            Self::Epoch { .. } => "epoch",
            Self::BadStep => "bad_step",
        }
    }

    /// The other node that was part of it.
    pub fn other(&self) -> Option<u32> {
        match *self {
            Self::Eviction { member: other } | Self::Closure { to: other } | Self::Reversal { node: other, .. } => {
                Some(other)
            }
            Self::Refutation { .. } | Self::Epoch { .. } | Self::BadStep => None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eviction { member } => write!(f, "gives {member} up, who was silent for too long"),
            Self::Closure { to } => write!(f, "closes the edge to {to}, over which nothing came back"),
            Self::Reversal { node, size } => write!(f, "undoes its edges with {node}, {size:.2e} of its mass"),
            Self::Refutation { life } => write!(f, "was thought dead and comes back as {life}"),
            Self::Epoch { epoch, cause } => write!(f, "enters epoch {epoch}: {cause}"),
            Self::BadStep => write!(f, "does not take a step whose result is not finite or too large"),
        }
    }
}

impl fmt::Display for EpochCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Heard => "another agent has begun it",
            Self::Reversal => "edges were undone that carried too much",
            Self::NewLife => "a new life has no edges",
            Self::Method => "the method asked for it",
            Self::Overflow => "mass was about to become too large",
            Self::Operator => "an operator asked for it",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_notices_are_kept_until_they_are_taken() {
        let mut notices = Notices::default();
        (0..100).for_each(|round| notices.add(round, Notice::BadStep));
        let rounds: Vec<u64> = notices.take().map(|(round, _)| round).collect();
        assert_eq!(rounds, (36..100).collect::<Vec<_>>());
        assert_eq!(notices.take().count(), 0);
    }

    #[test]
    fn a_notice_says_what_happened_with_whom_and_why() {
        let notice = Notice::Epoch { epoch: 3, cause: EpochCause::Overflow };
        assert_eq!((notice.kind(), notice.other()), ("epoch", None));
        assert_eq!(notice.to_string(), "enters epoch 3: mass was about to become too large");
        let notice = Notice::Eviction { member: 4 };
        assert_eq!((notice.kind(), notice.other()), ("suspect", Some(4)));
    }
}
