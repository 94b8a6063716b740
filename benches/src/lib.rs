//! What the measurements share.
#![allow(clippy::disallowed_methods, reason = "measuring needs a clock")]

use std::sync::Arc;
use std::time::Instant;

use fabnet_core::algorithm::{PushPull, Request, Steps, StepsError};
use fabnet_core::direction::{Gradient, Penalty};
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Direction, Network, Problem, Scalar, Shard, Topology};

/// Push-pull with a direction and one step, on a topology with uniform weights.
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

/// FAB with the published penalty.
pub fn fab<T: Scalar>(problem: Arc<dyn Problem<T>>, step: f64, topology: impl Topology + 'static) -> Shard<T> {
    push_pull(problem, Penalty::new(60.0), step, topology)
}

/// Single-level push-pull.
pub fn gradient<T: Scalar>(problem: Arc<dyn Problem<T>>, step: f64, topology: impl Topology + 'static) -> Shard<T> {
    push_pull(problem, Gradient::new(), step, topology)
}

/// Seconds for so many rounds.
pub fn seconds<T: Scalar>(shard: &mut Shard<T>, rounds: u64) -> f64 {
    elapsed(|| {
        for _ in 0..rounds {
            let request = shard.round().expect("a whole shard misses nobody");
            assert_eq!(request, Request::Go);
        }
    })
}

/// Seconds for some work.
pub fn elapsed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The largest: of several turns on a noisy machine, the one that was disturbed least.
pub fn best(rates: impl IntoIterator<Item = f64>) -> f64 {
    rates.into_iter().fold(0.0, f64::max)
}

/// Memory of this process that is in use, as the system counts it; 0 where it does not say.
pub fn resident_bytes() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0
}

/// Carries out work in a pool of this many threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started").install(work)
}
