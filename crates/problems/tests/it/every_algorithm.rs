//! What holds for every method of the registry: a new one is tested by being there.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::algorithm::{
    Auto, Method, MixingPlan, PushPull, PushSum, Request, StepDecay, Steps, StepsError, methods,
};
use fabnet_core::direction::Gradient;
use fabnet_core::network::connectivity;
use fabnet_core::observe::{Agents, run};
use fabnet_core::settings::Value;
use fabnet_core::topology::{ErdosRenyi, Phases, Redraw};
use fabnet_core::weights::Uniform;
use fabnet_core::{Dim, Network, Problem, ProblemExt, Scalar, SegmentKind, Shard, Smoothness, Venue, linalg};
use fabnet_problems::{BilevelQuadratic, PolicyEvaluation, Quadratic};

use crate::common::{self, build, build_with};

/// A problem that a method can solve: bilevel, with private coordinates where the method moves
/// them, or single level.
pub(crate) fn problem<T: Scalar>(method: &Method<T>, agents: usize) -> Arc<dyn Problem<T>> {
    if method.direction.bilevel {
        let most = if method.direction.private && method.venue != Venue::Central { 3 } else { 1 };
        let dim = Dim { outer: 3, inner: 5 };
        Arc::new(BilevelQuadratic::with_private(agents, dim, 3.0, 0.3, 7, |agent| agent % most))
    } else {
        Arc::new(Quadratic::new(agents, 6, 4.0, 1.0, 7))
    }
}

/// Step sizes of every sort that a method takes.
pub(crate) fn paces<T>(method: &Method<T>) -> Vec<Steps> {
    let given = [Steps::same(0.02), Steps::same(0.02).momentum(0.8), Steps::same(0.05).schedule(StepDecay::Power(0.5))];
    let automatic = method.direction.automatic.then(|| Steps::auto(Auto::new(12)));
    given.into_iter().chain(automatic).collect()
}

/// A graph that is redrawn in each round, as the venue of a method changes it; where the method has
/// one agent only, the graph is that of all.
fn redrawn<T>(method: &Method<T>, agents: usize) -> Network {
    let topology = ErdosRenyi::new(agents, 1.0 / agents as f64, 3, Redraw::EveryRound).with_ring();
    let venue = if method.venue == Venue::Central { Venue::AsAsked } else { method.venue };
    let (topology, weights) = venue.network(Box::new(topology), Box::new(Uniform));
    Network::new(topology, weights)
}

/// All state of all agents after some rounds on a graph that is redrawn in each, for agents divided
/// into these shards.
pub(crate) fn rows_after<T: Scalar>(
    method: &Method<T>,
    problem: &Arc<dyn Problem<T>>,
    steps: &Steps,
    ranges: &[Range<usize>],
    rounds: u64,
) -> Vec<Vec<T>> {
    let agents = problem.agents();
    let algorithm = build(method.name, &**problem, steps.clone());
    let make = |range: &Range<usize>| {
        Shard::part(algorithm.clone(), problem.clone(), redrawn(method, agents), 1, range.clone()).unwrap()
    };
    let mut shards: Vec<Shard<T>> = ranges.iter().map(make).collect();
    for _ in 0..rounds {
        let sent: Vec<Vec<T>> =
            shards.iter().flat_map(|shard| shard.range().map(|agent| shard.sent(agent).to_vec())).collect();
        for shard in &mut shards {
            let range = shard.range();
            let others = sent.iter().enumerate().filter(|(agent, _)| !range.contains(agent));
            others.for_each(|(agent, row)| shard.receive(agent, row).unwrap());
        }
        let request = shards.iter_mut().map(|shard| shard.round().unwrap()).fold(Request::Go, Request::or);
        if request == Request::Restart {
            shards.iter_mut().for_each(Shard::restart);
        }
    }
    let state = |shard: &Shard<T>, agent| [shard.row(agent), shard.keep(agent), shard.input(agent)].concat();
    shards.iter().flat_map(|shard| shard.range().map(|agent| state(shard, agent)).collect::<Vec<_>>()).collect()
}

fn any_partition_gives_the_same_bits<T: Scalar>() {
    for method in methods::<T>() {
        for steps in paces(&method) {
            let problem = problem(&method, 12);
            let whole = rows_after(&method, &problem, &steps, &[0..12], 200);
            for ranges in [vec![0..5, 5..12], vec![0..1, 1..2, 2..11, 11..12]] {
                let parts = rows_after(&method, &problem, &steps, &ranges, 200);
                assert!(whole == parts, "{} with {steps:?} differs when divided into {ranges:?}", method.name);
            }
            assert!(whole.iter().flatten().any(|value| *value != T::zero()));
        }
    }
}

