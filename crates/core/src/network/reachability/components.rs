//! Strongly connected components: groups of agents that all hear of each other.

use std::fmt::{Display, Formatter};

/// The strongly connected components of a graph, the largest first. Information from an agent of
/// one component may reach another, but never in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components(pub Vec<Vec<usize>>);

impl Components {
    /// These components, each with its agents in ascending order.
    pub(super) fn sorted(mut components: Vec<Vec<usize>>) -> Self {
        components.sort_by_key(|component| (usize::MAX - component.len(), component[0]));
        Self(components)
    }
}

/// Such as `2 components: agents 0 to 3 and 7; agents 4 to 6`.
impl Display for Components {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 6;
        let named: Vec<String> = self.0.iter().take(SHOWN).map(|component| names(component)).collect();
        write!(f, "{} components: {}", self.0.len(), named.join("; "))?;
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// Agents in ascending order, those that follow one another as a range.
fn names(agents: &[usize]) -> String {
    const SHOWN: usize = 8;
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &agent in agents {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == agent => *last = agent,
            _ => ranges.push((agent, agent)),
        }
    }
    let name = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    let shown: Vec<String> = ranges.iter().take(SHOWN).map(name).collect();
    let more: usize = ranges.iter().skip(SHOWN).map(|(first, last)| last - first + 1).sum();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("agent{} {}{more}", if agents.len() == 1 { "" } else { "s" }, shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_named() {
        let two = Components::sorted(vec![vec![4, 5, 6], vec![0, 1, 2, 3, 7]]);
        assert_eq!(two.to_string(), "2 components: agents 0 to 3, 7; agents 4 to 6");
        let alone = Components::sorted((0..8).map(|agent| vec![agent]).collect());
        assert!(alone.to_string().ends_with("agent 4; agent 5; and 2 more"), "{alone}");
        let even = (0..40).map(|agent| 2 * agent).collect();
        let odd = (0..40).map(|agent| vec![2 * agent + 1]);
        let named = Components::sorted(odd.chain([even]).collect()).to_string();
        assert!(named.contains("agents 0, 2, 4, 6, 8, 10, 12, 14 and 32 more; agent 1"), "{named}");
    }
}
