//! Tests of who takes part.

use std::collections::BTreeMap;
use std::time::Duration;

use super::attendance::{Attendance, PeerView, StartGate};
use super::presence::Presence;
use crate::config::{Config, Member};

/// What one peer knows, as a test wants it.
#[derive(Default)]
pub(super) struct FakePeer {
    agent: u32,
    heard: BTreeMap<u32, u64>,
    dead: Vec<u32>,
    left: Vec<u32>,
    rounds: BTreeMap<u32, u64>,
}

impl FakePeer {
    /// A peer that knows how far others are, and which of them are dead.
    pub(super) fn far<const N: usize>(rounds: [(u32, u64); N], dead: &[u32]) -> Self {
        Self { rounds: rounds.into(), dead: dead.into(), ..Self::default() }
    }
}

impl PeerView for FakePeer {
    fn agent(&self) -> u32 {
        self.agent
    }
    fn heard_in(&self, agent: u32) -> Option<u64> {
        self.heard.get(&agent).copied()
    }
    fn counts_as_dead(&self, agent: u32) -> bool {
        self.dead.contains(&agent)
    }
    fn has_left(&self, agent: u32) -> bool {
        self.left.contains(&agent)
    }
    fn round_of(&self, agent: u32) -> u64 {
        self.rounds.get(&agent).copied().unwrap_or(0)
    }
}

fn hears<const N: usize>(heard: [(u32, u64); N]) -> FakePeer {
    FakePeer { heard: heard.into(), ..FakePeer::default() }
}

/// The attendance of node `n0` among these members, of which each owns one agent.
fn attendance(members: u32, start: Option<usize>) -> Attendance {
    let member =
        |agent: u32| Member { name: format!("n{agent}"), agents: vec![agent], address: "h:1".into(), http: None };
    let config = Config::new("r", "n0", (0..members).map(member).collect());
    Attendance::new(&config, StartGate { start, within: Duration::from_secs(60) }, Duration::ZERO)
}

#[test]
fn the_first_round_begins_when_everybody_was_heard() {
    let attendance = attendance(3, None);
    let may_begin = |peer: FakePeer| attendance.may_begin(&[&peer], Duration::from_secs(1)).unwrap();
    assert!(!may_begin(hears([(1, 0)])));
    assert!(may_begin(hears([(1, 0), (2, 0)])));
}

#[test]
fn fewer_members_are_enough_if_the_plan_says_so() {
    let attendance = attendance(3, Some(2));
    let may_begin = |peer: FakePeer| attendance.may_begin(&[&peer], Duration::from_secs(1)).unwrap();
    assert!(!may_begin(hears([])));
    assert!(may_begin(hears([(2, 0)])));
}

#[test]
fn nobody_waits_for_members_that_were_expelled() {
    let mut attendance = attendance(3, None);
    attendance.expelled = 1;
    assert!(attendance.may_begin(&[&hears([(2, 0)])], Duration::from_secs(1)).unwrap());
}

#[test]
fn who_is_missing_when_time_is_up_is_named() {
    let mut attendance = attendance(3, None);
    let peer = hears([(1, 0)]);
    attendance.observe(&[&peer]);
    assert!(matches!(attendance.may_begin(&[&peer], Duration::from_millis(59_999)), Ok(false)));
    let error = attendance.may_begin(&[&peer], Duration::from_secs(60)).unwrap_err().to_string();
    assert!(error.contains("within 60 s: 2 of 3 members were heard, `n2` not"), "{error}");
    // Somebody who was heard and has given up since is not named.
    let error = attendance.may_begin(&[&hears([])], Duration::from_secs(61)).unwrap_err().to_string();
    assert!(error.contains("2 of 3 members were heard, `n2` not"), "{error}");
}

