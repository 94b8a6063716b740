//! When a node greets, and what it shows then.

use std::sync::Arc;
use std::time::Duration;

use crate::greeting::Greeting;
use crate::pki::{ForeignCertificate, MemberKeys};

/// Greets until somebody has answered and the keys of all members are known, and whoever asks.
pub(super) struct GreetingSchedule {
    digest: String,
    /// None in a run without seals.
    keys: Option<Arc<MemberKeys>>,
    /// The time at which others are asked again for the keys that are missing.
    next_question: Duration,
    /// The time between the last question and the next one.
    wait: Duration,
    /// The time of the last answer.
    answered: Option<Duration>,
    /// Whether somebody waits for an answer.
    is_asked: bool,
}

impl GreetingSchedule {
    /// The time between the first two questions; it doubles with each.
    const FIRST_WAIT: Duration = Duration::from_millis(500);
    /// The longest time between two questions: somebody may never have started.
    const LONGEST_WAIT: Duration = Duration::from_secs(60);
    /// The time between two answers, since each goes to everybody.
    const BETWEEN_ANSWERS: Duration = Duration::from_millis(500);

    pub(super) fn new(digest: String, keys: Option<Arc<MemberKeys>>) -> Self {
        let (next_question, wait) = (Duration::ZERO, Self::FIRST_WAIT);
        Self { digest, keys, next_question, wait, answered: None, is_asked: false }
    }

    /// Takes in what a member of the same run says.
    pub(super) fn hear(&mut self, greeting: &Greeting) -> Result<(), ForeignCertificate> {
        self.is_asked |= greeting.asks;
        self.keys.as_ref().map_or(Ok(()), |keys| keys.learn(&greeting.certificates))
    }

    /// Notes that somebody needs an answer without having asked.
    pub(super) fn owe_an_answer(&mut self) {
        self.is_asked = true;
    }

    /// The keys of a run with seals.
    pub(super) fn keys(&self) -> Option<&MemberKeys> {
        self.keys.as_deref()
    }

    /// Whether others are to be asked now, as long as nobody has answered or a key is missing.
    pub(super) fn is_question_due(&mut self, admitted: bool, now: Duration) -> bool {
        if !self.lacks_keys() {
            return !admitted;
        }
        if admitted && now < self.next_question {
            return false;
        }
        self.next_question = now + self.wait;
        if admitted {
            self.wait = (2 * self.wait).min(Self::LONGEST_WAIT);
        }
        true
    }

    /// Whether somebody who has asked is to be answered now.
    pub(super) fn is_answer_due(&mut self, now: Duration) -> bool {
        let is_early = self.answered.is_some_and(|answered| now.saturating_sub(answered) < Self::BETWEEN_ANSWERS);
        if !self.is_asked || is_early {
            return false;
        }
        (self.is_asked, self.answered) = (false, Some(now));
        true
    }

    /// What to say now. Members that are away cannot show their certificates themselves.
    pub(super) fn greeting<'a>(&'a self, away: impl Iterator<Item = &'a str>) -> Greeting {
        let others = away.take(Greeting::MOST_CERTIFICATES - MemberKeys::KEYS);
        let certificates = self.keys.as_ref().map(|keys| keys.certificates(others)).unwrap_or_default();
        Greeting { digest: self.digest.clone(), asks: self.lacks_keys(), certificates, expels: None }
    }

    fn lacks_keys(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| !keys.is_complete())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn without_seals_a_node_greets_until_it_is_admitted() {
        let mut schedule = GreetingSchedule::new("c0".into(), None);
        assert!(schedule.is_question_due(false, at(0)) && schedule.is_question_due(false, at(1)));
        assert!(!schedule.is_question_due(true, at(2)));
        assert_eq!(schedule.greeting(std::iter::empty()), Greeting { digest: "c0".into(), ..Greeting::default() });
    }

    #[test]
    fn whoever_asks_is_answered_and_many_who_ask_at_once_by_one_greeting() {
        let mut schedule = GreetingSchedule::new("c0".into(), None);
        let hear = |schedule: &mut GreetingSchedule, asks| {
            schedule.hear(&Greeting { digest: "c0".into(), asks, ..Greeting::default() }).unwrap();
        };
        hear(&mut schedule, false);
        assert!(!schedule.is_answer_due(at(0)), "an answer is not answered");
        (0..9).for_each(|_| hear(&mut schedule, true));
        assert!(schedule.is_answer_due(at(1)) && !schedule.is_answer_due(at(2)));
        hear(&mut schedule, true);
        assert!(!schedule.is_answer_due(at(500)) && schedule.is_answer_due(at(501)));
    }
}
