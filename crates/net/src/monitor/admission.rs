//! Whether the others let this node in: Zenoh does not say.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::run_digest::RunDigest;

/// Watches whether anybody answers.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The beginning of the present wait.
    since: Duration,
    /// The others, by name and address.
    others: Vec<(String, String)>,
    admitted: bool,
    /// What others run, by name, of those that say it is something else.
    disagreeing: BTreeMap<String, String>,
    /// How many others must say so before it is believed at once: two, if there are two.
    witnesses: usize,
}

/// The others do not let this node in.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// They accept connections, and nothing follows.
    #[error(
        "not admitted: {0} can be reached, but nobody answers. Is this node's certificate of the run's authority \
         and in its own name, do the others' files name it as a member of the same run, and do all nodes speak the \
         same version of the wire?"
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

    /// A node of a run with this many members that can be connected with these others, by name and
    /// address. If there are none, it needs nobody.
    pub(crate) fn new(others: impl Iterator<Item = (String, String)>, members: usize, now: Duration) -> Self {
        let others: Vec<_> = others.collect();
        let witnesses = members.saturating_sub(1).clamp(1, 2);
        Self { since: now, admitted: others.is_empty(), others, disagreeing: BTreeMap::new(), witnesses }
    }

    /// Takes in that a member runs something else. A single one may be the one that is wrong, or
    /// lie: it is believed if nobody else answers in time.
    pub(crate) fn disagrees(&mut self, node: String, theirs: String, ours: &RunDigest) -> Result<(), NotAdmitted> {
        if !self.admitted {
            self.disagreeing.insert(node, theirs);
        }
        if self.disagreeing.len() >= self.witnesses { self.give_up(ours) } else { Ok(()) }
    }

    /// An error if anybody runs something else, and nobody the same.
    fn give_up(&self, ours: &RunDigest) -> Result<(), NotAdmitted> {
        let wrong = self.disagreeing.first_key_value().filter(|_| !self.admitted);
        wrong.map_or(Ok(()), |(node, theirs)| {
            Err(NotAdmitted::Manifest { node: node.clone(), theirs: theirs.clone(), ours: ours.to_string() })
        })
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
    pub(crate) fn judge(
        &mut self,
        now: Duration,
        ours: &RunDigest,
        reaches: impl Fn(&str) -> bool,
    ) -> Result<(), NotAdmitted> {
        if self.admitted || now.saturating_sub(self.since) < Self::PATIENCE {
            return Ok(());
        }
        self.give_up(ours)?;
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

    fn ours() -> RunDigest {
        RunDigest::of(["ours"])
    }

    fn admission(others: &[&str]) -> Admission {
        let named = |name: &&str| ((*name).to_owned(), format!("{name}:1"));
        Admission::new(others.iter().map(named), others.len() + 1, seconds(100))
    }

    #[test]
    fn who_can_be_reached_and_does_not_answer_is_named_after_eight_seconds() {
        let mut admission = admission(&["a", "b"]);
        assert!(admission.judge(seconds(107), &ours(), |_| true).is_ok(), "it is too early to tell");
        let error = admission.judge(seconds(108), &ours(), |address| address == "b:1").unwrap_err().to_string();
        assert!(error.contains("`b` at b:1 can be reached, but nobody answers"), "{error}");
    }

    #[test]
    fn nobody_within_reach_means_waiting_for_another_eight_seconds() {
        let mut admission = admission(&["a", "b"]);
        assert!(admission.judge(seconds(108), &ours(), |_| false).is_ok());
        assert!(admission.judge(seconds(115), &ours(), |_| true).is_ok(), "the wait has begun again");
        assert!(admission.judge(seconds(116), &ours(), |_| true).is_err());
    }

    /// One member that greets with nonsense would otherwise end every node that starts.
    #[test]
    fn one_that_runs_something_else_is_believed_when_nobody_else_answers() {
        let mut lone = admission(&["a", "b", "c"]);
        assert!(lone.disagrees("a".into(), "theirs".into(), &ours()).is_ok());
        assert!(lone.disagrees("a".into(), "theirs".into(), &ours()).is_ok(), "it is still the same one");
        assert!(lone.judge(seconds(107), &ours(), |_| true).is_ok());
        let error = lone.judge(seconds(108), &ours(), |_| true).unwrap_err().to_string();
        assert!(error.contains(&format!("`a` runs another manifest (theirs, here {})", ours())), "{error}");

        let mut several = admission(&["a", "b", "c"]);
        assert!(several.disagrees("a".into(), "theirs".into(), &ours()).is_ok());
        assert!(several.disagrees("b".into(), "theirs".into(), &ours()).is_err());

        let mut admitted = admission(&["a", "b", "c"]);
        assert!(admitted.disagrees("a".into(), "theirs".into(), &ours()).is_ok());
        admitted.heard();
        assert!(admitted.disagrees("b".into(), "theirs".into(), &ours()).is_ok());
        assert!(admitted.judge(seconds(200), &ours(), |_| true).is_ok());
    }

    #[test]
    fn who_was_heard_once_is_admitted_for_good() {
        let mut admission = admission(&["a"]);
        assert!(!admission.admitted());
        admission.heard();
        assert!(admission.admitted());
        assert!(admission.judge(seconds(1000), &ours(), |_| unreachable!("nobody is tried")).is_ok());
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
        assert!(admission.judge(seconds(108), &ours(), reaches).is_ok());
        assert_eq!(tried.get(), 8);
    }
}