#[test]
fn any_partition_into_shards_gives_the_same_bits_f64() {
    any_partition_gives_the_same_bits::<f64>();
}

#[test]
fn any_partition_into_shards_gives_the_same_bits_f32() {
    any_partition_gives_the_same_bits::<f32>();
}

fn a_saved_run_goes_on_with_the_same_bits<T: Scalar>() {
    for method in methods::<T>() {
        for steps in paces(&method) {
            let problem = problem(&method, 12);
            let algorithm = build(method.name, &*problem, steps.clone());
            let make = || Shard::new(algorithm.clone(), problem.clone(), redrawn(&method, 12), 1).unwrap();
            let (mut whole, mut resumed) = (make(), make());
            run(&mut whole, 150, &mut ()).unwrap();
            resumed.restore(&whole.save()).unwrap();
            run(&mut whole, 300, &mut ()).unwrap();
            run(&mut resumed, 300, &mut ()).unwrap();
            assert!(whole.save() == resumed.save(), "{} with {steps:?}", method.name);
        }
    }
}

#[test]
fn a_saved_run_goes_on_with_the_same_bits_f64() {
    a_saved_run_goes_on_with_the_same_bits::<f64>();
}

#[test]
fn a_saved_run_goes_on_with_the_same_bits_f32() {
    a_saved_run_goes_on_with_the_same_bits::<f32>();
}

fn any_number_of_threads_gives_the_same_rows(method: &Method<f64>, problem: &Arc<dyn Problem<f64>>, steps: &Steps) {
    let everyone = 0..problem.agents();
    let rows = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rows_after(method, problem, steps, std::slice::from_ref(&everyone), 40))
    };
    assert!(rows(1) == rows(4), "{} with {steps:?} differs between 1 and 4 threads", method.name);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for method in methods::<f64>() {
        for steps in [paces(&method).swap_remove(0), paces(&method).pop().unwrap()] {
            // Enough agents for several pieces of work.
            any_number_of_threads_gives_the_same_rows(&method, &problem(&method, 2800), &steps);
        }
        if method.direction.bilevel {
            let noisy: Arc<dyn Problem<f64>> = Arc::new(PolicyEvaluation::new(400, 1).with_noise(1.0));
            let decaying = Steps::same(0.02).schedule(StepDecay::InverseTime(1e-2));
            any_number_of_threads_gives_the_same_rows(&method, &noisy, &decaying);
        }
    }
}

#[test]
fn mass_is_conserved_in_every_round() {
    for method in methods::<f64>() {
        for steps in paces(&method) {
            let problem = problem(&method, 12);
            let algorithm = build(method.name, &*problem, steps);
            let mut shard = Shard::new(algorithm, problem, redrawn(&method, 12), 1).unwrap();
            for _ in 0..300 {
                if shard.round().unwrap() == Request::Restart {
                    shard.restart();
                }
                let residual = shard.view().mass_residual();
                let size: f64 = (0..12).flat_map(|agent| shard.row(agent)).map(|value| value.abs()).sum();
                assert!(
                    residual < 1e-14 * (1.0 + size),
                    "{}: {residual:e} after {} rounds",
                    method.name,
                    shard.view().round
                );
            }
        }
    }
}

