//! How runs end, and what a shard refuses.

use std::ops::ControlFlow;
use std::sync::Arc;

use fabnet_core::algorithm::{Estimator, PushPull, PushSum, Steps, StepsError};
use fabnet_core::direction::{Gradient, Penalty};
use fabnet_core::observe::{ErrorWatch, Observer, View, run};
use fabnet_core::topology::Ring;
use fabnet_core::weights::Uniform;
use fabnet_core::{
    Capabilities, Dim, GradientMut, Level, MiniBatches, Network, Point, Problem, ProblemExt, Scratch, Shard,
    ShardError, Stop,
};
use fabnet_problems::PolicyEvaluation;

use crate::common;

/// Policy evaluation in which one agent's gradients are not numbers from some round on.
struct Poisoned(PolicyEvaluation<f64>);

const ILL: usize = 6;

impl Problem<f64> for Poisoned {
    fn agents(&self) -> usize {
        self.0.agents()
    }

    fn dim(&self) -> Dim {
        self.0.dim()
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, scratch: &mut Scratch<f64>) {
        let poison = if at.agent == ILL && at.round >= 39 { f64::NAN } else { 1.0 };
        let scale = (to.scale.0 * poison, to.scale.1 * poison);
        self.0.add_gradient(level, at, GradientMut { scale, ..to }, scratch);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.0.value(level, at)
    }
}

fn stop(problem: Arc<dyn Problem<f64>>, step: f64, rounds: u64, until: f64) -> Stop {
    let optimum = PolicyEvaluation::<f64>::new(10, 1).optimum().unwrap();
    let algorithm = common::build("fab", &*problem, Steps::same(step));
    let mut shard = Shard::new(algorithm, problem, common::phases(1), 1).unwrap();
    run(&mut shard, rounds, &mut ErrorWatch::new(optimum, 1).until(until)).unwrap()
}

#[test]
fn stops_say_what_happened_and_when() {
    let problem = || Arc::new(PolicyEvaluation::new(10, 1));
    assert!(matches!(stop(problem(), 0.1, 20_000, 0.01), Stop::Reached { round } if round > 100));
    assert_eq!(stop(problem(), 0.1, 50, 0.0), Stop::RoundLimit { round: 50 });
    assert!(matches!(stop(problem(), 5.0, 20_000, 0.01), Stop::Diverged { .. }));
}

#[test]
fn an_agent_whose_gradients_are_not_numbers_is_named() {
    // Round 40 uses the poisoned direction of round 39 for the first time: only the ill agent's
    // point has been touched by then.
    let stop = stop(Arc::new(Poisoned(PolicyEvaluation::new(10, 1))), 0.1, 1000, 0.0);
    assert_eq!(stop, Stop::Diverged { round: 41, agent: ILL });
}

#[test]
fn an_observer_may_end_a_run() {
    struct Until(u64);
    impl Observer<f64> for Until {
        fn round(&mut self, view: &View<'_, f64>) -> ControlFlow<Stop> {
            if view.round == self.0 {
                ControlFlow::Break(Stop::Reached { round: view.round })
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let problem = Arc::new(PolicyEvaluation::new(10, 1));
    let algorithm = common::build("fab", &*problem, Steps::same(0.1));
    let mut shard = Shard::new(algorithm, problem, common::phases(1), 1).unwrap();
    assert_eq!(run(&mut shard, 1000, &mut Until(7)).unwrap(), Stop::Reached { round: 7 });
    // Three gradients a direction: one of f and two of g, at the start and in every round, by ten
    // agents.
    let evaluations = shard.evaluations();
    assert_eq!((evaluations.upper, evaluations.lower, evaluations.products), (80, 160, 0));
}

#[test]
fn shards_refuse_what_cannot_work() {
    let problem = Arc::new(PolicyEvaluation::<f64>::new(10, 1));
    let algorithm = common::build("fab", &*problem, Steps::same(0.1));
    let network = |agents| Network::new(Arc::new(Ring::new(agents)), Arc::new(Uniform));
    let refused = |agents, range| Shard::part(algorithm.clone(), problem.clone(), network(agents), 1, range).err();
    assert_eq!(refused(9, 0..9), Some(ShardError::Agents { problem: 10, topology: 9 }));
    assert_eq!(refused(10, 5..11), Some(ShardError::Range { start: 5, end: 11, agents: 10 }));
    assert_eq!(refused(10, 5..5), Some(ShardError::Range { start: 5, end: 5, agents: 10 }));

    let mut part = Shard::part(algorithm, problem, network(10), 1, 3..6).unwrap();
    assert_eq!(part.round(), Err(ShardError::Missing { round: 0, agent: 2 }));
    let row = part.sent(3).to_vec();
    for (agent, row) in [(3, &row[..]), (10, &row[..]), (2, &row[1..])] {
        assert!(matches!(part.receive(agent, row), Err(ShardError::Stranger { .. })), "a row from agent {agent}");
    }
    part.receive(2, &row).unwrap();
    assert!(part.round().is_ok());
    assert_eq!(part.round(), Err(ShardError::Missing { round: 1, agent: 2 }), "a row is good for one round");
}

#[test]
fn steps_are_checked_when_a_method_is_put_together() {
    let problem = PolicyEvaluation::<f64>::new(10, 1);
    let refused = |steps| PushPull::new(&problem, Penalty::new(60.0), steps).err().unwrap();
    let each = |steps: &[(&'static str, f64)]| Steps::each(steps.iter().copied());
    assert_eq!(
        refused(each(&[("x", 0.1), ("y", 0.1), ("w", 0.1)])).to_string(),
        "there is no step size `w`: this method has those of x, y, z"
    );
    assert_eq!(
        refused(each(&[("x", 0.1), ("y", 0.1)])).to_string(),
        "the step size `z` is missing: give one for each of x, y, z (0 freezes a variable)"
    );
    assert_eq!(refused(Steps::same(-0.1)), StepsError::Value { value: -0.1 });
    assert_eq!(refused(Steps::same(0.1).momentum(1.0)), StepsError::Momentum { value: 1.0 });
}

/// A problem with very many mini-batches, of which nothing is evaluated.
struct Crumbs {
    agents: usize,
}

impl Problem<f64> for Crumbs {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: 10_000 }
    }

    fn add_gradient(&self, _: Level, _: Point<'_, f64>, _: GradientMut<'_, f64>, _: &mut Scratch<f64>) {}

    fn value(&self, _: Level, _: Point<'_, f64>) -> f64 {
        0.0
    }

    fn capabilities(&self) -> Capabilities<'_, f64> {
        Capabilities { batches: Some(self), ..Capabilities::default() }
    }
}

impl MiniBatches for Crumbs {
    fn batches(&self, _agent: usize) -> usize {
        5_000
    }

    fn batch(&self, _agent: usize, _round: u64) -> usize {
        0
    }
}

#[test]
fn tables_of_gradients_that_no_machine_can_keep_are_refused() {
    let saga = |agents| {
        let problem = Crumbs { agents };
        let pattern = PushSum::new(&problem, Gradient::new(), Steps::same(0.1)).unwrap();
        pattern.with_estimator(&problem, Estimator::Saga).err()
    };
    assert_eq!(saga(10), None);
    assert_eq!(saga(11), Some(StepsError::Table { batches: 5_000, width: 10_000 }));
}
