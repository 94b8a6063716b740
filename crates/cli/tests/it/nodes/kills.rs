//! Nodes that are killed at random, whatever they are doing.

use std::time::Duration;

use super::run::{Nodes, kill};
use fabnet_core::rng::{Purpose, Stream};

/// How many kills; `FABNET_KILLS=100` tries what takes longer.
fn kills() -> usize {
    std::env::var("FABNET_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20)
}

/// Half a second between two kills of a random node, which starts again at once. Every kill falls
/// on another moment: of the start, of a write, of a round.
fn killed_at_random(tick: f64, network: &str) {
    let every = Duration::from_millis(500);
    let rounds = (kills() as f64 * every.as_secs_f64() / tick) as u64 + 1500;
    let nodes = Nodes::new(4, rounds, &format!("tick = {tick}\n{network}"));
    let mut running = nodes.start_all();
    for number in 0..kills() {
        let mut stream = Stream::new(1, 0, number as u64, Purpose::Faults);
        std::thread::sleep(every.mul_f64(2.0 * stream.open01()));
        let victim = stream.below(running.len());
        assert!(running[victim].try_wait().unwrap().is_none(), "node {victim} had ended\n{}", nodes.logs());
        kill(&mut running[victim]);
        running[victim] = nodes.start(victim);
    }
    let codes: Vec<i32> = running.iter_mut().map(|node| nodes.end(node)).collect();
    println!("{} kills, then exit codes {codes:?}", kills());
    assert!(codes.iter().all(|code| *code == 0), "{codes:?}\n{}", nodes.logs());
    nodes.assert_right();
    println!("errors {:?}", nodes.errors_in("together"));
}

#[test]
fn nodes_that_are_killed_at_random_find_the_answer() {
    killed_at_random(0.005, "");
}

#[test]
fn nodes_that_go_on_in_the_same_life_and_are_killed_at_random_find_the_answer() {
    // Every message waits for a write.
    killed_at_random(0.02, "exact = true");
}
