//! Whether the others let this node in: Zenoh does not say.

use std::time::Duration;

/// Watches whether anybody answers.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The beginning of the present wait.
    since: Duration,
    /// The others, by name and address.
    others: Vec<(String, String)>,
    admitted: bool,
}

/// The others do not let this node in.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// They accept connections, and nothing follows.
    #[error(
        "not admitted: {0} can be reached, but nobody answers. Is this node's certificate of the run's authority \
         and in its own name, and do the others' files name it as a member of the same run?"
    )]
    Silence(String),
    /// They run something else.
    #[error(
        "not admitted: `{node}` runs another manifest ({theirs}, here {ours}): run, plan and members must be the \
         same in all files"
    )]
    Manifest {
        /// The node that says so.
        node: String,
        /// The digest of what it runs.
        theirs: String,
        /// The digest of what this node runs.
        ours: String,
    },
}

impl Admission {
    /// The time for which others may be silent.
    const PATIENCE: Duration = Duration::from_secs(8);
    /// The others that are tried at most: each may take a fraction of a second.
    const TRIED: usize = 8;

    /// A node that knows these others, by name and address. If there are none, it needs nobody.
    pub(crate) fn new(others: impl Iterator<Item = (String, String)>, now: Duration) -> Self {
        let others: Vec<_> = others.collect();
        Self { since: now, admitted: others.is_empty(), others }
    }

    /// Notes that somebody has answered.
    pub(crate) fn heard(&mut self) {
        self.admitted = true;
    }

    /// Whether somebody has answered, or nobody needs to.
    pub(crate) fn admitted(&self) -> bool {
        self.admitted
    }

    /// Finds out, after some silence, whether nobody is there yet or nobody wants this node.
    pub(crate) fn judge(&mut self, now: Duration, reaches: impl Fn(&str) -> bool) -> Result<(), NotAdmitted> {
        if self.admitted || now.saturating_sub(self.since) < Self::PATIENCE {
            return Ok(());
        }
        if let Some((name, address)) = self.others.iter().take(Self::TRIED).find(|(_, address)| reaches(address)) {
            return Err(NotAdmitted::Silence(format!("`{name}` at {address}")));
        }
        tracing::info!("waiting for others: nobody of them can be reached yet");
        self.since = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn admission(others: &[&str]) -> Admission {
        let named = |name: &&str| ((*name).to_owned(), format!("{name}:1"));
        Admission::new(others.iter().map(named), seconds(100))
    }

    #[test]
    fn who_can_be_reached_and_does_not_answer_is_named_after_eight_seconds() {
        let mut admission = admission(&["a", "b"]);
        assert!(admission.judge(seconds(107), |_| true).is_ok(), "it is too early to tell");
        let error = admission.judge(seconds(108), |address| address == "b:1").unwrap_err().to_string();
        assert!(error.contains("`b` at b:1 can be reached, but nobody answers"), "{error}");
    }

    #[test]
    fn nobody_within_reach_means_waiting_for_another_eight_seconds() {
        let mut admission = admission(&["a", "b"]);
        assert!(admission.judge(seconds(108), |_| false).is_ok());
        assert!(admission.judge(seconds(115), |_| true).is_ok(), "the wait has begun again");
        assert!(admission.judge(seconds(116), |_| true).is_err());
    }

    #[test]
    fn who_was_heard_once_is_admitted_for_good() {
        let mut admission = admission(&["a"]);
        assert!(!admission.admitted());
        admission.heard();
        assert!(admission.admitted());
        assert!(admission.judge(seconds(1000), |_| unreachable!("nobody is tried")).is_ok());
    }

    #[test]
    fn a_node_without_others_needs_nobody() {
        assert!(admission(&[]).admitted());
    }

    #[test]
    fn only_a_few_others_are_tried() {
        let names: Vec<String> = (0..20).map(|place| place.to_string()).collect();
        let mut admission = admission(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let tried = std::cell::Cell::new(0);
        let reaches = |_: &str| {
            tried.set(tried.get() + 1);
            false
        };
        assert!(admission.judge(seconds(108), reaches).is_ok());
        assert_eq!(tried.get(), 8);
    }
}
