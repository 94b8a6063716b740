//! Functions that the measurements share.
#![allow(clippy::disallowed_methods, reason = "measuring needs a clock")]

mod triad;
pub mod yardstick;

use std::sync::Arc;
use std::time::Instant;

use fabnet_core::algorithm::{PushPull, Request, Steps, StepsError};
use fabnet_core::direction::{Gradient, Penalty};
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Direction, Network, Problem, Scalar, Shard, Topology};
pub use triad::Triad;

/// Push-pull with a direction and the same step size for all blocks, on a topology with uniform
/// mixing weights.
pub fn push_pull<T: Scalar>(
    problem: Arc<dyn Problem<T>>,
    direction: impl Direction<T> + 'static,
    step: f64,
    topology: impl Topology + 'static,
) -> Shard<T> {
    let algorithm: Result<Arc<dyn Algorithm<T>>, StepsError> =
        PushPull::new(&*problem, direction, Steps::same(step)).map(|a| Arc::new(a) as _);
    let network = Network::new(Arc::new(topology), Arc::new(Uniform));
    Shard::new(algorithm.expect("one step fits every block"), problem, network, 1)
        .expect("problem and topology have the same agents")
}

/// FAB with the penalty of the paper.
pub fn fab<T: Scalar>(problem: Arc<dyn Problem<T>>, step: f64, topology: impl Topology + 'static) -> Shard<T> {
    push_pull(problem, Penalty::new(60.0), step, topology)
}

/// Push-pull on a single-level problem.
pub fn gradient<T: Scalar>(problem: Arc<dyn Problem<T>>, step: f64, topology: impl Topology + 'static) -> Shard<T> {
    push_pull(problem, Gradient::new(), step, topology)
}

/// Measures the seconds that this number of rounds takes.
pub fn seconds<T: Scalar>(shard: &mut Shard<T>, rounds: u64) -> f64 {
    elapsed(|| {
        for _ in 0..rounds {
            let request = shard.round().expect("a whole shard misses nobody");
            assert_eq!(request, Request::Go);
        }
    })
}

/// Measures the seconds that some work takes.
pub fn elapsed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The largest rate of several turns: on a noisy machine, that of the turn that was disturbed
/// least.
pub fn best(rates: impl IntoIterator<Item = f64>) -> f64 {
    rates.into_iter().fold(0.0, f64::max)
}

/// The size of a memory page on x86-64, in which Linux counts.
const PAGE_BYTES: f64 = 4096.0;

/// The resident memory of this process in bytes; 0 where the system does not report it.
pub fn resident_bytes() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * PAGE_BYTES
}

/// Carries out work in a pool with this number of threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started").install(work)
}
