//! A million agents in one process: 100 rounds of FAB on policy evaluation over the one-peer
//! exponential graph, and the same for ten thousand agents to show how the cost of an agent's round
//! grows.
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::sync::Arc;

use fabnet_benches::{best, fab, resident_bytes, seconds};
use fabnet_core::topology::OnePeerExponential;
use fabnet_problems::PolicyEvaluation;

fn main() {
    let (small, _) = measure(10_000, 1000);
    let (large, bytes) = measure(1_000_000, 100);
    println!(
        "memory per agent: {bytes:.0} bytes; cost of an agent's round from 10,000 to 1,000,000 agents: {:.2} times",
        large / small
    );
}

/// Measures the best cost of an agent's round in seconds, and the bytes of memory of an agent.
fn measure(agents: usize, rounds: u64) -> (f64, f64) {
    const PARTS: u64 = 10;
    let before = resident_bytes();
    let mut shard = fab(Arc::new(PolicyEvaluation::<f64>::new(agents, 1)), 0.05, OnePeerExponential::new(agents));
    let times: Vec<f64> = (0..PARTS).map(|_| seconds(&mut shard, rounds / PARTS)).collect();
    let total: f64 = times.iter().sum();
    let cost = 1.0 / best(times.iter().map(|time| (rounds / PARTS) as f64 * agents as f64 / time));
    let bytes = (resident_bytes() - before) / agents as f64;
    println!(
        "{agents:>9} agents: {rounds} rounds in {total:.2} s, {:.6} s a round, {:.0} ns an agent's round; \
         state {:.0} bytes per agent, resident {bytes:.0}",
        total / rounds as f64,
        cost * 1e9,
        shard.state_bytes()
    );
    (cost, bytes)
}
