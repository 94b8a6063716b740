//! Rounds do not allocate: not on one thread, not on several, not when the graph is drawn anew in
//! every round.

#[path = "it/common/mod.rs"]
mod common;

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Steps, methods};
use fabnet_core::topology::{ErdosRenyi, Redraw};
use fabnet_core::weights::Metropolis;
use fabnet_core::{Dim, Network, Problem, ProblemExt, Shard};
use fabnet_problems::{BilevelQuadratic, PolicyEvaluation, Quadratic, examples};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Blocks allocated by 100 rounds after some to warm up.
fn allocated(method: &str, problem: Arc<dyn Problem<f64>>, steps: Steps) -> u64 {
    let agents = problem.agents();
    let graph = ErdosRenyi::new(agents, 8.0 / agents as f64, 3, Redraw::EveryRound).with_ring();
    let algorithm = common::build(method, &*problem, steps);
    let mut shard = Shard::new(algorithm, problem, Network::new(Arc::new(graph), Arc::new(Metropolis)), 1).unwrap();
    let mut rounds = |count| (0..count).for_each(|_| assert!(shard.round().is_ok()));
    rounds(100);
    let before = dhat::HeapStats::get().total_blocks;
    rounds(100);
    dhat::HeapStats::get().total_blocks - before
}

#[test]
fn rounds_do_not_allocate() {
    let _profiler = dhat::Profiler::builder().testing().build();
    for method in methods::<f64>() {
        let automatic = method.direction.automatic.then(|| Steps::auto(Auto::new(20)));
        for steps in [Steps::same(0.01)].into_iter().chain(automatic) {
            let small: Arc<dyn Problem<f64>> = if method.direction.bilevel {
                let most = if method.direction.private { 3 } else { 1 };
                let dim = Dim { outer: 3, inner: 5 };
                Arc::new(BilevelQuadratic::with_private(20, dim, 3.0, 0.3, 7, |agent| agent % most))
            } else {
                Arc::new(Quadratic::new(20, 6, 4.0, 1.0, 7))
            };
            assert_eq!(allocated(method.name, small, steps.clone()), 0, "{} on one thread", method.name);
        }
    }
    for (name, problem) in examples::<f64>(6, 2) {
        let method = if problem.is_bilevel() { "fab" } else { "push-pull" };
        assert_eq!(allocated(method, problem, Steps::same(1e-3)), 0, "{method} on {name}");
    }
    // Enough agents for several pieces of work.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let large = pool.install(|| allocated("fab", Arc::new(PolicyEvaluation::new(2000, 1)), Steps::same(0.01)));
    assert_eq!(large, 0, "fab on three threads");
}
