//! Peers of which one crashes: the others come to their own optimum.

use std::sync::Arc;

use fabnet_core::algorithm::Steps;
use fabnet_core::peer::{Event, WordLength};
use fabnet_core::topology::OnePeerExponential;
use fabnet_core::weights::Uniform;
use fabnet_core::{GradientMut, Level, Point, Problem, ProblemExt, Scratch};
use fabnet_problems::Quadratic;
use fabnet_sim::{LinkFaults, LossyPeers};

use crate::common::build;

/// The minimum of the lower levels of these agents, which are diagonal quadratics.
fn optimum_of(problem: &dyn Problem<f64>, agents: &[usize]) -> Vec<f64> {
    let inner = problem.dim().inner;
    let slopes = |agent: usize, y: f64| {
        let mut slope = vec![0.0; inner];
        // Every batch once: what tells them apart is zero on average.
        let shows = |batch: usize| (0..100_000).find(|&round| problem.batch(agent, round) == batch).unwrap();
        let rounds: Vec<u64> = (0..problem.batches(agent)).map(shows).collect();
        for &round in &rounds {
            let at = Point { agent, round, own: &[], x: &[], y: &vec![y; inner] };
            let to = GradientMut { scale: (0.0, 1.0 / rounds.len() as f64), own: &mut [], x: &mut [], y: &mut slope };
            problem.add_gradient(Level::Lower, at, to, &mut Scratch::default());
        }
        slope
    };
    let sum = |y: f64| {
        agents.iter().fold(vec![0.0; inner], |mut sum, &agent| {
            sum.iter_mut().zip(slopes(agent, y)).for_each(|(sum, slope)| *sum += slope);
            sum
        })
    };
    sum(0.0).iter().zip(sum(1.0)).map(|(zero, one)| zero / (zero - one)).collect()
}

/// Agents of a quadratic, one of which will stop.
struct Crash {
    problem: Arc<dyn Problem<f64>>,
    crowd: LossyPeers<f64>,
}

impl Crash {
    const VICTIM: usize = 5;

    fn new(method: &str, problem: Quadratic<f64>, step: f64, loss: f64) -> Self {
        let agents = problem.agents();
        let problem: Arc<dyn Problem<f64>> = Arc::new(problem);
        let algorithm = build(method, &*problem, Steps::same(step));
        let topology = Arc::new(OnePeerExponential::new(agents));
        let lossy = LinkFaults { loss, ..LinkFaults::default() };
        let links = (lossy, WordLength::Full);
        Self { crowd: LossyPeers::new(algorithm, problem.clone(), topology, Arc::new(Uniform), 1, links), problem }
    }

    fn rounds(&mut self, rounds: u64) {
        (0..rounds).for_each(|_| self.crowd.round());
    }

    /// The largest relative distance of an agent from the optimum of those that run.
    fn distance(&self, victim_runs: bool) -> f64 {
        let agents: Vec<usize> =
            (0..self.problem.agents()).filter(|agent| victim_runs || *agent != Self::VICTIM).collect();
        let optimum = optimum_of(&*self.problem, &agents);
        let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
        let away = |agent: &usize| {
            let point = self.crowd.view().point(*agent);
            norm(&mut point.iter().zip(&optimum).map(|(a, b)| a - b)) / norm(&mut optimum.iter().copied())
        };
        agents.iter().map(away).fold(0.0, f64::max)
    }

    /// The victim stops, and everybody learns of it. Returns which survivors changed their books.
    fn crash(&mut self) -> Vec<(bool, bool)> {
        let victim = Self::VICTIM as u32;
        self.crowd.stop(Self::VICTIM);
        let survivors = (0..self.problem.agents()).filter(|&agent| agent != Self::VICTIM).collect::<Vec<_>>();
        let mut changed = Vec::new();
        for agent in survivors {
            let before = self.crowd.peers()[agent].ledger().clone();
            let had = before.sent(victim).is_some() || before.received(victim).is_some();
            self.crowd.tell(agent, Event::Suspect(victim));
            changed.push((had, *self.crowd.peers()[agent].ledger() != before));
        }
        changed
    }
}

#[test]
fn survivors_of_a_crash_come_to_their_own_optimum_within_a_hundred_rounds() {
    let mut run = Crash::new("push-pull", Quadratic::new(64, 16, 2.0, 1.0, 3), 0.2, 0.1);
    run.rounds(1500);
    assert!(run.distance(true) < 1e-9, "converged before the crash: {:e}", run.distance(true));
    let changed = run.crash();
    assert!(changed.iter().all(|(had, changed)| had == changed), "who had an edge to the dead changes, nobody else");
    assert!(changed.iter().any(|(had, _)| *had) && changed.iter().any(|(had, _)| !had));
    assert!(run.distance(false) > 1e-3, "the crash moves the optimum: {:e}", run.distance(false));
    run.rounds(100);
    assert!(run.distance(false) < 1e-3, "{:e} after 100 rounds", run.distance(false));
    run.rounds(1500);
    assert!(run.distance(false) < 1e-9, "{:e} in the end", run.distance(false));
}

#[test]
fn a_crash_late_in_a_noisy_run_is_borne() {
    let mut run = Crash::new("push-pull", Quadratic::new(16, 8, 2.0, 1.0, 3).with_batches(8, 1.0), 0.02, 0.1);
    run.rounds(20_000);
    let floor = run.distance(true);
    run.crash();
    run.rounds(1000);
    assert!(run.distance(false) < 3.0 * floor.max(0.05), "{:e} after the crash, {floor:e} before", run.distance(false));
    assert!(run.crowd.peers().iter().all(|peer| peer.ledger().audit()));
}

#[test]
fn push_sum_survives_a_crash_by_a_new_epoch() {
    let mut run = Crash::new("push-diging", Quadratic::new(16, 8, 2.0, 1.0, 3), 0.05, 0.1);
    run.rounds(3000);
    assert!(run.distance(true) < 1e-6, "converged before the crash: {:e}", run.distance(true));
    run.crash();
    run.rounds(2000);
    assert!(run.distance(false) < 1e-6, "{:e} in the end", run.distance(false));
    let epochs = |agent: usize| run.crowd.peers()[agent].epoch();
    assert!(epochs(0) > 0 && (0..16).all(|agent| agent == Crash::VICTIM || epochs(agent) == epochs(0)));
}
