//! Properties of ledgers, before any network.

use proptest::prelude::*;

use super::*;

/// What the two ends of an edge may do, in any order.
#[derive(Clone, Debug)]
enum Move {
    Share {
        from: usize,
        to: usize,
        part: f64,
    },
    /// The receiver reads the newest message of an edge, or an older one that comes late.
    Read {
        from: usize,
        to: usize,
        late: bool,
    },
    Book {
        node: usize,
        level: i64,
    },
    Close {
        from: usize,
        to: usize,
    },
    Die {
        node: usize,
    },
}

fn moves(nodes: usize) -> impl Strategy<Value = Move> {
    let pair = move || (0..nodes, 0..nodes - 1).prop_map(|(from, to)| (from, if to >= from { to + 1 } else { to }));
    prop_oneof![
        4 => (pair(), 0.0..0.5f64).prop_map(|((from, to), part)| Move::Share { from, to, part }),
        4 => (pair(), any::<bool>()).prop_map(|((from, to), late)| Move::Read { from, to, late }),
        2 => (0..nodes, -1000i64..1000).prop_map(|(node, level)| Move::Book { node, level }),
        1 => pair().prop_map(|(from, to)| Move::Close { from, to }),
        1 => (0..nodes).prop_map(|node| Move::Die { node }),
    ]
}

fn ledger(input: &[i64]) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.begin(input);
    ledger
}

/// Sends a part of the mass, not rounded.
fn give(ledger: &mut Ledger, to: u32, part: Fraction, before: &MassBefore) {
    ledger.open(to);
    ledger.send(to, part, before, |_| 0);
}

/// Books a level in the place of the one that is booked.
fn book(ledger: &mut Ledger, level: &[i64]) -> Result<(), Overflow> {
    let floats = |units: &[i64]| units.iter().map(|&units| units as f64).collect::<Vec<_>>();
    let old = floats(ledger.input());
    ledger.book(Unit::new(0), &old, &floats(level))
}

proptest! {
    /// Whatever is lost, read late, closed or undone: no unit is ever lost or made, and every
    /// ledger balances at any time.
    #[test]
    fn mass_is_conserved(moves in prop::collection::vec(moves(4), 1..120), shift in 0..8u32) {
        let mut ledgers: Vec<Ledger> = (0..4).map(|node| ledger(&[1000 * node, -7])).collect();
        let mut alive = [true; 4];
        let mut sent: Vec<Vec<Vec<i64>>> = vec![Vec::new(); 16];
        for one in moves {
            match one {
                Move::Share { from, to, part } if alive[from] && alive[to] => {
                    let before = ledgers[from].before(0..2);
                    ledgers[from].open(to as u32);
                    ledgers[from].send(to as u32, Fraction::of(part), &before, |_| shift);
                    sent[4 * from + to].push(ledgers[from].sent(to as u32).unwrap().to_vec());
                }
                Move::Read { from, to, late } if alive[from] && alive[to] => {
                    let messages = &sent[4 * from + to];
                    let newest = messages.last().cloned();
                    if let Some(sum) = if late { messages.first().cloned() } else { newest } {
                        ledgers[to].receive(from as u32, 0..2, &sum).unwrap();
                    }
                }
                Move::Book { node, level } => book(&mut ledgers[node], &[level, 2 * level]).unwrap(),
                Move::Close { from, to } if alive[from] && alive[to] => {
                    ledgers[from].take_back(to as u32);
                    ledgers[to].give_up(from as u32);
                    sent[4 * from + to].clear();
                }
                Move::Die { node } if alive.iter().filter(|alive| **alive).count() > 1 => {
                    alive[node] = false;
                    for ledger in &mut ledgers {
                        ledger.reverse(node as u32);
                    }
                    (0..4).for_each(|other| { sent[4 * node + other].clear(); sent[4 * other + node].clear(); });
                }
                _ => {}
            }
            prop_assert!(ledgers.iter().all(Ledger::audit));
            let living = || (0..4).filter(|&node| alive[node]);
            let mut sum = 0i64;
            for node in living() {
                sum += ledgers[node].mass().iter().sum::<i64>() - ledgers[node].input().iter().sum::<i64>();
                for other in living() {
                    let (out, inn) = (ledgers[node].sent(other as u32), ledgers[other].received(node as u32));
                    sum += out.map_or(0, |sums| sums.iter().sum()) - inn.map_or(0, |sums| sums.iter().sum::<i64>());
                }
            }
            prop_assert_eq!(sum, 0);
        }
    }
}

#[test]
fn sums_that_wrap_around_conserve_mass() {
    let mut ledger = ledger(&[3]);
    let (mut sum, mut sent) = (0i64, 0i64);
    for _ in 0..40 {
        sum = sum.wrapping_add(1 << 60);
        ledger.receive(1, 0..1, &[sum]).unwrap();
        let before = ledger.before(0..1);
        give(&mut ledger, 2, Fraction::of(0.999_999), &before);
        let now = ledger.sent(2).unwrap()[0];
        assert!(now.wrapping_sub(sent) > 1 << 59 && ledger.audit());
        sent = now;
    }
    assert!(ledger.mass()[0] > 0 && ledger.mass()[0] < 1 << 60, "the mass itself never wraps");
    assert!(ledger.receive(1, 0..1, &[sum.wrapping_add(i64::MAX)]).is_err());
}

