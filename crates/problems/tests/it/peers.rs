//! Peers against the shard: on perfect links they do the same, on others they come to the same
//! point.

use std::collections::VecDeque;
use std::sync::Arc;

use fabnet_core::algorithm::{Method, Steps, methods};
use fabnet_core::observe::{Agents, run};
use fabnet_core::peer::{
    Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, Record, SyncMode, Unit, WordLength,
};
use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::settings::Value;
use fabnet_core::topology::Phases;
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Peer, Problem, Scalar, Shard, Venue};
use fabnet_problems::PolicyEvaluation;
use fabnet_sim::{LinkFaults, LossyPeers, LossyUnledgered};

use crate::common::{self, build, build_with, phases};

const ROUNDS: u64 = 2000;

/// The largest difference of two points, relative where they are large.
fn off<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    let each = a.iter().zip(b).map(|(a, b)| (a.f64() - b.f64()).abs() / (1.0 + b.f64().abs()));
    each.fold(0.0, f64::max)
}

fn crowd<T: Scalar>(
    algorithm: &Arc<dyn Algorithm<T>>,
    problem: &Arc<dyn Problem<T>>,
    lossy: LinkFaults,
) -> LossyPeers<T> {
    let topology = Arc::new(Phases::new(10, 0.3, 0));
    LossyPeers::new(algorithm.clone(), problem.clone(), topology, Arc::new(Uniform), 0, (lossy, WordLength::Full))
}

/// A method by name, and the problem that it is to solve.
type Case = (&'static str, Arc<dyn Problem<f64>>, Arc<dyn Algorithm<f64>>);

/// Every method of the registry that runs where it is asked to and bears losses, on policy
/// evaluation.
fn every_method() -> impl Iterator<Item = Case> {
    let bears = |method: &Method<f64>| method.venue == Venue::AsAsked && method.check_losses().is_ok();
    methods::<f64>().into_iter().filter(bears).map(|method| {
        let problem: Arc<dyn Problem<f64>> = Arc::new(PolicyEvaluation::new(10, 0));
        let algorithm = build(method.name, &*problem, Steps::same(0.005));
        (method.name, problem, algorithm)
    })
}

#[test]
fn on_perfect_links_free_peers_follow_the_shard() {
    for (name, problem, algorithm) in every_method() {
        let mut crowd = crowd(&algorithm, &problem, LinkFaults::default());
        let mut shard = Shard::new(algorithm, problem, phases(0), 0).unwrap();
        for round in 1..=ROUNDS {
            crowd.round();
            shard.round().unwrap();
            let worst = (0..10).map(|agent| off(crowd.row(agent), shard.row(agent))).fold(0.0, f64::max);
            assert!(worst < 1e-9, "{name}: {worst:e} off in round {round}");
        }
    }
}

/// Peers that wait for each other.
fn lockstep_peers(
    algorithm: &Arc<dyn Algorithm<f64>>,
    problem: &Arc<dyn Problem<f64>>,
    words: WordLength,
) -> Vec<Peer<f64>> {
    let agents = problem.agents();
    let policy =
        Policy { rounds: ROUNDS, checkpoint_every: 100, ..Policy::new(SyncMode::Lockstep { deadline: 5 }, agents) };
    let task = |node: u32| PeerConfig {
        algorithm: algorithm.clone(),
        problem: problem.clone(),
        seed: 0,
        node,
        run: 1,
        unit: Unit::default(),
        words,
        schedule: NeighbourSource::Living(Arc::new(|agents| Arc::new(Phases::new(agents, 0.3, 0)))),
        weights: Arc::new(Uniform),
        policy,
    };
    let life = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
    (0..agents as u32).map(|node| Peer::new(task(node), life(node), 0, None)).collect()
}

/// Lets peers go on, with messages of each link in order and links in any, until all have done
/// their rounds; returns what they end with.
fn in_any_order(mut peers: Vec<Peer<f64>>, seed: u64) -> Vec<u64> {
    let mut stream = Stream::new(seed, 0, 0, Purpose::Other(1));
    let mut links: Vec<VecDeque<(usize, Event)>> =
        (0..peers.len()).map(|node| [(node, Event::Stored { ticket: 0, safe: true })].into()).collect();
    links.resize(peers.len() * (peers.len() + 1), VecDeque::new());
    while peers.iter().any(|peer| peer.round() < ROUNDS) {
        let waiting: Vec<usize> = (0..links.len()).filter(|&link| !links[link].is_empty()).collect();
        let link = waiting[stream.below(waiting.len())];
        let (node, event) = links[link].pop_front().unwrap();
        let mut effects = Vec::new();
        peers[node].handle(event, &mut effects);
        for effect in effects {
            if let Effect::Send { to, bytes } = effect {
                links[peers.len() * (node + 1) + to as usize].push_back((to as usize, Event::Message(bytes)));
            }
        }
    }
    peers.iter().map(Peer::fingerprint).collect()
}

/// What is ahead on one link must not count before its round: who runs ahead of whom is a matter of
/// chance.
#[test]
fn peers_in_lockstep_do_the_same_whatever_the_order_of_links() {
    for (name, problem, algorithm) in every_method().take(3) {
        for words in WordLength::ALL {
            let outcome = |seed: u64| in_any_order(lockstep_peers(&algorithm, &problem, words), seed);
            assert_eq!(outcome(1), outcome(2), "{name}, {words:?}");
        }
    }
}

/// Until all have done their rounds; returns the points of their checkpoints, by agent.
fn in_lockstep(algorithm: &Arc<dyn Algorithm<f64>>, problem: &Arc<dyn Problem<f64>>) -> Vec<Vec<Vec<f64>>> {
    let agents = problem.agents();
    let mut peers = lockstep_peers(algorithm, problem, WordLength::Full);
    let mut events: VecDeque<(usize, Event)> =
        (0..agents).map(|node| (node, Event::Stored { ticket: 0, safe: true })).collect();
    let mut checkpoints = vec![Vec::new(); agents];
    while peers.iter().any(|peer| peer.round() < ROUNDS) {
        let (node, event) = events.pop_front().expect("messages alone drive lockstep: no tick is needed");
        let mut effects = Vec::new();
        peers[node].handle(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, bytes } => events.push_back((to as usize, Event::Message(bytes))),
                Effect::Store { record: Record::Checkpoint { point, .. }, .. } => {
                    let scalars = point.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                    checkpoints[node].push(scalars.collect());
                }
                Effect::Store { .. } => {}
            }
        }
    }
    checkpoints
}

