//! When a run counts as diverged: agents of a ring are put where they are to be looked at.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Fresh, Steps};
use fabnet_core::observe::{Agents, DivergenceGuard, ErrorWatch, Observer};
use fabnet_core::{Algorithm, Costs, Divergence, Optimum, Oracle, ProblemExt, SegmentKind, Stop, View, Work};
use fabnet_problems::PolicyEvaluation;

use crate::common;

/// Ten agents at given points.
struct Ring {
    problem: PolicyEvaluation<f64>,
    algorithm: Arc<dyn Algorithm<f64>>,
    points: Vec<Vec<f64>>,
    rows: Vec<Vec<f64>>,
    keeps: Vec<Vec<f64>>,
    round: u64,
}

const AGENTS: usize = 10;

impl Ring {
    /// All at the starting point, with constant or with automatic step sizes.
    fn new(steps: Steps) -> Self {
        let problem = PolicyEvaluation::new(AGENTS, 1);
        let algorithm = common::build("fab", &problem, steps);
        let points = (0..AGENTS).map(|agent| algorithm.starting_point(&problem, agent)).collect();
        let mut ring = Self { problem, algorithm, points, rows: Vec::new(), keeps: Vec::new(), round: 0 };
        ring.place();
        ring
    }

    /// The same agents, one of them moved along its first coordinate, some rounds later.
    fn moved(mut self, agent: usize, by: f64, round: u64) -> Self {
        self.points[agent][0] += by;
        self.round = round;
        self.place();
        self
    }

    fn place(&mut self) {
        (self.rows, self.keeps) = (Vec::new(), Vec::new());
        for (agent, point) in self.points.iter().enumerate() {
            let segments = self.algorithm.segments(0);
            let (mut row, mut keep) = (vec![0.0; segments.width()], vec![0.0; self.algorithm.keep(0)]);
            let mut work = Work::default();
            let mut oracle = Oracle { problem: &self.problem, seed: 1, agent, round: 0, work: &mut work };
            let input = &mut vec![0.0; segments.count(SegmentKind::Push)];
            self.algorithm.begin(point, Fresh { row: &mut row, keep: &mut keep, input }, &mut oracle);
            self.rows.push(row);
            self.keeps.push(keep);
        }
    }

    fn view(&self) -> View<'_, f64> {
        View {
            round: self.round,
            problem: &self.problem,
            algorithm: &*self.algorithm,
            costs: Costs::default(),
            agents: self,
        }
    }

    fn optimum(&self) -> Optimum<f64> {
        self.problem.optimum().unwrap()
    }

    /// Whether this is beyond the limits of a run that started elsewhere.
    fn has_diverged_from(&self, limits: &Divergence<f64>) -> bool {
        limits.is_seen(&self.view(), &self.view().mean())
    }
}

impl Agents<f64> for Ring {
    fn range(&self) -> Range<usize> {
        0..AGENTS
    }

    fn row(&self, agent: usize) -> &[f64] {
        &self.rows[agent]
    }

    fn keep(&self, agent: usize) -> &[f64] {
        &self.keeps[agent]
    }

    fn input(&self, _: usize) -> &[f64] {
        &[]
    }
}

fn start() -> Ring {
    Ring::new(Steps::same(0.1))
}