#[test]
fn an_undone_edge_is_as_if_it_had_never_existed() {
    let mut one = ledger(&[100, -40]);
    let before = one.clone();
    assert_eq!(
        (one.take_back(1), one.give_up(1), one.reverse(1)),
        (Reversal::Nothing, Reversal::Nothing, Reversal::Nothing)
    );
    let mass = one.before(0..2);
    give(&mut one, 1, Fraction::of(0.5), &mass);
    one.receive(1, 0..2, &[7, 7]).unwrap();
    assert_eq!((one.mass(), one.targets().count(), one.sources().count()), (&[57, -13][..], 1, 1));
    assert!(matches!(one.reverse(1), Reversal::Relative(size) if size > 0.0));
    assert_eq!(one, before);
}

#[test]
fn a_share_does_not_depend_on_the_order_of_receivers() {
    let shares = |receivers: [u32; 2]| {
        let mut ledger = ledger(&[90]);
        let before = ledger.before(0..1);
        for to in receivers {
            give(&mut ledger, to, Fraction::of(1.0 / 3.0), &before);
        }
        (ledger.sent(1).unwrap().to_vec(), ledger.sent(2).unwrap().to_vec(), ledger.mass().to_vec())
    };
    assert_eq!(shares([1, 2]), shares([2, 1]));
}

#[test]
fn what_cannot_be_booked_changes_nothing() {
    let limit = Unit::LIMIT as f64;
    let mut one = ledger(&[5, 7]);
    one.receive(1, 0..2, &[3, 4]).unwrap();
    let before = one.clone();
    for refused in [limit, -2.0 * limit, f64::NAN, f64::INFINITY] {
        assert_eq!(one.book(Unit::new(0), &[5.0, 7.0], &[6.0, refused]), Err(Overflow), "{refused}");
        assert_eq!(one, before);
    }
    assert!(one.receive(2, 0..2, &[Unit::LIMIT - 9, 0]).is_ok() && !one.is_full());
    assert!(one.receive(3, 0..2, &[9, 0]).is_err() && one.audit());
}

/// A sum that has come near its limit asks for an epoch, in which all sums begin anew.
#[test]
fn a_ledger_is_full_when_a_sum_comes_near_its_limit() {
    let half = Unit::LIMIT / 2;
    let mut one = ledger(&[0]);
    one.receive(1, 0..1, &[half]).unwrap();
    let before = one.before(0..1);
    give(&mut one, 2, Fraction::of(0.999_999), &before);
    assert!(!one.is_full());
    let mut other = one.clone();
    one.receive(1, 0..1, &[2 * half]).unwrap();
    assert!(one.is_full(), "what was received");
    other.receive(3, 0..1, &[half]).unwrap();
    let before = other.before(0..1);
    give(&mut other, 2, Fraction::of(0.999_999), &before);
    other.receive(3, 0..1, &[half + 99_999]).unwrap();
    assert!(!other.is_full());
    other.receive(4, 0..1, &[half]).unwrap();
    let before = other.before(0..1);
    give(&mut other, 2, Fraction::of(0.999_999), &before);
    assert!(other.is_full(), "what was sent");
    let mut words = Vec::new();
    other.save(&mut |word| words.push(word));
    let (mut restored, mut words) = (ledger(&[0]), words.into_iter());
    restored.restore(&mut || words.next().ok_or(())).unwrap();
    assert!(restored.is_full());
    other.begin(&[0]);
    assert!(!other.is_full());
}

#[test]
fn a_snapshot_holds_the_whole_ledger() {
    let mut one = ledger(&[100, 3]);
    let mass = one.before(0..2);
    give(&mut one, 4, Fraction::of(0.25), &mass);
    one.receive(2, 0..2, &[-9, 1]).unwrap();
    let mut words = Vec::new();
    one.save(&mut |word| words.push(word));
    let mut other = ledger(&[0, 0]);
    let mut words = words.into_iter();
    other.restore(&mut || words.next().ok_or(())).unwrap();
    assert_eq!((&other, words.next()), (&one, None));
}

#[test]
fn what_is_rounded_off_a_share_stays_in_the_mass() {
    let mut one = ledger(&[1000, -1000]);
    let before = one.before(0..2);
    one.open(1);
    let mut largest = 0;
    let change = one.send(1, Fraction::of(0.5), &before, |share| {
        largest = share;
        6
    });
    assert_eq!((largest, change), (500, 563), "a share of 500, rounded down by at most 63");
    assert_eq!((one.sent(1).unwrap(), one.mass()), (&[448, -512][..], &[552, -488][..]));
    assert!(one.audit());
}
