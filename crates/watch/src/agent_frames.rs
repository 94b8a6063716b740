//! Frames of agents, from what each says of itself.

use crate::alphabet::{age_letter, time_letter};
use crate::edge_numbers::EdgeNumbers;
use crate::{AgentStatus, ByAgent, PartTimes, RoundEdges, WatchFrame};

/// Makes frames of the agents of a run, and remembers what earlier ones have said.
#[derive(Debug, Default)]
pub struct AgentFrames {
    edges: EdgeNumbers,
    /// The round of its receiver in which the last message over each edge was used.
    used: Vec<Option<u64>>,
    /// What was last known of each agent, also of those that are down.
    last: Vec<LastKnown>,
    epochs: Option<ByAgent<u64>>,
    lives: Option<ByAgent<u64>>,
    step_sizes: Option<ByAgent<Option<f64>>>,
    refusals: Option<ByAgent<u64>>,
    /// The largest mass residual so far.
    residual: u64,
}

/// What was last known of an agent.
#[derive(Clone, Debug, Default)]
struct LastKnown {
    status: AgentStatus,
    /// The rounds whose parts frames have shown.
    measured: u64,
    /// The time that its rounds took lately without waiting, in microseconds.
    work: f64,
}

/// The largest number of agents for which all have the parts of their rounds in frames.
const ALL_TIMES: usize = 50;
/// The number of agents that have them otherwise: those that work for longest.
const SOME_TIMES: usize = 24;

impl AgentFrames {
    /// A frame of all agents at a time, by number; those that are down have no status.
    pub fn frame(&mut self, t: f64, agents: Vec<Option<AgentStatus>>) -> WatchFrame {
        self.last.resize(agents.len(), LastKnown::default());
        let up: Vec<bool> = agents.iter().map(Option::is_some).collect();
        for (last, status) in self.last.iter_mut().zip(agents) {
            last.status = status.unwrap_or_else(|| std::mem::take(&mut last.status));
        }
        let k = self.last.iter().map(|last| last.status.round).max().unwrap_or(0);
        let scheduled = self.look_at_edges(&up);
        let residual = self.known(&up).filter_map(|status| Some(status?.mass_residual)).max().unwrap_or(0);
        let largest = self.last.iter().map(|last| last.status.max_mass_residual).max().unwrap_or(0);
        self.residual = self.residual.max(residual).max(largest);
        let mut frame = WatchFrame {
            t,
            k,
            s: Some(self.known(&up).map(state).collect()),
            r: Some(self.last.iter().map(|last| k - last.status.round).collect()),
            e: self.measured(&up, |status| WatchFrame::log(status.metric?)),
            d: self.measured(&up, |status| WatchFrame::log(status.disagreement)),
            a: self.measured(&up, |status| Some(status.pull_age)),
            c: self.measured(&up, |status| Some((10.0 * status.checkpoint_age?) as u64)),
            b: Some(self.last.iter().map(|last| last.status.bytes).sum()),
            ne: self.edges.say_new(),
            q: Some(RoundEdges { i: scheduled }),
            g: Some(self.ages()),
            p: Some(self.parked(&up)),
            w: self.times(&up),
            m: Some(residual),
            mx: Some(self.residual),
            ..WatchFrame::default()
        };
        self.say_changes(&mut frame);
        frame
    }

    /// What is known of each agent that is up.
    fn known<'a>(&'a self, up: &'a [bool]) -> impl Iterator<Item = Option<&'a AgentStatus>> {
        self.last.iter().zip(up).map(|(last, up)| up.then_some(&last.status))
    }

    /// A value of each agent that is up; nothing if none has one.
    fn measured<V>(&self, up: &[bool], value: impl Fn(&AgentStatus) -> Option<V>) -> Option<Vec<Option<V>>> {
        let values: Vec<Option<V>> = self.known(up).map(|status| status.and_then(&value)).collect();
        values.iter().any(Option::is_some).then_some(values)
    }

    /// Adds what is only said when it has changed.
    fn say_changes(&mut self, frame: &mut WatchFrame) {
        let of = |number: fn(&AgentStatus) -> u64| self.last.iter().map(|last| number(&last.status)).collect();
        let (epochs, lives, refusals) = (of(|status| status.epoch), of(|status| status.incarnation), of(refused));
        let step_sizes = self.last.iter().map(|last| last.status.step_size).collect();
        frame.ep = ByAgent::if_changed(epochs, &mut self.epochs);
        frame.li = ByAgent::if_changed(lives, &mut self.lives);
        frame.rf = ByAgent::if_changed(refusals, &mut self.refusals);
        frame.h = ByAgent::if_changed(step_sizes, &mut self.step_sizes);
    }

