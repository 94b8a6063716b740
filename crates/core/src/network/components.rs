//! Strongly connected components: groups of agents that all hear of each other.

use std::fmt::{Display, Formatter};

/// The strongly connected components of a graph, the largest first. Information from an agent of
/// one component may reach another, but never in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components(pub Vec<Vec<usize>>);

impl Components {
    /// By Kosaraju's algorithm: agents are taken in the reverse order in which a depth-first search
    /// along `reaches` leaves them; each collects along `hears` those that are not in a component
    /// yet.
    pub(super) fn of(hears: &[Vec<usize>], reaches: &[Vec<usize>]) -> Self {
        let (mut seen, mut left) = (vec![false; reaches.len()], Vec::new());
        for agent in 0..reaches.len() {
            search(agent, reaches, &mut seen, &mut left);
        }
        let (mut seen, mut components) = (vec![false; hears.len()], Vec::new());
        for &agent in left.iter().rev() {
            let mut component = Vec::new();
            search(agent, hears, &mut seen, &mut component);
            if !component.is_empty() {
                component.sort_unstable();
                components.push(component);
            }
        }
        components.sort_by_key(|component: &Vec<usize>| (usize::MAX - component.len(), component[0]));
        Self(components)
    }
}

/// Depth first from an agent that was not seen yet; agents are noted as the search leaves them.
fn search(from: usize, links: &[Vec<usize>], seen: &mut [bool], left: &mut Vec<usize>) {
    let mut path = if std::mem::replace(&mut seen[from], true) { Vec::new() } else { vec![(from, 0)] };
    while let Some((agent, next)) = path.last_mut() {
        let Some(&other) = links[*agent].get(*next) else {
            left.push(*agent);
            path.pop();
            continue;
        };
        *next += 1;
        if !std::mem::replace(&mut seen[other], true) {
            path.push((other, 0));
        }
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
    use proptest::prelude::*;

    use super::*;

    fn components(agents: usize, links: &[(usize, usize)]) -> Components {
        let (mut hears, mut reaches) = (vec![Vec::new(); agents], vec![Vec::new(); agents]);
        for &(source, target) in links {
            hears[target].push(source);
            reaches[source].push(target);
        }
        Components::of(&hears, &reaches)
    }

    #[test]
    fn components_are_named() {
        let two = components(8, &[(0, 1), (1, 2), (2, 3), (3, 7), (7, 0), (4, 5), (5, 6), (6, 4), (0, 4)]);
        assert_eq!(two.to_string(), "2 components: agents 0 to 3, 7; agents 4 to 6");
        let alone = components(8, &[]);
        assert!(alone.to_string().ends_with("agent 4; agent 5; and 2 more"), "{alone}");
        let even: Vec<_> = (0..40).map(|agent| (2 * agent, 2 * ((agent + 1) % 40))).collect();
        assert!(components(80, &even).to_string().contains("agents 0, 2, 4, 6, 8, 10, 12, 14 and 32 more; agent 1"));
    }

    proptest! {
        /// Two agents share a component exactly if each reaches the other.
        #[test]
        fn agents_of_a_component_reach_each_other_and_no_others(links in prop::collection::vec((0usize..9, 0usize..9), 0..25)) {
            let mut reach = [[false; 9]; 9];
            for (agent, reached) in reach.iter_mut().enumerate() { reached[agent] = true; }
            for &(source, target) in &links { reach[source][target] = true; }
            for via in 0..9 { for a in 0..9 { for b in 0..9 { reach[a][b] |= reach[a][via] && reach[via][b]; } } }
            let found = components(9, &links).0;
            let of = |agent| found.iter().position(|component| component.contains(&agent));
            prop_assert_eq!(found.iter().map(Vec::len).sum::<usize>(), 9);
            let pairs = (0..9).flat_map(|a| (0..9).map(move |b| (a, b)));
            for (a, b) in pairs { prop_assert_eq!(of(a) == of(b), reach[a][b] && reach[b][a]); }
        }
    }
}
