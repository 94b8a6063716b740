//! Prints the rounds per second of FAB on policy evaluation: `rounds small|large ROUNDS THREADS`.
//! The scripts in `benches/` compare this figure with other programs.
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::sync::Arc;

use fabnet_benches::{fab, seconds, with_threads};
use fabnet_core::topology::{ErdosRenyi, Phases, Redraw};
use fabnet_problems::PolicyEvaluation;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse().ok());
    let (Some(what), Some(rounds), Some(threads)) = (arguments.first(), number(1), number(2)) else {
        println!("usage: rounds small|large ROUNDS THREADS");
        std::process::exit(2);
    };
    let elapsed = with_threads(threads as usize, || {
        let mut shard = if what == "large" {
            let graph = ErdosRenyi::new(1000, 0.05, 1, Redraw::EveryRound).with_ring();
            fab(Arc::new(PolicyEvaluation::<f64>::new(1000, 1)), 0.05, graph)
        } else {
            fab(Arc::new(PolicyEvaluation::<f64>::new(10, 1)), 0.1, Phases::new(10, 0.3, 1))
        };
        seconds(&mut shard, rounds / 10);
        seconds(&mut shard, rounds)
    });
    println!("{}", rounds as f64 / elapsed);
}