#[test]
fn a_member_is_present_when_all_peers_hear_all_its_agents() {
    let member = |name: &str, agents: &[u32]| Member {
        name: name.into(),
        agents: agents.into(),
        address: "h:1".into(),
        http: None,
    };
    let config = Config::new("r", "a", vec![member("a", &[0, 1]), member("b", &[2, 3])]);
    let gate = StartGate { start: None, within: Duration::from_secs(60) };
    let attendance = Attendance::new(&config, gate, Duration::ZERO);
    let first = FakePeer { agent: 0, ..hears([(1, 0), (2, 0), (3, 0)]) };
    let second = FakePeer { agent: 1, ..hears([(0, 0), (2, 0)]) };
    assert_eq!(attendance.absent(&[&first, &second]), ["b"]);
    assert_eq!(attendance.absent(&[&first]), [""; 0]);
}

#[test]
fn the_state_of_a_member_is_what_is_known_of_its_agents() {
    let mut attendance = attendance(6, None);
    let now = FakePeer { dead: vec![3, 4], left: vec![4, 5], ..hears([(1, 7), (5, 7)]) };
    attendance.observe(&[&hears([(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)])]);
    let states = attendance.states(&[&now]).into_iter().map(|(_, state)| state);
    let [heard, silent, dead, left] = [Presence::Heard, Presence::Silent, Presence::Dead, Presence::Left];
    // The last one is heard again after its farewell.
    assert_eq!(states.collect::<Vec<_>>(), [heard, silent, dead, left, heard]);
    let unheard = self::attendance(2, None);
    assert_eq!(unheard.states(&[&hears([])]), [("n1", Presence::Unheard)]);
}

#[test]
fn everybody_who_was_heard_late_took_part() {
    let mut attendance = attendance(3, None);
    let peer = hears([(1, 90), (2, 100)]);
    attendance.observe(&[&peer]);
    assert_eq!(attendance.judge_end(&[&peer], 100), [""; 0]);
}

#[test]
fn who_fell_silent_early_or_never_came_is_named() {
    let mut attendance = attendance(3, None);
    let peer = hears([(1, 89)]);
    attendance.observe(&[&peer]);
    let wrong = attendance.judge_end(&[&peer], 100);
    assert_eq!(
        wrong,
        ["only 2 of 3 members took part, `n2` did not", "`n1`, `n2` were not heard in the last tenth of the rounds",]
    );
}

#[test]
fn one_that_has_died_is_borne_and_most_of_them_are_not() {
    let mut attendance = attendance(4, None);
    let dead = |dead: &[u32], left: &[u32]| FakePeer {
        dead: dead.into(),
        left: left.into(),
        ..hears([(1, 50), (2, 50), (3, 50)])
    };
    attendance.observe(&[&hears([(1, 50), (2, 50), (3, 50)])]);
    let wrong = attendance.judge_end(&[&dead(&[1, 2, 3], &[])], 100);
    assert_eq!(wrong, ["`n1`, `n2`, `n3` fell silent: they have died, or this node was cut off"]);
    assert_eq!(attendance.judge_end(&[&dead(&[1, 2, 3], &[2])], 100), [""; 0], "one of them said farewell");
}

#[test]
fn one_that_was_done_and_left_long_before_is_named() {
    let mut attendance = attendance(3, None);
    let left = |heard| FakePeer {
        dead: vec![1],
        left: vec![1],
        rounds: [(1, 100), (2, 95)].into(),
        ..hears([(1, heard), (2, 100)])
    };
    attendance.observe(&[&left(60)]);
    let wrong = attendance.judge_end(&[&left(60)], 100);
    assert_eq!(wrong, ["`n1` had done all rounds and left while this node was far behind"]);
    attendance.observe(&[&left(90)]);
    assert_eq!(attendance.judge_end(&[&left(90)], 100), [""; 0], "it was there nearly to the end");
    let mut stopped = self::attendance(3, None);
    let early = FakePeer { rounds: [(1, 60), (2, 95)].into(), ..left(60) };
    stopped.observe(&[&early]);
    assert_eq!(stopped.judge_end(&[&early], 100), [""; 0], "its operator has stopped it");
}
