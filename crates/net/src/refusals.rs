//! Counts of what was refused before a peer saw it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why something was refused before a peer saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The access rules do not allow this key to the sender's certificate.
    Access,
    /// A connection came without a certificate of the run's authority.
    Certificate,
    /// A message names another sender or receiver than its key.
    Forged,
    /// A message is longer than any message of the run.
    Oversized,
    /// A neighbour sends more in a second than its limit.
    Rate,
    /// A neighbour has more messages waiting than its limit.
    Queue,
    /// A node is of another run, or has another plan.
    Manifest,
    /// A message is of a member that the run has expelled.
    Expelled,
}

impl RefusalReason {
    /// All reasons, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::Access,
        Self::Certificate,
        Self::Forged,
        Self::Oversized,
        Self::Rate,
        Self::Queue,
        Self::Manifest,
        Self::Expelled,
    ];

    /// The name of the reason in metrics and status.
    pub fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Certificate => "certificate",
            Self::Forged => "forged",
            Self::Oversized => "oversized",
            Self::Rate => "rate",
            Self::Queue => "queue",
            Self::Manifest => "manifest",
            Self::Expelled => "expelled",
        }
    }
}

/// How often each reason has occurred.
#[derive(Debug, Default)]
pub struct Refusals([AtomicU64; RefusalReason::ALL.len()]);

impl Refusals {
    /// Counts one refusal.
    pub fn count(&self, reason: RefusalReason) {
        self.0[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often a reason has occurred so far.
    pub fn get(&self, reason: RefusalReason) -> u64 {
        self.0[reason as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_counter_and_a_name_of_its_own() {
        let refusals = Refusals::default();
        for (place, reason) in RefusalReason::ALL.into_iter().enumerate() {
            (0..=place).for_each(|_| refusals.count(reason));
        }
        assert_eq!(RefusalReason::ALL.map(|reason| refusals.get(reason)), [1, 2, 3, 4, 5, 6, 7, 8]);
        let names = std::collections::BTreeSet::from(RefusalReason::ALL.map(RefusalReason::name));
        assert_eq!(names.len(), RefusalReason::ALL.len());
    }
}
