//! Contact traces: recorded contacts, with times in seconds.

use super::contact_plan::{ContactPlan, ContactPlanError, PlannedContact};

/// A contact of a trace.
#[derive(Clone, Copy, Debug)]
struct RecordedContact {
    start: f64,
    end: f64,
    nodes: [u64; 2],
}

impl ContactPlan {
    /// Makes a plan of recorded contacts, in rounds of `slot` seconds.
    ///
    /// One contact a line: `start end a b`, in seconds, as public traces have them; further columns
    /// are ignored, and `#` starts a comment. Contacts go both ways. Round 0 begins with the first
    /// contact, and a link exists in every round that its contact touches. The trace repeats after
    /// its last contact. Nodes may have any numbers: the smallest is agent 0, and so on.
    pub fn from_trace(text: &str, agents: usize, slot: f64) -> Result<Self, ContactPlanError> {
        let contacts = recorded(text)?;
        let mut nodes: Vec<u64> = contacts.iter().flat_map(|contact| contact.nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();
        if contacts.is_empty() {
            return Err(ContactPlanError::NoContacts);
        }
        if nodes.len() > agents {
            return Err(ContactPlanError::TooManyNodes { nodes: nodes.len() });
        }
        let begin = contacts.iter().map(|contact| contact.start).fold(f64::INFINITY, f64::min);
        let planned: Vec<PlannedContact> = contacts
            .iter()
            .flat_map(|contact| {
                let (first, last) = contact.rounds(begin, slot);
                let [a, b] = contact.nodes.map(|node| nodes.partition_point(|&other| other < node));
                [(a, b), (b, a)].map(|(source, target)| PlannedContact { source, target, first, last })
            })
            .collect();
        let period = planned.iter().map(|contact| contact.last).max();
        Ok(Self::new(agents, planned, period))
    }
}

impl RecordedContact {
    /// The first round that it touches, and the one after the last.
    fn rounds(&self, begin: f64, slot: f64) -> (u64, u64) {
        let first = ((self.start - begin) / slot).floor() as u64;
        let last = ((self.end - begin) / slot).ceil() as u64;
        (first, last.max(first.saturating_add(1)))
    }
}

/// The contacts of a text.
fn recorded(text: &str) -> Result<Vec<RecordedContact>, ContactPlanError> {
    let line = |(line, text): (usize, &str)| {
        let text = text.split('#').next().unwrap_or_default().trim();
        let contact = || contact(text).ok_or_else(|| ContactPlanError::TraceForm { line, found: text.to_owned() });
        (!text.is_empty()).then(contact)
    };
    (1..).zip(text.lines()).filter_map(line).collect()
}

/// The contact of a line, if the line is of the form.
fn contact(line: &str) -> Option<RecordedContact> {
    let mut words = line.split_whitespace();
    let mut seconds = || words.next()?.parse::<f64>().ok().filter(|time| time.is_finite());
    let (start, end) = (seconds()?, seconds()?);
    let mut node = || words.next()?.parse::<u64>().ok();
    let nodes = [node()?, node()?];
    (start <= end).then_some(RecordedContact { start, end, nodes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digraph, Topology};

    #[test]
    fn contacts_are_links_both_ways_in_the_rounds_that_they_touch() {
        let trace = "# seconds\n100 119.5 7 9 1 0\n110 140 9 42\n125 125 7 42 # a moment\n";
        let plan = ContactPlan::from_trace(trace, 3, 10.0).unwrap();
        let mut graph = Digraph::new(3);
        let mut links = |round| {
            plan.draw(plan.graph_of(round), &mut graph);
            graph.links().filter(|(source, target)| source < target).collect::<Vec<_>>()
        };
        assert_eq!(plan.period(), Some(4));
        let rounds: Vec<_> = (0..4).map(&mut links).collect();
        assert_eq!(rounds, [vec![(0, 1)], vec![(0, 1), (1, 2)], vec![(0, 2), (1, 2)], vec![(1, 2)]]);
        assert_eq!(links(4), links(0));
        plan.draw(plan.graph_of(1), &mut graph);
        assert_eq!(graph.edges(), 4);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text| ContactPlan::from_trace(text, 2, 1.0).unwrap_err().to_string();
        for (wrong, line) in [("0 1 0", 1), ("\n0 1 0 x", 2), ("0 1 0 1\n5 4 0 1", 2), ("0 NaN 0 1", 1)] {
            assert!(error(wrong).starts_with(&format!("line {line}: expected `start end a b`")), "{}", error(wrong));
        }
        assert_eq!(error("0 1 5 6\n0 1 7 8"), "the trace has 4 nodes: set agents = 4, or leave out contacts of some");
        assert_eq!(error("# nothing"), "the trace has no contacts: give lines `start end a b`");
    }
}