    /// Notes over which edges messages came, and returns the edges of the last round of each
    /// receiver, ascending.
    fn look_at_edges(&mut self, up: &[bool]) -> Vec<usize> {
        let mut scheduled = Vec::new();
        for LastKnown { status, .. } in self.last.iter().zip(up).filter_map(|(last, up)| up.then_some(last)) {
            let last = status.round.saturating_sub(1);
            scheduled.extend(status.sources.iter().map(|&from| self.edges.number((from, status.agent))));
            for (&from, age) in &status.ages {
                let number = self.edges.number((from, status.agent));
                self.used.resize(self.edges.edges().len(), None);
                self.used[number] = Some(last.saturating_sub(*age));
            }
        }
        self.used.resize(self.edges.edges().len(), None);
        scheduled.sort_unstable();
        scheduled
    }

    /// A letter for each edge: the rounds of its receiver since a message was used, none in the
    /// last one; a space where none ever was.
    fn ages(&self) -> String {
        let age = |(&(_, to), used): (&(u32, u32), &Option<u64>)| {
            let last = self.last[to as usize].status.round.saturating_sub(1);
            used.map_or(' ', |used| age_letter(last.saturating_sub(used)))
        };
        self.edges.edges().iter().zip(&self.used).map(age).collect()
    }

    /// The edges on which mass is parked.
    fn parked(&self, up: &[bool]) -> Vec<(usize, f64)> {
        let parked = self.known(up).flatten().flat_map(|status| {
            status.parked.iter().filter_map(|(&to, &mass)| Some((self.edges.find((status.agent, to))?, mass)))
        });
        parked.collect()
    }

    /// The parts of the rounds since the last frame: of all agents if they are few, else of those
    /// that work for longest.
    fn times(&mut self, up: &[bool]) -> Option<PartTimes> {
        let mut shown: Vec<usize> = (0..self.last.len()).filter(|agent| up[*agent]).collect();
        shown.retain(|agent| self.last[*agent].status.times.measured > 0);
        for &agent in &shown {
            let last = &mut self.last[agent];
            for round in last.status.times.after(last.measured) {
                last.work += 0.05 * (round.work() as f64 - last.work);
            }
        }
        if shown.len() > ALL_TIMES {
            shown.sort_by(|one, other| self.last[*other].work.total_cmp(&self.last[*one].work));
            shown.truncate(SOME_TIMES);
            shown.sort_unstable();
        }
        let mut times = PartTimes { n: Vec::new(), x: String::new(), a: shown.iter().map(|&a| a as u32).collect() };
        for agent in shown {
            let last = &self.last[agent];
            let before = times.x.chars().count();
            for round in last.status.times.after(last.measured) {
                times.x.extend([round.compute, round.wait, round.mix, round.disk].map(time_letter));
            }
            times.n.push((times.x.chars().count() - before) / 4);
        }
        for last in &mut self.last {
            last.measured = last.status.times.measured;
        }
        (!times.x.is_empty()).then_some(times)
    }
}

/// Whether an agent runs, has not done a round yet, or is down.
fn state(status: Option<&AgentStatus>) -> char {
    match status {
        None => 'd',
        Some(status) if status.round == 0 => 'j',
        Some(_) => 'u',
    }
}