/// ‖x*‖, in units of which errors are measured.
fn unit() -> f64 {
    start().optimum().x.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[test]
fn an_agent_far_off_is_not_hidden_by_the_mean() {
    let limits = Divergence::new(Some(start().optimum()), &start().view());
    assert!(!start().has_diverged_from(&limits));
    // Two agents at 10¹⁴ on opposite sides leave the mean as good as where it was.
    let apart = start().moved(3, 1e14, 1).moved(7, -1e14, 1);
    let optimum = start().optimum();
    assert!(apart.view().relative_error(&optimum) < 10.0, "{}", apart.view().relative_error(&optimum));
    assert!(apart.has_diverged_from(&limits));
}

#[test]
fn the_limit_of_an_agent_is_a_thousand_times_its_start_or_one() {
    let limits = Divergence::new(Some(start().optimum()), &start().view());
    let errors = |ring: &Ring| {
        let view = ring.view();
        (0..AGENTS).map(|agent| view.relative_error_of(&view.point(agent), &ring.optimum())).fold(0.0, f64::max)
    };
    for (by, diverged) in [(990.0 * unit(), false), (1010.0 * unit(), true)] {
        let ring = start().moved(4, by, 1);
        assert_eq!(ring.has_diverged_from(&limits), diverged, "an error of {}", errors(&ring));
    }
    // Who starts far off may be far off: a run from 5·10⁴ is judged by that.
    let far = start().moved(4, 5e4 * unit(), 0);
    let limits = Divergence::new(Some(far.optimum()), &far.view());
    assert!(!far.has_diverged_from(&limits));
    assert!(!start().moved(4, 4e7 * unit(), 1).has_diverged_from(&limits));
    assert!(start().moved(4, 6e7 * unit(), 1).has_diverged_from(&limits));
    assert!(start().moved(5, 1010.0 * unit(), 1).has_diverged_from(&limits), "another agent has its own limit");
}

#[test]
fn consensus_has_a_limit_of_its_own() {
    // The optimum is so large that no error is, but agents are 10³ apart all the same.
    let mut optimum = start().optimum();
    optimum.x.iter_mut().for_each(|value| *value *= 1e6);
    let limits = Divergence::new(Some(optimum), &start().view());
    // One of ten agents moved by d: their root mean square distance from the mean is 0.3·d.
    assert!(!start().moved(2, 3300.0, 1).has_diverged_from(&limits));
    assert!(start().moved(2, 3350.0, 1).has_diverged_from(&limits));
}

#[test]
fn what_is_not_a_number_has_diverged_in_any_coordinate() {
    for optimum in [Some(start().optimum()), None] {
        let limits = Divergence::new(optimum, &start().view());
        let last = start().points[0].len() - 1;
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut ring = start();
            ring.points[9][last] = value;
            ring.place();
            assert!(ring.has_diverged_from(&limits), "{value} in the last coordinate of the last agent");
        }
    }
}

#[test]
fn without_an_optimum_the_norm_of_any_agent_counts() {
    let mut zero = start().optimum();
    zero.x.fill(0.0);
    // An optimum at zero has no relative error either.
    for optimum in [None, Some(zero)] {
        let limits = Divergence::new(optimum, &start().view());
        let norm = start().points[6].iter().map(|value| value * value).sum::<f64>().sqrt();
        assert!(!start().moved(6, 0.99e8 * (1.0 + norm), 1).has_diverged_from(&limits));
        assert!(start().moved(6, -1.01e8 * (1.0 + norm), 1).has_diverged_from(&limits));
    }
}

#[test]
fn automatic_steps_have_time_to_go_back_but_not_beyond_the_last_round() {
    let automatic = || Ring::new(Steps::auto(Auto::new(10)));
    let within = automatic().algorithm.recovers_within();
    assert!(within > 0);
    let (mut patience, far) = (DivergenceGuard::default(), |round| automatic().moved(0, 1e14, round));
    assert_eq!(patience.judge(&far(40).view(), true), ControlFlow::Continue(()));
    assert_eq!(patience.judge(&far(40 + within - 1).view(), true), ControlFlow::Continue(()));
    let stop = |round| Stop::Diverged { round, agent: 0 };
    assert_eq!(patience.last(&far(40 + within - 1).view()), stop(40 + within - 1));
    assert_eq!(patience.judge(&far(40 + within).view(), true), ControlFlow::Break(stop(40 + within)));
    assert_eq!(patience.judge(&automatic().view(), false), ControlFlow::Continue(()));
    assert_eq!(patience.last(&automatic().view()), Stop::RoundLimit { round: 0 });
    // Constant step sizes undo nothing.
    let far = start().moved(0, 1e14, 40);
    assert_eq!(DivergenceGuard::default().judge(&far.view(), true), ControlFlow::Break(stop(40)));
}

#[test]
fn a_target_is_not_reached_by_a_run_that_has_diverged() {
    let ring = start().moved(3, 1e14, 1).moved(7, -1e14, 1);
    let (first, second) = (start(), ring.view().relative_error(&ring.optimum()));
    // The mean is below the target in both rounds, but in the second two agents are far off.
    let mut watch = ErrorWatch::new(start().optimum(), 1).until(2.0 * second.max(1.0));
    assert_eq!(watch.round(&first.view()), ControlFlow::Break(Stop::Reached { round: 0 }));
    assert!(matches!(watch.round(&ring.view()), ControlFlow::Break(Stop::Diverged { round: 1, .. })));
}
