//! What holds for every problem of the registry.

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Steps};
use fabnet_core::hypergradient::Solver;
use fabnet_core::observe::{ErrorWatch, run};
use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::topology::MixedRadix;
use fabnet_core::weights::Uniform;
use fabnet_core::{Curvature, GradientMut, Level, Network, Point, Problem, ProblemExt, Scratch, Shard, linalg};
use fabnet_problems::{PolicyEvaluation, Quadratic, SmoothBilevel, examples};

use crate::common::build;

const AGENTS: usize = 4;

/// Random vectors of the sizes (own, x, y) for one agent.
fn random(problem: &dyn Problem<f64>, agent: usize, number: u32) -> [Vec<f64>; 3] {
    let mut stream = Stream::new(11, agent, 0, Purpose::Other(number));
    let dim = problem.dim();
    [problem.private(agent), dim.outer, dim.inner].map(|len| stream.normals(len, 1.0))
}

fn point(agent: usize, [own, x, y]: &[Vec<f64>; 3]) -> Point<'_, f64> {
    Point { agent, round: 0, own, x, y }
}

fn gradient(
    problem: &dyn Problem<f64>,
    level: Level,
    agent: usize,
    at: &[Vec<f64>; 3],
    scale: (f64, f64),
) -> [Vec<f64>; 3] {
    let mut out = at.clone().map(|part| vec![0.0; part.len()]);
    let [own, x, y] = &mut out;
    problem.add_gradient(level, point(agent, at), GradientMut { scale, own, x, y }, &mut Scratch::default());
    out
}

fn shifted(at: &[Vec<f64>; 3], s: f64, by: &[Vec<f64>; 3]) -> [Vec<f64>; 3] {
    std::array::from_fn(|part| at[part].iter().zip(&by[part]).map(|(a, b)| a + s * b).collect())
}

fn dot(a: &[Vec<f64>; 3], b: &[Vec<f64>; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| linalg::dot(a, b)).sum()
}

/// Differences at h and h/2 combined, so that the error is of order h⁴.
fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (4.0 * central(h / 2.0) - central(h)) / 3.0
}

#[test]
fn gradients_are_the_derivatives_of_values() {
    for (name, problem) in examples::<f64>(AGENTS, 5) {
        for agent in 0..AGENTS {
            for level in [Level::Upper, Level::Lower] {
                for number in 0..5 {
                    let (at, along) = (random(&*problem, agent, 2 * number), random(&*problem, agent, 2 * number + 1));
                    let exact = dot(&gradient(&*problem, level, agent, &at, (1.0, 1.0)), &along);
                    let value = |s: f64| problem.value(level, point(agent, &shifted(&at, s, &along)));
                    // Long differences are the most accurate, but rectified units have kinks, over
                    // which only short ones do not reach.
                    let measured = [2e-3, 2e-5, 2e-6].map(|h| derivative(value, h));
                    let size = 1.0 + value(0.0).abs();
                    let right = measured.iter().any(|measured| (exact - measured).abs() < 1e-8 * size);
                    assert!(right, "{name} {level:?}: {exact} against {measured:?}");
                }
            }
        }
    }
}

#[test]
fn scales_multiply_and_gradients_add_up() {
    for (name, problem) in examples::<f64>(AGENTS, 5) {
        let at = random(&*problem, 2, 0);
        for level in [Level::Upper, Level::Lower] {
            let plain = gradient(&*problem, level, 2, &at, (1.0, 1.0));
            let scaled = gradient(&*problem, level, 2, &at, (-2.0, 0.5));
            let factors = [-2.0, -2.0, 0.5];
            for ((plain, scaled), factor) in plain.iter().zip(&scaled).zip(factors) {
                assert!(plain.iter().zip(scaled).all(|(a, b)| (factor * a - b).abs() < 1e-12), "{name} {level:?}");
            }
        }
    }
}

