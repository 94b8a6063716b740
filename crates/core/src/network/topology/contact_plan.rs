//! Contact plans: links with times, read from a file.

use super::Topology;
use crate::Digraph;

/// Links that exist in given rounds, as satellites and duty-cycled radios have them. Contacts that
/// were recorded in seconds become one by [`ContactPlan::from_trace`].
///
/// One link a line: `source target first last`, where the link exists in the rounds `first ≤ k <
/// last`; without times it always exists. `period N` on a line of its own makes the plan repeat
/// every N rounds; without it, the last graph remains. `#` starts a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactPlan {
    agents: usize,
    contacts: Vec<PlannedContact>,
    period: Option<u64>,
    /// The rounds in which the graph changes, ascending, from 0.
    changes: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedContact {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Why a contact plan cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactPlanError {
    /// A line that is not of the form.
    #[error("line {line}: expected `source target [first last]` or `period N`, found `{found}`")]
    Form {
        /// The number of the line, counted from 1.
        line: usize,
        /// The line as it was written.
        found: String,
    },
    /// The line names an agent that does not exist.
    #[error("line {line}: agent {agent} does not exist: agents are numbered from 0 to {}", agents - 1)]
    Agent {
        /// The number of the line, counted from 1.
        line: usize,
        /// The agent that was written.
        agent: u64,
        /// The number of agents that there are.
        agents: usize,
    },
    /// Times of which the last is not after the first, or lies beyond the period.
    #[error("line {line}: the rounds {first} to {last} are empty or end after the period: give first < last ≤ period")]
    Times {
        /// The number of the line, counted from 1.
        line: usize,
        /// The first round that was written.
        first: u64,
        /// The last round that was written.
        last: u64,
    },
    /// A line of a contact trace that is not of the form.
    #[error("line {line}: expected `start end a b` with times in seconds and start ≤ end, found `{found}`")]
    TraceForm {
        /// The number of the line, counted from 1.
        line: usize,
        /// The line as it was written.
        found: String,
    },
    /// A contact trace of more nodes than there are agents.
    #[error("the trace has {nodes} nodes: set agents = {nodes}, or leave out contacts of some")]
    TooManyNodes {
        /// The number of nodes of the trace.
        nodes: usize,
    },
    /// A contact trace without contacts.
    #[error("the trace has no contacts: give lines `start end a b`")]
    NoContacts,
}

impl ContactPlan {
    /// Reads a plan among this many agents.
    pub fn parse(text: &str, agents: usize) -> Result<Self, ContactPlanError> {
        let mut contacts = Vec::new();
        let mut period = None;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            let form = || ContactPlanError::Form { line, found: text.to_owned() };
            let words: Vec<&str> = text.split_whitespace().collect();
            let number = |word: &str| word.parse::<u64>().map_err(|_| form());
            let agent = |word: &str| match number(word)? {
                agent if agent < agents as u64 => Ok(agent as usize),
                agent => Err(ContactPlanError::Agent { line, agent, agents }),
            };
            match words.as_slice() {
                [] => {}
                ["period", rounds] => {
                    period = Some(number(rounds)?).filter(|&rounds| rounds > 0).ok_or_else(form).map(Some)?;
                }
                [source, target] => contacts.push((
                    line,
                    PlannedContact { source: agent(source)?, target: agent(target)?, first: 0, last: u64::MAX },
                )),
                [source, target, first, last] => {
                    let contact = PlannedContact {
                        source: agent(source)?,
                        target: agent(target)?,
                        first: number(first)?,
                        last: number(last)?,
                    };
                    contacts.push((line, contact));
                }
                _ => return Err(form()),
            }
        }
        let end = period.unwrap_or(u64::MAX);
        if let Some(&(line, PlannedContact { first, last, .. })) = contacts
            .iter()
            .find(|(_, contact)| contact.first >= contact.last || (contact.last != u64::MAX && contact.last > end))
        {
            return Err(ContactPlanError::Times { line, first, last });
        }
        Ok(Self::new(agents, contacts.into_iter().map(|(_, contact)| contact).collect(), period))
    }

    /// The plan of these contacts, which end before the period does.
    pub(super) fn new(agents: usize, contacts: Vec<PlannedContact>, period: Option<u64>) -> Self {
        let end = period.unwrap_or(u64::MAX);
        let mut changes: Vec<u64> = contacts
            .iter()
            .flat_map(|contact| [contact.first, contact.last])
            .chain([0])
            .filter(|&change| change < end)
            .collect();
        changes.sort_unstable();
        changes.dedup();
        Self { agents, contacts, period, changes }
    }
}

impl Topology for ContactPlan {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        let round = self.period.map_or(round, |period| round % period);
        self.changes.partition_point(|&change| change <= round) as u64 - 1
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        let round = self.changes[name as usize];
        let lives = |contact: &&PlannedContact| (contact.first..contact.last).contains(&round);
        let mut links = self.contacts.iter().filter(lives).map(|contact| (contact.source, contact.target)).collect();
        graph.set_links(&mut links);
    }

    fn period(&self) -> Option<u64> {
        self.period.or_else(|| (self.changes.len() == 1).then_some(1))
    }

    fn links(&self) -> f64 {
        // A contact of an agent with itself is no link.
        self.contacts.iter().filter(|contact| contact.source != contact.target).count() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_live_in_their_rounds_and_the_plan_repeats() {
        let plan = ContactPlan::parse("period 10 # one orbit\n0 1 0 4\n1 2 2 10\n2 0\n", 3).unwrap();
        let mut graph = Digraph::new(3);
        let mut links = |round| {
            plan.draw(plan.graph_of(round), &mut graph);
            graph.links().collect::<Vec<_>>()
        };
        assert_eq!(links(0), [(2, 0), (0, 1)]);
        assert_eq!(links(3), [(2, 0), (0, 1), (1, 2)]);
        assert_eq!(links(4), [(2, 0), (1, 2)]);
        assert_eq!(links(10), links(0));
        assert_eq!(plan.period(), Some(10));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text| ContactPlan::parse(text, 3).unwrap_err().to_string();
        assert_eq!(error("0 1\n0 3"), "line 2: agent 3 does not exist: agents are numbered from 0 to 2");
        assert!(error("0 1 5 5").starts_with("line 1: the rounds 5 to 5 are empty"));
        assert!(error("period 4\n0 1 0 5").starts_with("line 2: the rounds 0 to 5"));
        assert!(error("0 1 x 5").contains("expected `source target"));
        assert!(error("period 0").contains("expected `source target"));
        assert!(error("0 1 5").contains("found `0 1 5`"));
    }
}
