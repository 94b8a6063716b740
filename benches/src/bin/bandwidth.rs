//! The memory bandwidth of a round: push-pull on the diagonal quadratic, where mixing is nearly all
//! of the work, as a fraction of the bandwidth of a triad `a = b + s·c` with the same threads in
//! the same process.
//!
//! Only compulsory traffic is counted: each row is read once and written once, each contribution is
//! read and written, and the data of the problem are read. On a ring, the row of a neighbour may
//! come from the cache. On the one-peer exponential graph it has to be read from memory a second
//! time, which is not counted.
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::sync::Arc;

use fabnet_benches::{Triad, best, gradient, seconds, with_threads};
use fabnet_core::Shard;
use fabnet_core::topology::{OnePeerExponential, Ring};
use fabnet_problems::Quadratic;

/// The sizes that are measured: agents, and scalars of a row.
const SIZES: [(usize, usize); 3] = [(1_000_000, 10), (10_000, 1_000), (100, 100_000)];
/// The number of turns, of which the best counts.
const TURNS: usize = 7;

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or_else(rayon::current_num_threads);
    with_threads(threads, || {
        println!("threads {threads}, f64, GB/s of compulsory traffic");
        println!(
            "{:>9} {:>9} | {:>7} | {:>7} {:>9} | {:>7} {:>9}",
            "agents", "row", "triad", "ring", "of triad", "1-peer", "of triad"
        );
        for (agents, width) in SIZES {
            measure(agents, width);
        }
    });
}

fn measure(agents: usize, width: usize) {
    let problem = Arc::new(Quadratic::<f64>::new(agents, width / 2, 4.0, 1.0, 1));
    let scalars = agents * width;
    // The triad works on as much memory as a round: all rows twice, the contributions, and the data
    // of the problem.
    let mut triad = Triad::new(scalars * 7 / 6);
    let mut ring = gradient(problem.clone(), 0.01, Ring::new(agents));
    let mut exponential = gradient(problem, 0.01, OnePeerExponential::new(agents));
    let compulsory = (4 * scalars * size_of::<f64>()) as f64;
    let rate = |shard: &mut Shard<f64>| compulsory * 3.0 / seconds(shard, 3) / 1e9;
    let turns: Vec<[f64; 3]> = (0..TURNS).map(|_| [triad.rate(), rate(&mut ring), rate(&mut exponential)]).collect();
    let [triad, ring, exponential] = [0, 1, 2].map(|which| best(turns.iter().map(|turn| turn[which])));
    println!(
        "{agents:>9} {width:>9} | {triad:>7.1} | {ring:>7.1} {:>9.2} | {exponential:>7.1} {:>9.2}",
        ring / triad,
        exponential / triad
    );
}
