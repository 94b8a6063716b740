//! Who is connected with whom, and what all nodes have in common.

use std::collections::BTreeMap;

use super::settings::{Config, Member};
use crate::run_digest::RunDigest;

impl Config {
    /// This node among the members; a router is none of them.
    pub fn me(&self) -> Option<&Member> {
        self.members.iter().find(|member| member.name == self.node)
    }

    /// The name of each agent, by number: that of its member, with its number if the member owns
    /// several.
    pub fn names_of_agents(&self) -> Vec<String> {
        let name = |agent: u32, member: &Member| match member.agents.len() {
            1 => member.name.clone(),
            _ => format!("{} {agent}", member.name),
        };
        let named = self.members.iter().flat_map(|member| member.agents.iter().map(move |&agent| (agent, member)));
        let named: BTreeMap<u32, String> = named.map(|(agent, member)| (agent, name(agent, member))).collect();
        named.into_values().collect()
    }

    /// Names and addresses of all members and routers.
    pub(super) fn everybody(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = self.members.iter().map(|member| (member.name.as_str(), member.address.as_str()));
        members.chain(self.routers.iter().map(|router| (router.name.as_str(), router.address.as_str())))
    }

    /// The address at which this node listens, if others connect to it.
    pub fn listens_at(&self) -> Option<&str> {
        let is_connected_to = self.routers.is_empty() || self.me().is_none();
        self.everybody().find(|(name, _)| is_connected_to && *name == self.node).map(|(_, address)| address)
    }

    /// Those that this node can be connected with, itself among them if it is one of their kind:
    /// the routers, if there are any, else the members.
    fn connectable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.everybody().skip(if self.routers.is_empty() { 0 } else { self.members.len() })
    }

    /// Names and addresses of the others that this node can be connected with.
    pub fn contacts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.connectable().filter(|(name, _)| *name != self.node)
    }

    /// The addresses among them that this node dials: those listed before it. Of two members, only
    /// the later one dials. Where both do, Zenoh can end with a connection that works in one
    /// direction only (eclipse-zenoh/zenoh#2806).
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.connectable().take_while(|(name, _)| *name != self.node).map(|(_, address)| address)
    }

    /// The address through which an agent is heard: its node's, or the nearest router's.
    pub fn way_to(&self, agent: u32) -> &str {
        match (self.routers.first(), self.owner_of(agent)) {
            (Some(router), _) => &router.address,
            (None, Some(member)) => &member.address,
            (None, None) => "",
        }
    }

    /// The name of the member that an agent belongs to.
    pub fn owner(&self, agent: u32) -> &str {
        self.owner_of(agent).map_or("", |member| &member.name)
    }

    fn owner_of(&self, agent: u32) -> Option<&Member> {
        self.members.iter().find(|member| member.agents.contains(&agent))
    }

    /// The number of all agents of the run.
    pub fn agents(&self) -> usize {
        self.members.iter().map(|member| member.agents.len()).sum()
    }

    /// The digest of what all nodes must have in common: the run, its plan, and who owns which
    /// agents.
    pub fn run_digest(&self, plan: &str, is_sealed: bool) -> RunDigest {
        let owners = self.members.iter().flat_map(|member| [member.name.clone(), format!("{:?}", member.agents)]);
        // Nodes that seal do not believe those that do not: their runs are not the same.
        let seals = is_sealed.then(|| "sealed".to_owned());
        RunDigest::of([self.run.clone(), plan.to_owned()].into_iter().chain(owners).chain(seals))
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::RouterSettings;
    use super::*;

    fn config(node: &str, routers: &[&str]) -> Config {
        let member = |(place, name): (usize, &&str)| Member {
            name: (*name).into(),
            agents: vec![place as u32],
            address: format!("{name}:1"),
            http: None,
        };
        let router = |name: &&str| RouterSettings { name: (*name).into(), address: format!("{name}:2") };
        let mut config = Config::new("r", node, ["a", "b", "c"].iter().enumerate().map(member).collect());
        config.routers = routers.iter().map(router).collect();
        config
    }

    fn calls(config: &Config) -> Vec<&str> {
        config.calls().collect()
    }

    #[test]
    fn of_two_members_the_later_one_dials() {
        assert_eq!(calls(&config("a", &[])), [""; 0]);
        assert_eq!(calls(&config("b", &[])), ["a:1"]);
        assert_eq!(calls(&config("c", &[])), ["a:1", "b:1"]);
        assert_eq!(config("b", &[]).contacts().collect::<Vec<_>>(), [("a", "a:1"), ("c", "c:1")]);
        assert_eq!(config("b", &[]).listens_at(), Some("b:1"));
        assert_eq!(config("b", &[]).way_to(2), "c:1");
    }

    #[test]
    fn with_routers_members_dial_these_only_and_do_not_listen() {
        let member = config("b", &["hub", "spare"]);
        assert_eq!(calls(&member), ["hub:2", "spare:2"]);
        assert_eq!(member.listens_at(), None);
        assert_eq!(member.way_to(2), "hub:2");
        let router = config("spare", &["hub", "spare"]);
        assert_eq!(calls(&router), ["hub:2"]);
        assert_eq!(router.listens_at(), Some("spare:2"));
        assert!(router.me().is_none());
    }

    #[test]
    fn the_digest_is_of_run_plan_and_owners_and_of_nothing_else() {
        let digest = config("a", &[]).run_digest("plan", false);
        let mut elsewhere = config("b", &["hub"]);
        elsewhere.members[0].address = "moved:9".into();
        assert_eq!(elsewhere.run_digest("plan", false), digest);
        assert_ne!(config("a", &[]).run_digest("another plan", false), digest);
        elsewhere.members.swap(0, 1);
        assert_ne!(elsewhere.run_digest("plan", false), digest);
        elsewhere.members.swap(0, 1);
        elsewhere.run = "s".into();
        assert_ne!(elsewhere.run_digest("plan", false), digest);
    }
}