#[test]
fn on_perfect_links_peers_in_lockstep_follow_the_shard() {
    for (name, problem, algorithm) in every_method() {
        let checkpoints = in_lockstep(&algorithm, &problem);
        let mut shard = Shard::new(algorithm, problem, phases(0), 0).unwrap();
        for number in 0..ROUNDS / 100 {
            run(&mut shard, 100 * (number + 1), &mut ()).unwrap();
            for (agent, points) in checkpoints.iter().enumerate() {
                let worst = off(&points[number as usize], &shard.view().point(agent));
                assert!(worst < 1e-9, "{name}, agent {agent}: {worst:e} off in round {}", 100 * (number + 1));
            }
        }
    }
}

#[test]
fn with_automatic_steps_all_switch_together_and_follow_the_shard() {
    let problem: Arc<dyn Problem<f64>> = Arc::new(PolicyEvaluation::new(10, 0));
    let algorithm = build("dfab", &*problem, common::automatic(0));
    let checkpoints = in_lockstep(&algorithm, &problem);
    let (topology, weights) = (Arc::new(Phases::new(10, 0.3, 0)), Arc::new(Uniform));
    let mut plain =
        LossyUnledgered::new(algorithm.clone(), problem.clone(), topology, weights, 0, LinkFaults::default());
    (0..ROUNDS).for_each(|_| plain.round());
    let mut shard = Shard::new(algorithm, problem, phases(0), 0).unwrap();
    run(&mut shard, ROUNDS, &mut ()).unwrap();
    for (agent, points) in checkpoints.iter().enumerate() {
        let worst = off(points.last().unwrap(), &shard.view().point(agent));
        assert!(worst < 1e-9, "agent {agent}: {worst:e} off");
        let worst = off(&plain.view().point(agent), &shard.view().point(agent));
        assert!(worst < 1e-9, "agent {agent}, without ledgers: {worst:e} off");
    }
}

/// The mean point after `rounds` rounds with this fraction of message loss, by peers or as
/// published.
fn end(loss: f64, rounds: u64, plain: bool) -> Vec<f64> {
    let problem: Arc<dyn Problem<f64>> = Arc::new(PolicyEvaluation::new(10, 0));
    let algorithm = build_with("fab", &[("penalty", Value::Number(60.0))], &*problem, Steps::same(0.1));
    let lossy = LinkFaults { loss, ..LinkFaults::default() };
    if plain {
        let mut plain =
            LossyUnledgered::new(algorithm, problem, Arc::new(Phases::new(10, 0.3, 0)), Arc::new(Uniform), 0, lossy);
        (0..rounds).for_each(|_| plain.round());
        return plain.view().mean();
    }
    let mut crowd = crowd(&algorithm, &problem, lossy);
    (0..rounds).for_each(|_| crowd.round());
    assert!(crowd.peers().iter().all(|peer| peer.ledger().audit()));
    crowd.view().mean()
}

#[test]
fn loss_moves_the_answer_of_published_fab_and_not_that_of_peers() {
    let lossless = end(0.0, 20_000, true);
    let distance = |point: &[f64]| off(point, &lossless);
    for loss in [0.01, 0.1, 0.3] {
        assert!(distance(&end(loss, 20_000, true)) > 0.1, "without ledgers, {loss} of all messages lost must show");
        let peers = distance(&end(loss, 20_000, false));
        assert!(peers < 1e-6, "peers that lose {loss} of all messages are {peers:e} off");
    }
}

fn levels_never_drift<T: Scalar>() {
    let problem: Arc<dyn Problem<T>> = Arc::new(PolicyEvaluation::new(10, 0).with_noise(1.0));
    let algorithm = build("fab", &*problem, Steps::same(0.01));
    let mut crowd = crowd(&algorithm, &problem, LinkFaults { loss: 0.1, ..LinkFaults::default() });
    (0..100_000).for_each(|_| crowd.round());
    for peer in crowd.peers() {
        for (&booked, &level) in peer.ledger().input().iter().zip(peer.input()) {
            let units = Unit::default().units(level).unwrap();
            assert!((booked - units).abs() <= 1, "{booked} units are booked for {units}");
        }
        assert!(peer.ledger().audit());
    }
}

#[test]
fn what_is_booked_is_the_direction_after_a_hundred_thousand_noisy_rounds_f64() {
    levels_never_drift::<f64>();
}

#[test]
fn what_is_booked_is_the_direction_after_a_hundred_thousand_noisy_rounds_f32() {
    levels_never_drift::<f32>();
}
