//! Both engines on a small problem, against each other and against the exact engine.

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::Gradient;
use fabnet_core::observe::Agents;
use fabnet_core::peer::WordLength;
use fabnet_core::topology::Ring;
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Dim, GradientMut, Level, Network, Point, Problem, Scratch, Shard};

use super::{LinkFaults, LossyPeers, LossyUnledgered};

const AGENTS: usize = 5;

/// This number of agents, of which agent i has `½ (y − i)²`: with five, the mean is smallest at
/// y = 2.
struct Targets(usize);

impl Problem<f64> for Targets {
    fn agents(&self) -> usize {
        self.0
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: 1 }
    }

    fn add_gradient(&self, _level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        if let Some(slope) = to.y.first_mut() {
            *slope += to.scale.1 * (at.y[0] - at.agent as f64);
        }
    }

    fn value(&self, _level: Level, at: Point<'_, f64>) -> f64 {
        0.5 * (at.y[0] - at.agent as f64).powi(2)
    }
}

fn algorithm() -> Arc<dyn Algorithm<f64>> {
    Arc::new(PushPull::new(&Targets(AGENTS) as &dyn Problem<f64>, Gradient::new(), Steps::same(0.05)).unwrap())
}

fn peers(faults: LinkFaults) -> LossyPeers<f64> {
    LossyPeers::new(
        algorithm(),
        Arc::new(Targets(AGENTS)),
        Arc::new(Ring::new(AGENTS)),
        Arc::new(Uniform),
        1,
        (faults, WordLength::default()),
    )
}

fn unledgered(faults: LinkFaults) -> LossyUnledgered<f64> {
    LossyUnledgered::new(
        algorithm(),
        Arc::new(Targets(AGENTS)),
        Arc::new(Ring::new(AGENTS)),
        Arc::new(Uniform),
        1,
        faults,
    )
}

/// The largest distance of any scalar of any row.
fn apart(one: &dyn Agents<f64>, other: &dyn Agents<f64>) -> f64 {
    let rows = (0..AGENTS).flat_map(|agent| one.row(agent).iter().zip(other.row(agent)));
    rows.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

/// The largest error of any agent.
fn error(engine: &fabnet_core::observe::View<'_, f64>) -> f64 {
    (0..AGENTS).map(|agent| (engine.point(agent)[0] - 2.0).abs()).fold(0.0, f64::max)
}

#[test]
fn on_perfect_links_both_follow_the_exact_engine() {
    let network = Network::new(Arc::new(Ring::new(AGENTS)), Arc::new(Uniform));
    let mut exact = Shard::new(algorithm(), Arc::new(Targets(AGENTS)), network, 1).unwrap();
    let (mut peers, mut unledgered) = (peers(LinkFaults::default()), unledgered(LinkFaults::default()));
    for round in 1..=100 {
        exact.round().unwrap();
        peers.round();
        unledgered.round();
        let exact = exact.view().agents;
        assert!(apart(&peers, exact) < 1e-9 && apart(&unledgered, exact) < 1e-12, "round {round}");
    }
    assert_eq!(unledgered.view().costs.evaluations, exact.view().costs.evaluations);
    assert!(unledgered.view().bytes_per_agent() > 0.0 && peers.view().bytes_per_agent() > 0.0);
}

#[test]
fn only_ledgers_find_the_solution_in_spite_of_losses() {
    let faults = LinkFaults { loss: 0.2, delay: 2, duplicate: 0.1, activity: 0.8, ..LinkFaults::default() };
    let (mut peers, mut unledgered) = (peers(faults), unledgered(faults));
    for _ in 0..3000 {
        peers.round();
        unledgered.round();
    }
    assert!(error(&peers.view()) < 1e-6, "{}", error(&peers.view()));
    assert!(error(&unledgered.view()) > 1e-3, "{}", error(&unledgered.view()));
}

#[test]
fn agents_that_never_act_never_move() {
    let faults = LinkFaults { activity: 0.0, ..LinkFaults::default() };
    let (mut peers, mut unledgered) = (peers(faults), unledgered(faults));
    let before: Vec<Vec<f64>> = (0..AGENTS).map(|agent| unledgered.row(agent).to_vec()).collect();
    for _ in 0..20 {
        peers.round();
        unledgered.round();
    }
    assert!((0..AGENTS).all(|agent| unledgered.row(agent) == before[agent]));
    assert!(peers.peers().iter().all(|peer| peer.round() == 0));
    assert_eq!((peers.view().round, unledgered.view().round), (20, 20));
}

#[test]
fn a_stopped_peer_does_nothing_and_the_others_go_on() {
    let mut engine = peers(LinkFaults::default());
    (0..10).for_each(|_| engine.round());
    engine.stop(3);
    let before = engine.row(3).to_vec();
    (0..10).for_each(|_| engine.round());
    assert_eq!(engine.row(3), before);
    assert_eq!((engine.peers()[3].round(), engine.peers()[2].round()), (10, 20));
}

#[test]
fn state_is_counted_per_agent() {
    // Two rows of a pulled and a pushed scalar, memory for the last gradient, one contribution.
    let plain = unledgered(LinkFaults::default()).state_bytes();
    assert!((40.0..=80.0).contains(&plain), "{plain} bytes");
    assert!(peers(LinkFaults::default()).state_bytes() > plain, "ledgers take space as well");
}

/// Peers of a round run on all threads: how many these are changes nothing.
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    /// Enough peers for several threads.
    const MANY: usize = 200;
    let faults = LinkFaults { loss: 0.2, ..LinkFaults::default() };
    let rows = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (problem, topology) = (Arc::new(Targets(MANY)), Arc::new(Ring::new(MANY)));
            let links = (faults, WordLength::default());
            let mut peers = LossyPeers::new(algorithm(), problem, topology, Arc::new(Uniform), 1, links);
            (0..60).for_each(|_| peers.round());
            (0..MANY).map(|agent| peers.row(agent).to_vec()).collect::<Vec<_>>()
        })
    };
    assert_eq!(rows(1), rows(3));
}
