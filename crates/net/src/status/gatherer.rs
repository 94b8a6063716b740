//! What all nodes of a run say of themselves, as one stream.

use std::collections::BTreeMap;

use fabnet_watch::{AgentFrames, Item, WatchEvent};

use super::node_status::{MemberAddress, NodeStatus};

/// What became of asking a node.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "most nodes answer")]
pub enum NodeAnswer {
    /// It has answered.
    Status(NodeStatus),
    /// It could not be reached; others may hear it.
    Unreachable,
    /// It is known to be down.
    Down,
}

/// Puts together what the nodes of a run say of themselves, from time to time.
#[derive(Debug)]
pub struct NodeGatherer {
    members: Vec<MemberAddress>,
    frames: AgentFrames,
    /// What was seen of each member, by name.
    seen: BTreeMap<String, Seen>,
    ended: bool,
}

/// What was seen of a member.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Whether it has answered when it was last asked; none before the first time.
    answered: Option<bool>,
    /// The events of its log that were passed on.
    logged: u64,
    /// How long its process had been running.
    seconds: f64,
}

impl NodeGatherer {
    /// A gatherer for a run with these members.
    pub fn new(members: Vec<MemberAddress>) -> Self {
        Self { members, frames: AgentFrames::default(), seen: BTreeMap::new(), ended: false }
    }

    /// All members of the run.
    pub fn members(&self) -> &[MemberAddress] {
        &self.members
    }

    /// The items of a moment: what has happened since the last one, and all agents. Members that
    /// were not asked count as unreachable.
    pub fn gather(&mut self, t: f64, answers: &BTreeMap<String, NodeAnswer>) -> Vec<Item> {
        let mut events = Vec::new();
        for member in &self.members {
            let seen = self.seen.entry(member.name.clone()).or_default();
            seen.look(t, member, answers.get(&member.name), &mut events);
        }
        let mut statuses: Vec<_> = vec![None; self.members.iter().flat_map(|member| &member.agents).count()];
        for status in answers.values().filter_map(NodeAnswer::status) {
            for agent in &status.agents {
                if let Some(place) = statuses.get_mut(agent.agent as usize) {
                    *place = Some(agent.clone());
                }
            }
        }
        let mut frame = self.frames.frame(t, statuses);
        let (states, visible) = self.states(answers, frame.s.as_deref().unwrap_or_default());
        (frame.s, frame.v) = (Some(states), Some(visible));
        for event in &mut events {
            event.k = if event.k == 0 { frame.k } else { event.k };
        }
        if !self.ended && is_over(answers) {
            self.ended = true;
            events.push(WatchEvent::new(t, frame.k, "end").saying("all nodes are done"));
        }
        events.into_iter().map(Item::Event).chain([Item::Frame(frame)]).collect()
    }

    /// The state of each agent, and whether it could be asked. An agent that cannot be asked is
    /// down if anybody misses it; one that answers and has begun is silent if everybody else misses
    /// it.
    fn states(&self, answers: &BTreeMap<String, NodeAnswer>, running: &str) -> (String, String) {
        let (mut states, mut visible) = (running.chars().collect::<Vec<_>>(), vec!['y'; running.len()]);
        for member in &self.members {
            let others = answers.iter().filter(|(name, _)| **name != member.name);
            let misses: Vec<bool> =
                others.filter_map(|(_, other)| Some(other.status()?.absent.contains(&member.name))).collect();
            let missed_by_all = !misses.is_empty() && misses.iter().all(|misses| *misses);
            let (state, seen) = match answers.get(&member.name) {
                Some(NodeAnswer::Status(status)) => ((missed_by_all && status.begun).then_some('s'), 'y'),
                Some(NodeAnswer::Down) => (Some('d'), 'y'),
                Some(NodeAnswer::Unreachable) | None => (Some(if misses.contains(&true) { 'd' } else { 'u' }), 'n'),
            };
            for &agent in &member.agents {
                if let Some(place) = states.get_mut(agent as usize) {
                    *place = state.unwrap_or(*place);
                    visible[agent as usize] = seen;
                }
            }
        }
        (states.into_iter().collect(), visible.into_iter().collect())
    }
}

