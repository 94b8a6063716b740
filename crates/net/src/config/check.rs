//! Whether the settings of a node make sense together.

use std::collections::{BTreeMap, BTreeSet};

use super::settings::Config;

/// Something impossible in a node's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigMistake {
    /// A name has other characters than keys and file names allow.
    #[error("`{0}` cannot be a name: use letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// Two members or routers have the same name.
    #[error("two are called `{0}`")]
    SameName(String),
    /// An address has no port.
    #[error("`{address}` of `{name}` is not host:port")]
    Address {
        /// The member or router.
        name: String,
        /// Its address as it was written.
        address: String,
    },
    /// Two members or routers listen at the same place.
    #[error("`{first}` and `{second}` have the same address: each needs one of its own")]
    SameAddress {
        /// One of them.
        first: String,
        /// The other one.
        second: String,
    },
    /// The node is neither a member nor a router.
    #[error("there is no [[member]] and no [[router]] with the name `{0}`, which node says this is")]
    UnknownNode(String),
    /// A member has no plan or no state folder.
    #[error("a member needs `plan`, the experiment, and `state`, a folder of its own")]
    NoPlanOrState,
    /// A run is to continue itself.
    #[error("`continues` is the state folder of a run that was stopped: this run needs another one as `state`")]
    ContinuesItself,
    /// A member owns nothing.
    #[error("`{0}` owns no agent")]
    NoAgent(String),
    /// Two members own the same agent.
    #[error("agent {0} is owned twice")]
    OwnedTwice(u32),
    /// Some agent is owned by nobody.
    #[error("the agents of all members together must be 0, 1, 2, … without a gap")]
    Gap,
    /// There are no certificates, and nobody has said that this is wanted.
    #[error(
        "[tls] is missing: `fabnet pki` makes certificates; insecure = true does without, for everybody on the \
         network to read and forge"
    )]
    NoTls,
    /// There are certificates, and they are not to be used.
    #[error("[tls] and insecure = true contradict each other: remove one")]
    TlsAndInsecure,
    /// The loss is not a fraction.
    #[error("loss is a part of 1, below 1")]
    Loss,
}

impl Config {
    /// Finds the first thing that is impossible.
    pub(super) fn check(&self) -> Result<(), ConfigMistake> {
        if !is_name(&self.run) {
            return Err(ConfigMistake::Name(self.run.clone()));
        }
        self.check_names()?;
        if self.me().is_some() && (self.plan.as_os_str().is_empty() || self.state.as_os_str().is_empty()) {
            return Err(ConfigMistake::NoPlanOrState);
        }
        if self.continues.as_ref() == Some(&self.state) {
            return Err(ConfigMistake::ContinuesItself);
        }
        self.check_agents()?;
        match (&self.tls, self.insecure) {
            (None, false) => Err(ConfigMistake::NoTls),
            (Some(_), true) => Err(ConfigMistake::TlsAndInsecure),
            _ if !(0.0..1.0).contains(&self.loss) => Err(ConfigMistake::Loss),
            _ => Ok(()),
        }
    }

    fn check_names(&self) -> Result<(), ConfigMistake> {
        let (mut names, mut addresses) = (BTreeSet::new(), BTreeMap::new());
        for (name, address) in self.everybody() {
            if !is_name(name) {
                return Err(ConfigMistake::Name(name.to_owned()));
            }
            if !names.insert(name) {
                return Err(ConfigMistake::SameName(name.to_owned()));
            }
            if address.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
                return Err(ConfigMistake::Address { name: name.to_owned(), address: address.to_owned() });
            }
            if let Some(first) = addresses.insert(address, name) {
                return Err(ConfigMistake::SameAddress { first: first.to_owned(), second: name.to_owned() });
            }
        }
        if names.contains(self.node.as_str()) { Ok(()) } else { Err(ConfigMistake::UnknownNode(self.node.clone())) }
    }

    fn check_agents(&self) -> Result<(), ConfigMistake> {
        let mut agents = BTreeSet::new();
        for member in &self.members {
            if member.agents.is_empty() {
                return Err(ConfigMistake::NoAgent(member.name.clone()));
            }
            if let Some(twice) = member.agents.iter().find(|agent| !agents.insert(**agent)) {
                return Err(ConfigMistake::OwnedTwice(*twice));
            }
        }
        if agents.iter().copied().ne(0..agents.len() as u32) { Err(ConfigMistake::Gap) } else { Ok(()) }
    }
}