/// The step sizes with which a method is tried, and how near it should come to the optimum: FAB's
/// penalty leaves a bias of order 1/λ, methods without a tracker follow their falling step sizes,
/// and all others are exact.
fn promise(method: &Method<f64>, penalty: f64, spread: u64) -> (Steps, f64) {
    let falling = |steps: Steps| steps.schedule(StepDecay::Power(0.6));
    let slowly = |steps: Steps| steps.schedule(StepDecay::Power(0.3));
    match method.name {
        "dl-push-sgd" => (falling(Steps::each([("outer", 0.5), ("inner", 0.5)])), 2e-2),
        "hgp" => (slowly(Steps::each([("x", 0.5), ("y", 0.3)])), 2e-2),
        name if name.starts_with("dl-") => (Steps::each([("outer", 0.05), ("inner", 0.1)]), 1e-8),
        "subgradient-push" | "push-sgd" | "d-psgd" => (falling(Steps::same(0.5)), 1e-2),
        "d-soba" => (slowly(Steps::each([("x", 0.01), ("y", 0.1), ("v", 0.1)])), 1e-2),
        "extra" | "exact-diffusion" => (Steps::same(0.3), 1e-8),
        "sparkle-extra" | "sparkle-ed" => (Steps::each([("x", 0.01), ("y", 0.1), ("v", 0.1)]), 1e-8),
        "sun-dsbo-se" => (slowly(Steps::each([("x", 0.1 * penalty), ("y", 0.1), ("theta", 0.1)])), 1e-2),
        "ada-sdbo" => (Steps::same(1.0), 0.1), // its step sizes fall as 1/√k
        "sun-dsbo-gt" | "push-pull-meha" => (Steps::auto(Auto::new(spread)), 3.0 / penalty),
        name if name.ends_with("fab") && name != "dfab" => (Steps::auto(Auto::new(spread)), 3.0 / penalty),
        _ => (Steps::auto(Auto::new(spread)), 1e-8),
    }
}

#[test]
fn every_method_reaches_the_optimum_it_should() {
    let topology = Phases::new(10, 0.3, 2);
    let spread = connectivity(&topology, &Uniform, 30).spread.unwrap().bound();
    for method in methods::<f64>() {
        let problem = method.venue.problem(problem(&method, 10)).unwrap();
        let penalty = 300.0;
        let (steps, bound) = promise(&method, penalty, spread);
        // Ten terms of HGP's series would leave an error of 2.6e-2.
        let given = [("penalty", penalty.into()), ("terms", Value::Whole(20))];
        let algorithm = build_with(method.name, &given, &*problem, steps);
        let (topology, weights) = method.venue.network(Box::new(topology), Box::new(Uniform));
        let mut shard = Shard::new(algorithm, problem.clone(), Network::new(topology, weights), 0).unwrap();
        run(&mut shard, 20_000, &mut ()).unwrap();
        let (view, optimum) = (shard.view(), problem.optimum().unwrap());
        let error = view.relative_error(&optimum);
        assert!(error < bound, "{}: the mean ends {error:e} from the optimum", method.name);
        for (agent, own) in optimum.own.iter().enumerate().filter(|_| method.direction.private) {
            let point = view.point(agent.min(problem.agents() - 1));
            let gap = linalg::distance_squared(&point[point.len() - own.len()..], own).sqrt();
            assert!(
                gap < 10.0 * bound,
                "{}: private coordinates of agent {agent} end {gap:e} from the optimum",
                method.name
            );
        }
    }
}

#[test]
fn both_precisions_solve_policy_evaluation() {
    fn error<T: Scalar>() -> f64 {
        let problem = Arc::new(PolicyEvaluation::<T>::new(10, 3));
        let algorithm = build("dfab", &*problem, common::automatic(3));
        let mut shard = Shard::new(algorithm, problem.clone(), common::phases(3), 3).unwrap();
        run(&mut shard, 3000, &mut ()).unwrap();
        shard.view().relative_error(&problem.optimum().unwrap()).f64()
    }
    let (single, double) = (error::<f32>(), error::<f64>());
    assert!(double < 1e-9 && single < 1e-3, "f64 {double:e}, f32 {single:e}");
}

/// Agents of a problem that needs smaller step sizes than the first ones all change them in the
/// same round, go back in the same round, and know the same of how they have fared.
#[test]
fn setbacks_are_taken_by_everybody_in_the_same_round() {
    /// What agents keep last: counters of the guard over their step sizes.
    const COUNTERS: usize = 9;
    let problem: Arc<dyn Problem<f64>> = Arc::new(BilevelQuadratic::new(10, Dim { outer: 3, inner: 5 }, 3.0, 0.3, 1));
    let algorithm = build("dfab", &*problem, Steps::auto(Auto::new(9)));
    let agreed: Vec<Range<usize>> = algorithm
        .segments(0)
        .iter()
        .filter(|(segment, _)| segment.kind == SegmentKind::Max)
        .map(|(_, range)| range)
        .collect();
    let halvings = |shard: &Shard<f64>, agent: usize| shard.row(agent)[agreed[Smoothness::LEN].end - 1];
    let counters = |shard: &Shard<f64>, agent: usize| {
        let keep = shard.keep(agent);
        keep[keep.len() - COUNTERS..].to_vec()
    };
    let mut shard = Shard::new(algorithm, problem, common::phases(2), 0).unwrap();
    let (mut restarts, mut most) = (0, 0.0f64);
    for round in 0..3000 {
        if shard.round().unwrap() == Request::Restart {
            restarts += 1;
            shard.restart();
        }
        let (now, fared) = (halvings(&shard, 0), counters(&shard, 0));
        assert!((0..10).all(|agent| halvings(&shard, agent) == now), "agents disagree in round {round}");
        assert!((0..10).all(|agent| counters(&shard, agent) == fared), "agents differ in round {round}: {fared:?}");
        most = most.max(now);
    }
    assert!(restarts > 0 && most > 0.0, "the test needs a problem with setbacks");
}