#[test]
fn curvature_is_the_derivative_of_the_lower_gradient() {
    for (name, problem) in examples::<f64>(AGENTS, 5) {
        let Some(curvature) = problem.capabilities().curvature else { continue };
        for agent in 0..AGENTS {
            let (at, [_, _, v]) = (random(&*problem, agent, 0), random(&*problem, agent, 1));
            let product = product(curvature, agent, &at, &v);
            let along = [vec![0.0; at[0].len()], vec![0.0; at[1].len()], v];
            for (part, exact) in product.iter().enumerate() {
                for (place, exact) in exact.iter().enumerate() {
                    let slope =
                        |s| gradient(&*problem, Level::Lower, agent, &shifted(&at, s, &along), (1.0, 1.0))[part][place];
                    let measured = derivative(slope, 2e-3);
                    assert!((exact - measured).abs() < 1e-8, "{name}: {exact} against {measured}");
                }
            }
        }
    }
}

fn product(curvature: &dyn Curvature<f64>, agent: usize, at: &[Vec<f64>; 3], v: &[f64]) -> [Vec<f64>; 3] {
    let mut out = at.clone().map(|part| vec![0.0; part.len()]);
    let [own, x, y] = &mut out;
    curvature.add_product(point(agent, at), v, GradientMut { scale: (1.0, 1.0), own, x, y }, &mut Scratch::default());
    out
}

#[test]
fn optima_are_stationary() {
    for (name, problem) in examples::<f64>(AGENTS, 5) {
        let Some(optimum) = problem.optimum() else { continue };
        // The lower level is stationary in y; for a single-level problem that is all.
        let mut sum = vec![0.0; optimum.y.len()];
        for agent in 0..AGENTS {
            let own = optimum.own.get(agent).cloned().unwrap_or_default();
            let at = [own, optimum.x.clone(), optimum.y.clone()];
            linalg::add(&mut sum, &gradient(&*problem, Level::Lower, agent, &at, (1.0, 1.0))[2]);
        }
        assert!(linalg::norm(&sum) < 1e-12, "{}: {:e}", name, linalg::norm(&sum));
    }
}

/// The optimum has no hypergradient. Where the lower level has several minima, the one of the
/// optimum is meant.
#[test]
fn hypergradients_vanish_at_optima() {
    let mut compared = 0;
    for (name, problem) in examples::<f64>(AGENTS, 5) {
        let is_bilevel = problem.dim().outer > 0 && problem.private(0) + problem.private(1) == 0;
        let Some(optimum) = problem.optimum().filter(|_| is_bilevel) else { continue };
        let hypergradient = Solver::near(optimum.y).hypergradient(&*problem, &optimum.x);
        assert!(linalg::norm(&hypergradient) < 1e-11, "{name}: {hypergradient:?}");
        compared += 1;
    }
    assert!(compared >= 3, "only {compared} problems know their optimum");
}

/// dFAB finds every optimum that is known, with automatic step sizes and from the problem's own
/// start.
#[test]
fn known_optima_are_found() {
    for (name, problem) in examples::<f64>(AGENTS, 5) {
        let Some(optimum) = problem.optimum().filter(|_| problem.dim().outer > 0) else { continue };
        let network = || Network::new(Arc::new(MixedRadix::new(AGENTS)), Arc::new(Uniform));
        let steps = Steps::auto(Auto::new(2)).on(network(), false).unwrap();
        let mut watch = ErrorWatch::new(optimum, 20).until(1e-9);
        let mut shard = Shard::new(build("dfab", &*problem, steps), problem, network(), 1).unwrap();
        run(&mut shard, 20_000, &mut watch).unwrap();
        assert!(watch.stays_below(1e-9).is_some(), "{name}: {:?}", watch.errors.last());
    }
}

/// A problem that hides its closed form, so that the solver has to work.
struct Hidden(Arc<dyn Problem<f64>>);

impl Problem<f64> for Hidden {
    fn agents(&self) -> usize {
        self.0.agents()
    }

