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
fn give(ledger: &mut Ledger, to: u32, places: Range<usize>, part: Fraction, before: &[i64]) {
    ledger.open(to);
    ledger.send(to, places, part, before, |_| 0);
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
                    let before = ledgers[from].mass().to_vec();
                    ledgers[from].open(to as u32);
                    ledgers[from].send(to as u32, 0..2, Fraction::of(part), &before, |_| shift);
                    sent[4 * from + to].push(ledgers[from].sent(to as u32).unwrap().to_vec());
                }
                Move::Read { from, to, late } if alive[from] && alive[to] => {
                    let messages = &sent[4 * from + to];
                    let newest = messages.last().cloned();
                    if let Some(sum) = if late { messages.first().cloned() } else { newest } {
                        ledgers[to].receive(from as u32, 0..2, &sum).unwrap();
                    }
                }
                Move::Book { node, level } => ledgers[node].book(&[level, 2 * level]).unwrap(),
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
        let before = ledger.mass().to_vec();
        give(&mut ledger, 2, 0..1, Fraction::of(0.999_999), &before);
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
    let mass = one.mass().to_vec();
    give(&mut one, 1, 0..2, Fraction::of(0.5), &mass);
    one.receive(1, 0..2, &[7, 7]).unwrap();
    assert_eq!((one.mass(), one.targets().count(), one.sources().count()), (&[57, -13][..], 1, 1));
    assert!(matches!(one.reverse(1), Reversal::Relative(size) if size > 0.0));
    assert_eq!(one, before);
}

#[test]
fn a_share_does_not_depend_on_the_order_of_receivers() {
    let shares = |receivers: [u32; 2]| {
        let mut ledger = ledger(&[90]);
        let before = ledger.mass().to_vec();
        for to in receivers {
            give(&mut ledger, to, 0..1, Fraction::of(1.0 / 3.0), &before);
        }
        (ledger.sent(1).unwrap().to_vec(), ledger.sent(2).unwrap().to_vec(), ledger.mass().to_vec())
    };
    assert_eq!(shares([1, 2]), shares([2, 1]));
}

#[test]
fn what_cannot_be_booked_changes_nothing() {
    let mut one = ledger(&[5]);
    let before = one.clone();
    assert_eq!(one.book(&[Unit::LIMIT]), Err(Overflow));
    assert_eq!(one, before);
    assert!(!one.is_full());
    one.book(&[Unit::LIMIT - 1]).unwrap();
    assert!(one.receive(1, 0..1, &[1]).is_err() && one.audit());
}

#[test]
fn a_snapshot_holds_the_whole_ledger() {
    let mut one = ledger(&[100, 3]);
    let mass = one.mass().to_vec();
    give(&mut one, 4, 0..2, Fraction::of(0.25), &mass);
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
    let before = one.mass().to_vec();
    one.open(1);
    let mut largest = 0;
    let change = one.send(1, 0..2, Fraction::of(0.5), &before, |share| {
        largest = share;
        6
    });
    assert_eq!((largest, change), (500, 512));
    assert_eq!((one.sent(1).unwrap(), one.mass()), (&[448, -512][..], &[552, -488][..]));
    assert!(one.audit());
}