/// Gradient steps that are taken alone cost no bytes, and lead to the same solution.
#[test]
fn steps_alone_exchange_nothing_and_still_converge() {
    let problem = Arc::new(Quadratic::<f64>::new(10, 6, 4.0, 1.0, 7));
    let run_with = |every| {
        let steps = Steps::same(0.05).exchange_every(every);
        let algorithm = PushPull::new(&*problem, Gradient::new(), steps).unwrap();
        let mut shard = Shard::new(Arc::new(algorithm), problem.clone(), common::phases(1), 0).unwrap();
        run(&mut shard, 1500, &mut ()).unwrap();
        let view = shard.view();
        (view.bytes_per_agent(), view.costs.evaluations.lower, view.relative_error(&problem.optimum().unwrap()))
    };
    let [once, thrice] = [1, 3].map(run_with);
    assert_eq!(once.0, thrice.0, "a round is one exchange");
    assert!((thrice.1 as f64 / once.1 as f64 - 3.0).abs() < 0.01, "{} gradients, {}", thrice.1, once.1);
    assert!(once.2 < 1e-10 && thrice.2 < 1e-10, "{:e}, {:e}", once.2, thrice.2);
}

/// Gradient steps alone are refused where they would be wrong.
#[test]
fn steps_alone_are_refused_where_they_are_wrong() {
    let problem = Quadratic::<f64>::new(4, 2, 4.0, 1.0, 7);
    let build = |steps: Steps| PushPull::new(&problem, Gradient::new(), steps.exchange_every(2)).err();
    assert_eq!(build(Steps::same(0.1)), None);
    assert_eq!(build(Steps::auto(Auto::new(9))), Some(StepsError::AloneAutomatic));
    assert_eq!(build(Steps::same(0.1).double_loop(3)), Some(StepsError::AloneMethod));
    let mixing = MixingPlan { mixings: 2, ..MixingPlan::default() };
    assert_eq!(build(Steps::same(0.1).mixing(mixing)), Some(StepsError::AloneMixings));
    let push_sum = PushSum::new(&problem, Gradient::new(), Steps::same(0.1).exchange_every(2));
    assert_eq!(push_sum.err(), Some(StepsError::AloneMethod));
}

/// In inner rounds only the lower variables move and travel, in outer ones only x.
#[test]
fn double_loops_take_turns() {
    let mut tried = 0;
    for method in methods::<f64>().into_iter().filter(|method| method.direction.name == "itd") {
        let problem = problem(&method, 10);
        let steps = Steps::each([("outer", 0.05), ("inner", 0.1)]);
        let given = [("inner_rounds", fabnet_core::settings::Value::Whole(4))];
        let algorithm = build_with(method.name, &given, &*problem, steps);
        let mut shard = Shard::new(algorithm, problem.clone(), common::phases(1), 0).unwrap();
        let outer = problem.dim().outer;
        let mut bytes = [0.0; 2];
        for round in 0..50 {
            let before: Vec<Vec<f64>> = (0..10).map(|agent| shard.view().point(agent)).collect();
            let sent = shard.view().bytes_per_agent();
            shard.round().unwrap();
            let inner = round % 5 < 4;
            bytes[usize::from(inner)] = shard.view().bytes_per_agent() - sent;
            for (agent, before) in before.iter().enumerate() {
                let after = shard.view().point(agent);
                let what = format!("{}, agent {agent}, round {round}", method.name);
                assert_eq!(before[..outer] != after[..outer], !inner, "{what}: x");
                assert_eq!(before[outer..] != after[outer..], inner, "{what}: y and its sensitivity");
            }
        }
        assert!(0.0 < bytes[0] && bytes[0] < bytes[1], "{}: x is smaller than the rest: {bytes:?}", method.name);
        tried += 1;
    }
    assert_eq!(tried, 4);
}