    fn dim(&self) -> fabnet_core::Dim {
        self.0.dim()
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, scratch: &mut Scratch<f64>) {
        self.0.add_gradient(level, at, to, scratch);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.0.value(level, at)
    }
}

#[test]
fn hypergradients_by_closed_form_and_by_solving_agree() {
    let mut compared = 0;
    for (name, open) in examples::<f64>(AGENTS, 6) {
        if open.capabilities().closed_form.is_none() {
            continue;
        }
        let x = &[0.3, -0.2, 0.5, 1.0, -0.7][..open.dim().outer];
        let closed = Solver::new(&*open).hypergradient(&*open, x);
        let hidden = Hidden(open);
        let solved = Solver::new(&hidden).hypergradient(&hidden, x);
        assert!(
            linalg::distance_squared(&closed, &solved).sqrt() < 1e-8 * linalg::norm(&closed),
            "{name}: {closed:?} against {solved:?}"
        );
        compared += 1;
    }
    assert!(compared >= 2, "only {compared} problems have a closed form");
}

#[test]
fn a_solved_hypergradient_is_the_derivative_of_the_value() {
    let problem = SmoothBilevel::<f64>::new(AGENTS, 5);
    let mut solver = Solver::new(&problem);
    let (x, along) = (vec![0.4, -0.3, 0.8], [0.5, 1.0, -0.2]);
    let exact = linalg::dot(&solver.hypergradient(&problem, &x), &along);
    let mut solver = Solver::new(&problem);
    let mut value = |s: f64| {
        let x: Vec<f64> = x.iter().zip(along).map(|(x, a)| x + s * a).collect();
        let y = solver.response(&problem, &x).to_vec();
        (0..AGENTS)
            .map(|agent| problem.value(Level::Upper, Point { agent, round: 0, own: &[], x: &x, y: &y }))
            .sum::<f64>()
            / AGENTS as f64
    };
    let h = 2e-3;
    let mut central = |h: f64| (value(h) - value(-h)) / (2.0 * h);
    let measured = (4.0 * central(h / 2.0) - central(h)) / 3.0;
    assert!((exact - measured).abs() < 1e-8, "{exact} against {measured}");
}

/// Buffers, and what is drawn once for several gradients, do not change a gradient: whatever was
/// evaluated before, with noise and mini-batches.
#[test]
fn what_was_evaluated_before_does_not_matter() {
    let noisy: Vec<(&str, Arc<dyn Problem<f64>>)> = vec![
        ("noise", Arc::new(PolicyEvaluation::new(AGENTS, 5).with_noise(1.0))),
        ("batches", Arc::new(Quadratic::new(AGENTS, 6, 5.0, 1.0, 5).with_batches(3, 1.0))),
    ];
    for (name, problem) in examples::<f64>(AGENTS, 5).into_iter().chain(noisy) {
        let mut shared = Scratch::default();
        let mut seen = Vec::new();
        for number in 0..60 {
            let (agent, round) = (number / 5 % AGENTS, (number / 2) as u64);
            let at = random(&*problem, agent, 0);
            let gradient = |scratch: &mut Scratch<f64>| {
                let Point { own, x, y, .. } = point(agent, &at);
                let (mut o, mut gx, mut gy) = (vec![0.0; own.len()], vec![0.0; x.len()], vec![0.0; y.len()]);
                let to = GradientMut { scale: (1.0, 1.0), own: &mut o, x: &mut gx, y: &mut gy };
                problem.add_gradient(Level::Lower, Point { agent, round, own, x, y }, to, scratch);
                [o, gx, gy].concat()
            };
            let fresh = gradient(&mut Scratch::default());
            assert_eq!(gradient(&mut shared), fresh, "{name}: agent {agent} in round {round}");
            seen.push((agent, fresh));
        }
        let varies = (1..seen.len())
            .any(|k| seen[..k].iter().any(|(agent, before)| *agent == seen[k].0 && *before != seen[k].1));
        assert_eq!(varies, problem.noisy(), "{name}: gradients differ between rounds if and only if they are noisy");
    }
}