/// The messages of others that an agent has refused.
fn refused(status: &AgentStatus) -> u64 {
    ["malformed", "refused"].iter().filter_map(|outcome| status.messages.get(*outcome)).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fabnet_core::algorithm::{PushPull, Steps};
    use fabnet_core::direction::Gradient;
    use fabnet_core::peer::{
        Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Unit, WordLength,
    };
    use fabnet_core::topology::Ring;
    use fabnet_core::weights::Uniform;
    use fabnet_core::{Dim, GradientMut, Level, Peer, Point, Problem, Scratch};

    use super::*;
    use crate::RoundParts;

    /// `½ y²` for each of three agents.
    struct Bowl;

    impl Problem<f64> for Bowl {
        fn agents(&self) -> usize {
            3
        }

        fn dim(&self) -> Dim {
            Dim { outer: 0, inner: 1 }
        }

        fn add_gradient(&self, _: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _: &mut Scratch<f64>) {
            to.y.iter_mut().zip(at.y).for_each(|(slope, y)| *slope += to.scale.1 * y);
        }

        fn value(&self, _: Level, at: Point<'_, f64>) -> f64 {
            at.y.iter().map(|y| 0.5 * y * y).sum()
        }
    }

    fn peer(node: u32) -> Peer<f64> {
        let config = PeerConfig {
            algorithm: Arc::new(PushPull::new(&Bowl, Gradient::new(), Steps::same(0.1)).unwrap()),
            problem: Arc::new(Bowl),
            seed: 0,
            node,
            run: 7,
            unit: Unit::default(),
            words: WordLength::default(),
            schedule: NeighbourSource::Living(Arc::new(|agents| Arc::new(Ring::new(agents)))),
            weights: Arc::new(Uniform),
            policy: Policy::new(SyncMode::Free, 3),
        };
        Peer::new(config, Incarnation { counter: 1, nonce: u64::from(node) }, 0, None)
    }

    /// One tick of all peers, whose messages arrive unless they are lost.
    fn tick(peers: &mut [Peer<f64>], event: &dyn Fn() -> Event, lost: impl Fn(u32, u32) -> bool) {
        let mut sent = Vec::new();
        for peer in &mut *peers {
            let mut effects = Vec::new();
            peer.handle(event(), &mut effects);
            sent.extend(effects.into_iter().map(|effect| (peer.node(), effect)));
        }
        for (from, effect) in sent {
            if let Effect::Send { to, bytes } = effect
                && !lost(from, to)
            {
                peers[to as usize].handle(Event::Message(bytes), &mut Vec::new());
            }
        }
    }

    #[test]
    fn a_frame_says_what_peers_say_of_themselves() {
        let mut peers: Vec<Peer<f64>> = (0..3).map(peer).collect();
        let mut frames = AgentFrames::default();
        let mut look = |peers: &mut [Peer<f64>], down: usize| {
            let seen = peers.iter_mut().enumerate().map(|(node, peer)| (node != down).then(|| AgentStatus::of(peer)));
            frames.frame(1.5, seen.collect())
        };
        assert_eq!(look(&mut peers, 9).s.as_deref(), Some("jjj"));
        tick(&mut peers, &|| Event::Stored { ticket: 0, safe: true }, |_, _| false);
        (0..30).for_each(|_| tick(&mut peers, &|| Event::Tick, |_, _| false));
        let frame = look(&mut peers, 9);
        assert_eq!((frame.t, frame.k, frame.s.as_deref()), (1.5, peers[0].round(), Some("uuu")));
        assert_eq!(
            (frame.m, frame.mx, frame.b),
            (Some(0), Some(0), Some(peers.iter().map(|peer| peer.costs().bytes).sum()))
        );
        // On a ring of three, each hears one other; all messages of the last round have arrived.
        let scheduled = frame.q.unwrap().i;
        let ages: Vec<char> = frame.g.unwrap().chars().collect();
        assert_eq!((scheduled.len(), scheduled.iter().all(|&edge| ages[edge] == '0')), (3, true), "{ages:?}");
        (0..5).for_each(|_| tick(&mut peers, &|| Event::Tick, |from, _| from == 0));
        let frame = look(&mut peers, 2);
        assert_eq!(frame.s.as_deref(), Some("uud"));
        assert!(frame.g.unwrap().contains('4'), "the last message of agent 0 was used four rounds ago");
        assert_eq!(frame.ep, None, "epochs have not changed");
    }

    /// An agent of which rounds were measured, each with this work.
    fn measured(agent: u32, rounds: u32, mix: u32) -> AgentStatus {
        let mut status = AgentStatus { agent, round: u64::from(rounds), ..AgentStatus::default() };
        (0..rounds).for_each(|_| status.times.add(RoundParts { mix, ..RoundParts::default() }));
        status
    }

    #[test]
    fn a_frame_has_the_parts_of_the_rounds_since_the_last_one() {
        let mut frames = AgentFrames::default();
        let mut look =
            |rounds| frames.frame(0.0, vec![Some(measured(0, rounds, 50)), None, Some(measured(2, 1, 100))]).w;
        let times = |n: &[usize], x: &str, a: &[u32]| Some(PartTimes { n: n.to_vec(), x: x.into(), a: a.to_vec() });
        assert_eq!(look(2), times(&[2, 1], "001000100090", &[0, 2]));
        assert_eq!(look(3), times(&[1, 0], "0010", &[0, 2]));
        assert_eq!(look(3), None);
    }

    #[test]
    fn of_many_agents_those_that_work_for_longest_have_the_parts_of_their_rounds() {
        let agents = (0..60).map(|agent| Some(measured(agent, 1, 1000 * (agent % 2)))).collect();
        let shown = AgentFrames::default().frame(0.0, agents).w.unwrap().a;
        assert_eq!((shown.len(), shown.iter().all(|agent| agent % 2 == 1)), (24, true), "{shown:?}");
    }
}
