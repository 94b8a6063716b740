//! Tests of the checker, with real peers whose messages it is told of or not.

use fabnet_core::peer::Event;

use super::*;
use crate::attack::fixture::{Exchange, calm_scenario};
use crate::attack::forgery::Forgery;

/// Peers and a checker that hears every message.
struct Checked {
    exchange: Exchange,
    checker: InvariantChecker,
}

impl Checked {
    fn new(disks_forget: bool) -> Self {
        Self { exchange: Exchange::new(&calm_scenario(3, false)), checker: InvariantChecker::new(disks_forget) }
    }

    /// A round whose messages are recorded as sent at a moment, and then delivered or lost.
    fn round(&mut self, now: u64, arrives: impl Fn(u32, u32) -> bool) -> Check {
        self.exchange.round(arrives);
        for (_, bytes) in &self.exchange.sent {
            let message = WireMessage(bytes);
            let lengths = ChunkLengths::new(&self.exchange.peers[0].config().algorithm.segments(0));
            self.checker.record_sent(now, message, &lengths);
        }
        self.check()
    }

    fn check(&mut self) -> Check {
        self.exchange.peers.iter().for_each(|peer| self.checker.record_life(peer));
        self.exchange.peers.iter().try_for_each(|peer| self.checker.check_peer(peer))
    }
}

#[test]
fn peers_on_reliable_links_violate_nothing() {
    let mut checked = Checked::new(false);
    for now in 0..50 {
        checked.round(now, |_, _| true).unwrap();
    }
    checked.checker.check_drained(&checked.exchange.all(), 40).unwrap();
}

/// Lets node 0 hear from node 2 that node 1 lives in a later life.
fn hear_of_a_later_life(checked: &mut Checked) -> Check {
    checked.round(0, |_, _| true).unwrap();
    let truth = checked.exchange.sent.iter().find(|(to, bytes)| (*to, bytes[16]) == (0, 2)).unwrap().1.clone();
    let mut lie = Forgery::from(WireMessage(&truth));
    lie.add_part(1, [1, 9, 9]);
    checked.exchange.tell(0, Event::Message(lie.bytes()));
    checked.check()
}

#[test]
fn a_life_that_was_never_lived_is_found() {
    let check = hear_of_a_later_life(&mut Checked::new(false));
    let life = Incarnation { counter: 9, nonce: 9 };
    assert_eq!(check, Err(Violation::LifeNeverLived { node: 0, of: 1, life }));
}

#[test]
fn what_a_liar_says_of_itself_is_not_checked() {
    let mut checked = Checked::new(false);
    checked.checker.node_lies(1);
    assert_eq!(hear_of_a_later_life(&mut checked), Ok(()));
}

#[test]
fn mass_that_nobody_has_sent_is_found() {
    let mut checked = Checked::new(false);
    checked.round(0, |_, _| true).unwrap();
    (0..3).for_each(|_| checked.exchange.round(|from, to| (from, to) == (0, 1)));
    let check = checked.check();
    let Err(Violation::MassNeverSent { node: 1, source_node: 0, edge }) = check else { panic!("{check:?}") };
    assert_eq!((edge.from.0, edge.to.0), (0, 1));
}

/// Sends sums of which the later ones carry earlier times, as if the receiver took an older one.
fn gone_back(disks_forget: bool, restarted: bool) -> Check {
    let mut checked = Checked::new(disks_forget);
    // A sum is in the ledger one round after it was sent.
    for now in [100, 100, 50] {
        checked.round(now, |_, _| true).unwrap();
    }
    if restarted {
        (0..3).for_each(|node| checked.checker.node_started(node));
    }
    checked.round(50, |_, _| true)
}

#[test]
fn a_sum_that_is_older_than_the_one_before_is_found() {
    assert!(matches!(gone_back(false, false), Err(Violation::WentBack { .. })));
}

#[test]
fn a_node_may_go_back_after_a_restart_or_if_disks_forget() {
    assert_eq!(gone_back(false, true), Ok(()));
    assert_eq!(gone_back(true, false), Ok(()));
}

#[test]
fn mass_that_is_sent_and_never_arrives_is_stranded() {
    let mut checked = Checked::new(false);
    for now in 0..50 {
        checked.round(now, |from, to| now < 20 || (from, to) != (2, 0)).unwrap();
    }
    let check = checked.checker.check_drained(&checked.exchange.all(), 40);
    assert_eq!(check, Err(Violation::Stranded { from: 2, to: 0 }));
    assert_eq!(checked.checker.check_drained(&checked.exchange.all(), 10), Ok(()), "older mass has arrived");
}

#[test]
fn scalars_that_are_not_finite_are_found() {
    assert!(is_finite(&[1.0, -2.0], &[f64::INFINITY]));
    assert!(!is_finite(&[1.0, f64::INFINITY], &[]) && !is_finite(&[f64::NAN], &[]));
    assert!(!is_finite(&[1.0], &[f64::NAN]));
}

#[test]
fn edges_and_unread_messages_are_bounded() {
    assert_eq!(check_bounds(1, 4, 48, 3), Ok(()));
    assert!(check_bounds(1, 5, 0, 3).is_err());
    assert_eq!(check_bounds(1, 4, 49, 3), Err(Violation::Unbounded { node: 1, edges: 4, unread: 49, nodes: 3 }));
}

#[test]
fn what_is_passed_on_is_bounded() {
    let most = 2 * 9 + 3 + 2 * 17 * 1024;
    assert_eq!(check_rumours(1, most, 3), Ok(()));
    let rumours = most + 1;
    assert_eq!(check_rumours(1, rumours, 3), Err(Violation::TooManyRumours { node: 1, rumours, most }));
}

#[test]
fn the_hash_tells_sums_apart() {
    let sums = [[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, -1]];
    let hashes: std::collections::BTreeSet<u64> = sums.iter().map(|sum| hash(sum.iter().copied())).collect();
    assert_eq!(hashes.len(), sums.len());
}