impl NodeAnswer {
    fn status(&self) -> Option<&NodeStatus> {
        if let Self::Status(status) = self { Some(status) } else { None }
    }
}

impl Seen {
    /// Notes what became of asking a member, and adds what has happened to it.
    fn look(&mut self, t: f64, member: &MemberAddress, answer: Option<&NodeAnswer>, events: &mut Vec<WatchEvent>) {
        let Some(status) = answer.and_then(NodeAnswer::status) else {
            let is_down = matches!(answer, Some(NodeAnswer::Down));
            if self.answered == Some(true) && !is_down {
                let text = format!("{} does not answer", member.name);
                let lost = member.agents.iter().map(|agent| WatchEvent::new(t, 0, "unreachable").of(*agent));
                events.extend(lost.map(|event| event.saying(text.as_str())));
            }
            self.answered = Some(false);
            return;
        };
        if status.agents.is_empty() {
            // A process that has only just started: it is there once it names its agents.
            self.answered = self.answered.map(|_| false);
            return;
        }
        let restarted = status.seconds < self.seconds;
        if restarted || self.answered == Some(false) {
            let back = status.agents.iter().map(|agent| (agent.agent, agent.incarnation));
            events.extend(back.map(|(agent, life)| WatchEvent::new(t, 0, "join").of(agent).with("life", life)));
        }
        let logged = if restarted { 0 } else { self.logged };
        // The node's own clock began when it started.
        let started = t - status.seconds;
        events.extend(status.log.after(logged).map(|event| WatchEvent { t: started + event.t, ..event.clone() }));
        *self = Self { answered: Some(true), logged: status.log.total, seconds: status.seconds };
    }
}

/// Whether all nodes that answer are done, and somebody does.
fn is_over(answers: &BTreeMap<String, NodeAnswer>) -> bool {
    let mut done = answers.values().filter_map(NodeAnswer::status).map(|status| status.done).peekable();
    done.peek().is_some() && done.all(|done| done)
}

#[cfg(test)]
mod tests {
    use fabnet_watch::{AgentStatus, WatchFrame};

    use super::super::node_status::NodeLog;
    use super::*;

    /// Three members with an agent each.
    fn gatherer() -> NodeGatherer {
        let member = |agent: u32| MemberAddress { name: format!("n{agent}"), agents: vec![agent], http: None };
        NodeGatherer::new((0..3).map(member).collect())
    }

    fn status(agent: u32, seconds: f64) -> NodeStatus {
        let agents = vec![AgentStatus { agent, round: 7, incarnation: 2, ..AgentStatus::default() }];
        NodeStatus { node: format!("n{agent}"), seconds, begun: true, agents, ..NodeStatus::default() }
    }

    /// What is gathered of these answers: events and frame.
    fn gather(gatherer: &mut NodeGatherer, t: f64, answers: [NodeAnswer; 3]) -> (Vec<WatchEvent>, WatchFrame) {
        let named = (0..).zip(answers).map(|(agent, answer)| (format!("n{agent}"), answer)).collect();
        let (mut events, mut frames) = (Vec::new(), Vec::new());
        for item in gatherer.gather(t, &named) {
            match item {
                Item::Event(event) => events.push(event),
                Item::Frame(frame) => frames.push(frame),
                Item::Hello(_) => {}
            }
        }
        (events, frames.remove(0))
    }

    fn all(seconds: f64) -> [NodeAnswer; 3] {
        [0, 1, 2].map(|agent| NodeAnswer::Status(status(agent, seconds)))
    }

