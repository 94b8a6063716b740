//! Clocks of nodes that run fast or slow, and wall clocks that somebody sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use fabnet_net::{Clock, ManualClock, Validity};

use crate::cluster::Cluster;
use crate::upgrading::automatic;

/// A clock that runs at another rate than the one of the network, and whose two times can jump.
#[derive(Debug)]
struct WrongClock {
    right: Arc<ManualClock>,
    /// How fast it runs, in thousandths.
    rate: u64,
    /// The seconds by which it has jumped ahead.
    ahead: AtomicU64,
    /// The seconds by which the wall clock is wrong beyond that.
    wall: AtomicI64,
}

impl WrongClock {
    fn jump(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }

    fn set_wall(&self, seconds: i64) {
        self.wall.store(seconds, Ordering::Relaxed);
    }
}

impl Clock for WrongClock {
    fn now(&self) -> Duration {
        let drifted = self.right.now().as_nanos() as u64 / 1000 * self.rate;
        Duration::from_nanos(drifted) + Duration::from_secs(self.ahead.load(Ordering::Relaxed))
    }

    fn unix_time(&self) -> Duration {
        let since = (self.right.unix_time() + self.now()).saturating_sub(self.right.now());
        let wall = self.wall.load(Ordering::Relaxed);
        let by = Duration::from_secs(wall.unsigned_abs());
        // No clock shows a time before 1970.
        if wall < 0 { since.saturating_sub(by) } else { since + by }
    }
}

/// Gives each node a clock of its own that runs at this rate, in thousandths.
fn with_clocks(cluster: &mut Cluster, rates: &[u64]) -> Vec<Arc<WrongClock>> {
    let right = &cluster.clock;
    let clock = |&rate: &u64| {
        Arc::new(WrongClock { right: right.clone(), rate, ahead: AtomicU64::new(0), wall: AtomicI64::new(0) })
    };
    let clocks: Vec<_> = rates.iter().map(clock).collect();
    cluster.clocks = clocks.iter().map(|clock| clock.clone() as Arc<dyn Clock>).collect();
    clocks
}

fn assert_answer(cluster: &Cluster) {
    cluster.assert_all_done();
    let first = cluster.solution(0);
    let largest = first.iter().fold(0.0f64, |largest, scalar| largest.max(scalar.abs()));
    for node in 1..cluster.configs.len() {
        let distance = first.iter().zip(cluster.solution(node)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 1e-6 * largest, "n{node}: {distance}");
    }
    assert!((0..cluster.configs.len()).all(|node| cluster.status(node).agents[0].max_mass_residual == 0));
}

fn fingerprints(cluster: &Cluster) -> Vec<String> {
    (0..cluster.configs.len()).flat_map(|node| cluster.status(node).agents).map(|agent| agent.fingerprint).collect()
}

#[test]
fn clocks_that_drift_by_a_twentieth_cost_nothing_but_time() {
    let mut cluster = automatic(4);
    with_clocks(&mut cluster, &[950, 1000, 1000, 1050]);
    cluster.start_all();
    cluster.run_to_end();
    assert_answer(&cluster);
}

#[test]
fn in_lockstep_drift_does_not_change_a_bit() {
    let run = |rates: &[u64]| {
        let mut cluster = Cluster::new(4, 200, "pace = \"lockstep\"");
        with_clocks(&mut cluster, rates);
        cluster.start_all();
        cluster.run_to_end();
        cluster.assert_all_done();
        fingerprints(&cluster)
    };
    assert_eq!(run(&[950, 1000, 1010, 1050]), run(&[1000; 4]));
}

/// A day ahead, a year back, to 1970 and years ahead, each for a while and at a node of its own.
#[test]
fn wall_clocks_that_are_set_do_not_matter_to_rounds() {
    const DAY: i64 = 24 * 3600;
    let mut cluster = automatic(4);
    let authority = cluster.secure();
    let clocks = with_clocks(&mut cluster, &[1000; 4]);
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 200);
    for (clock, wall) in clocks.iter().zip([DAY, -365 * DAY, i64::MIN / 2, 10 * 365 * DAY]) {
        clock.set_wall(wall);
        cluster.step_for(Duration::from_secs(2));
        assert!(cluster.ends.iter().all(Option::is_none), "{:?}", cluster.ends);
    }
    // Who has a certificate that is over by its clock goes on, and says so.
    let certificate = cluster.status(3).certificate.unwrap();
    assert!(certificate.days_left <= 0, "{certificate:?}");
    for clock in &clocks {
        clock.set_wall(0);
    }
    authority.renew("n3", Validity::OF_NODES).unwrap();
    cluster.run_to_end();
    assert_answer(&cluster);
}

#[test]
fn a_node_whose_wall_clock_was_set_back_before_a_restart_is_a_member_again() {
    for is_disk_lost in [false, true] {
        let mut cluster = automatic(3);
        let clocks = with_clocks(&mut cluster, &[1000; 3]);
        cluster.start_all();
        cluster.step_until("under way", |cluster| cluster.round(2) > 300);
        cluster.crash(2);
        if is_disk_lost {
            // Lives then count from the wall clock, which shows less than before.
            let files: Arc<dyn fabnet_files::Files> = cluster.disks[2].clone();
            files.remove_tree(std::path::Path::new("/state")).unwrap();
        }
        clocks[2].set_wall(-7 * 24 * 3600);
        cluster.step_for(Duration::from_secs(1));
        cluster.start(2);
        cluster.step_for(Duration::from_secs(8));
        assert_eq!(cluster.status(0).agents[0].members, 3, "lost disk: {is_disk_lost}");
        cluster.run_to_end();
        assert_answer(&cluster);
    }
}

/// As after a virtual machine was paused: ticks of an hour are due at once.
#[test]
fn a_node_whose_clock_jumps_by_an_hour_goes_on() {
    let mut cluster = automatic(3);
    let clocks = with_clocks(&mut cluster, &[1000; 3]);
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(1) > 300);
    clocks[1].jump(3600);
    cluster.step_for(Duration::from_secs(1));
    let round = cluster.round(1);
    assert!(round < 600, "an hour of rounds is not caught up with: {round}");
    cluster.run_to_end();
    assert_answer(&cluster);
}