/// Names become parts of keys, of file names and of certificates.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Member, RouterSettings, Tls};
    use super::*;

    fn right() -> Config {
        let member = |name: &str, agents: &[u32]| Member {
            name: name.into(),
            agents: agents.into(),
            address: format!("{name}.example:7000"),
            http: None,
        };
        Config {
            plan: "plan.toml".into(),
            state: "state".into(),
            insecure: true,
            ..Config::new("today", "alpha", vec![member("alpha", &[0, 2]), member("beta", &[1])])
        }
    }

    fn mistake_after(change: impl FnOnce(&mut Config)) -> ConfigMistake {
        let mut config = right();
        assert_eq!(config.check(), Ok(()));
        change(&mut config);
        config.check().unwrap_err()
    }

    #[test]
    fn names_that_cannot_be_part_of_a_key_are_refused() {
        for name in ["", "a/b", "a b", "ä", "a*"] {
            assert_eq!(mistake_after(|config| config.run = name.into()), ConfigMistake::Name(name.into()));
            assert_eq!(mistake_after(|config| config.members[1].name = name.into()), ConfigMistake::Name(name.into()));
        }
    }

    #[test]
    fn one_name_is_for_one_member_or_router() {
        let alpha = || ConfigMistake::SameName("alpha".into());
        assert_eq!(mistake_after(|config| config.members[1].name = "alpha".into()), alpha());
        let router = RouterSettings { name: "alpha".into(), address: "hub:7447".into() };
        assert_eq!(mistake_after(|config| config.routers.push(router)), alpha());
    }

    #[test]
    fn everybody_listens_at_another_place() {
        let expected = ConfigMistake::SameAddress { first: "alpha".into(), second: "beta".into() };
        assert_eq!(mistake_after(|config| config.members[1].address = config.members[0].address.clone()), expected);
    }

    #[test]
    fn an_address_needs_a_host_and_a_port() {
        for address in ["beta", "beta:", "beta:x", "beta:70000"] {
            let expected = ConfigMistake::Address { name: "beta".into(), address: address.into() };
            assert_eq!(mistake_after(|config| config.members[1].address = address.into()), expected);
        }
    }

    #[test]
    fn the_node_must_be_in_the_list() {
        let mistake = mistake_after(|config| config.node = "gamma".into());
        assert_eq!(mistake, ConfigMistake::UnknownNode("gamma".into()));
        assert!(mistake.to_string().contains("[[member]]"), "{mistake}");
    }

    #[test]
    fn members_need_a_plan_and_a_state_folder_and_routers_do_not() {
        assert_eq!(mistake_after(|config| config.plan = "".into()), ConfigMistake::NoPlanOrState);
        assert_eq!(mistake_after(|config| config.state = "".into()), ConfigMistake::NoPlanOrState);
        let mut config = right();
        (config.plan, config.state, config.node) = ("".into(), "".into(), "hub".into());
        config.routers.push(RouterSettings { name: "hub".into(), address: "hub:7447".into() });
        assert_eq!(config.check(), Ok(()));
    }

    #[test]
    fn no_run_continues_itself() {
        let continues = |folder: &'static str| move |config: &mut Config| config.continues = Some(folder.into());
        assert_eq!(mistake_after(continues("state")), ConfigMistake::ContinuesItself);
        let mut config = right();
        continues("before")(&mut config);
        assert_eq!(config.check(), Ok(()));
    }

    #[test]
    fn every_agent_is_owned_once() {
        assert_eq!(mistake_after(|config| config.members[1].agents.clear()), ConfigMistake::NoAgent("beta".into()));
        assert_eq!(mistake_after(|config| config.members[1].agents = vec![2]), ConfigMistake::OwnedTwice(2));
        assert_eq!(mistake_after(|config| config.members[1].agents = vec![3]), ConfigMistake::Gap);
    }

    #[test]
    fn a_node_has_certificates_or_says_that_it_does_without() {
        assert_eq!(mistake_after(|config| config.insecure = false), ConfigMistake::NoTls);
        let tls = Tls { ca: "ca.pem".into(), certificate: "a.pem".into(), key: "a.key".into() };
        assert_eq!(mistake_after(|config| config.tls = Some(tls)), ConfigMistake::TlsAndInsecure);
    }

    #[test]
    fn loss_is_a_fraction_below_one() {
        for loss in [1.0, -0.1, f64::NAN] {
            assert_eq!(mistake_after(|config| config.loss = loss), ConfigMistake::Loss);
        }
    }
}