    #[test]
    fn whom_it_cannot_reach_and_whom_others_miss_is_told_apart() {
        let mut gatherer = gatherer();
        let (events, frame) = gather(&mut gatherer, 1.0, all(1.0));
        assert_eq!((events.len(), frame.s.as_deref(), frame.v.as_deref()), (0, Some("uuu"), Some("yyy")));
        let [first, second, _] = all(1.5);
        let (events, frame) = gather(&mut gatherer, 1.5, [first.clone(), second.clone(), NodeAnswer::Unreachable]);
        assert_eq!((frame.s.as_deref(), frame.v.as_deref()), (Some("uuu"), Some("yyn")));
        assert_eq!((events[0].kind.as_str(), events[0].agent), ("unreachable", Some(2)));
        let missing = NodeStatus { absent: vec!["n2".into()], ..status(0, 2.0) };
        let (events, frame) =
            gather(&mut gatherer, 2.0, [NodeAnswer::Status(missing), second.clone(), NodeAnswer::Unreachable]);
        assert_eq!((events.len(), frame.s.as_deref(), frame.v.as_deref()), (0, Some("uud"), Some("yyn")));
        let alone = |agent| NodeAnswer::Status(NodeStatus { absent: vec!["n1".into()], ..status(agent, 2.5) });
        let (_, frame) = gather(&mut gatherer, 2.5, [alone(0), second, alone(2)]);
        assert_eq!((frame.s.as_deref(), frame.v.as_deref()), (Some("usu"), Some("yyy")));
    }

    #[test]
    fn a_node_that_was_down_joins_and_its_log_is_read_once_with_the_time_of_the_watcher() {
        let mut gatherer = gatherer();
        gather(&mut gatherer, 10.0, all(5.0));
        let [first, second, _] = all(6.0);
        let (events, frame) = gather(&mut gatherer, 11.0, [first.clone(), second.clone(), NodeAnswer::Down]);
        assert_eq!((events.len(), frame.s.as_deref(), frame.v.as_deref()), (0, Some("uud"), Some("yyy")));
        let mut log = NodeLog::default();
        log.add(WatchEvent::new(0.5, 7, "epoch").of(2));
        let back = NodeAnswer::Status(NodeStatus { log, ..status(2, 1.0) });
        let (events, _) = gather(&mut gatherer, 12.0, [first.clone(), second.clone(), back.clone()]);
        let said: Vec<_> = events.iter().map(|event| (event.t, event.k, event.kind.as_str())).collect();
        assert_eq!(said, [(12.0, 7, "join"), (11.5, 7, "epoch")]);
        assert_eq!(gather(&mut gatherer, 12.5, [first, second, back]).0, []);
    }

    #[test]
    fn a_node_that_is_back_before_anybody_looked_joins_once_it_names_its_agents() {
        let mut gatherer = gatherer();
        gather(&mut gatherer, 10.0, all(5.0));
        let [first, second, third] = all(5.5);
        let empty = NodeAnswer::Status(NodeStatus { agents: Vec::new(), ..status(2, 0.0) });
        let (events, _) = gather(&mut gatherer, 10.5, [first.clone(), second.clone(), empty]);
        assert_eq!(events, []);
        let (events, _) = gather(&mut gatherer, 11.0, [first.clone(), second.clone(), third.clone()]);
        assert_eq!(
            events.iter().map(|event| (event.kind.as_str(), event.agent)).collect::<Vec<_>>(),
            [("join", Some(2))]
        );
        assert_eq!(gather(&mut gatherer, 11.5, [first, second, third]).0, []);
    }

    #[test]
    fn the_end_is_said_once() {
        let mut gatherer = gatherer();
        let done = || {
            all(9.0).map(|answer| match answer {
                NodeAnswer::Status(status) => NodeAnswer::Status(NodeStatus { done: true, ..status }),
                other => other,
            })
        };
        let (events, _) = gather(&mut gatherer, 9.0, done());
        assert_eq!(events.iter().map(|event| event.kind.as_str()).collect::<Vec<_>>(), ["end"]);
        assert!(gather(&mut gatherer, 9.5, done()).0.is_empty());
    }
}
