//! Simulated peers with ledgers, 10 % of whose messages are lost, on the one-peer exponential
//! graph: what setting them up, an agent's round, its memory and its messages cost as their number
//! grows.
//!
//! `peers [AGENTS…]` measures these numbers of agents, each in comparison with the first, and fails
//! if one takes more than a minute to set up, or an agent's round more than twice as long.
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::process::ExitCode;
use std::sync::Arc;

use fabnet_benches::{best, elapsed, resident_bytes};
use fabnet_core::Algorithm;
use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::Penalty;
use fabnet_core::peer::WordLength;
use fabnet_core::topology::OnePeerExponential;
use fabnet_core::weights::Uniform;
use fabnet_problems::PolicyEvaluation;
use fabnet_sim::{LinkFaults, LossyPeers};

/// Rounds that are not measured: peers meet their neighbours, and buffers get their size.
const WARM_UP: u64 = 30;
/// The agents' rounds that a turn has at least.
const TURN: u64 = 20_000;
const TURNS: usize = 5;
/// The rounds that a turn has at least, however many agents there are.
const FEWEST_ROUNDS: u64 = 14;

/// The longest time to set peers up, in seconds.
const LONGEST_SET_UP: f64 = 60.0;
/// The largest cost of an agent's round, as a multiple of the first one.
const LARGEST_RATIO: f64 = 2.0;

fn main() -> ExitCode {
    let number = |word: String| word.parse().unwrap_or_else(|_| panic!("`{word}` is no number of agents"));
    let numbers: Vec<usize> = std::env::args().skip(1).map(number).collect();
    let numbers = if numbers.is_empty() { vec![100, 10, 1000, 10_000] } else { numbers };
    let (mut first, mut passed) = (None, true);
    for agents in numbers {
        let (set_up, cost) = measure(agents);
        let ratio = cost / *first.get_or_insert(cost);
        println!("         {ratio:.2} times the first");
        passed &= set_up <= LONGEST_SET_UP && ratio <= LARGEST_RATIO;
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures the time to set peers up and the best cost of an agent's round, in seconds.
fn measure(agents: usize) -> (f64, f64) {
    let before = resident_bytes();
    let mut peers = None;
    let set_up = elapsed(|| peers = Some(lossy_peers(agents)));
    let Some(mut peers) = peers else { return (set_up, f64::NAN) };
    (0..WARM_UP).for_each(|_| peers.round());
    let rounds = TURN.div_ceil(agents as u64).max(FEWEST_ROUNDS);
    let sent = peers.view().costs.bytes;
    let work = (rounds * agents as u64) as f64;
    let cost = 1.0 / best((0..TURNS).map(|_| work / elapsed(|| (0..rounds).for_each(|_| peers.round()))));
    let bytes = (peers.view().costs.bytes - sent) as f64 / (TURNS as f64 * work);
    println!(
        "{agents:>6} peers: set-up {set_up:.2} s, {:.1} µs an agent's round, {:.3} MB each, {bytes:.0} bytes sent a round",
        cost * 1e6,
        (resident_bytes() - before) / agents as f64 / 1e6
    );
    (set_up, cost)
}

/// Peers that evaluate a policy by FAB.
fn lossy_peers(agents: usize) -> LossyPeers<f64> {
    let problem = Arc::new(PolicyEvaluation::<f64>::new(agents, 1));
    let algorithm: Arc<dyn Algorithm<f64>> =
        Arc::new(PushPull::new(&*problem, Penalty::new(60.0), Steps::same(0.05)).expect("one step fits every block"));
    let topology = Arc::new(OnePeerExponential::new(agents));
    let faults = LinkFaults { loss: 0.1, ..LinkFaults::default() };
    LossyPeers::new(algorithm, problem, topology, Arc::new(Uniform), 1, (faults, WordLength::Full))
}
