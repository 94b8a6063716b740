//! Who a certificate is for: a name and hosts, checked.

use std::net::IpAddr;

use crate::config::is_name;

/// The name of a node, and the hosts under which others reach it. Both are checked: they become
/// file names, keys of messages and parts of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeIdentity {
    name: String,
    hosts: Vec<String>,
}

/// A name or a host that cannot stand in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityMistake {
    /// The name has other characters than keys and file names allow, or is too long.
    #[error(
        "`{0}` cannot be the name of a node: use up to 64 letters, digits, `-`, `_` and `.`, and begin with a letter, \
         a digit or `_`"
    )]
    Name(String),
    /// The name would be taken for the authority's.
    #[error("`{0}` is the name of the authority's own files: choose another name for the node")]
    Reserved(String),
    /// The host is neither a name of a host nor an address.
    #[error("`{0}` is no host: give a name such as alpha.example.org, or an IP address without a port")]
    Host(String),
}

impl NodeIdentity {
    /// The longest common name that certificates may hold.
    const LONGEST: usize = 64;
    /// The name of the authority's files.
    pub(super) const AUTHORITY: &str = "ca";

    /// Checks a name and hosts. Without any host, the node is reached on this machine only.
    pub fn new(name: &str, hosts: Vec<String>) -> Result<Self, IdentityMistake> {
        let begins_well = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
        if !is_name(name) || !begins_well || name.len() > Self::LONGEST {
            return Err(IdentityMistake::Name(name.to_owned()));
        }
        if name == Self::AUTHORITY {
            return Err(IdentityMistake::Reserved(name.to_owned()));
        }
        let hosts = if hosts.is_empty() { [name, "localhost", "127.0.0.1"].map(str::to_owned).into() } else { hosts };
        match hosts.iter().find(|host| !is_host(host)) {
            Some(wrong) => Err(IdentityMistake::Host(wrong.clone())),
            None => Ok(Self { name: name.to_owned(), hosts }),
        }
    }

    /// The name of the node, which is the common name of its certificate.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hosts under which others reach the node.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }
}

/// Whether this is an IP address, or a name of a host as DNS has them; `_` is allowed, because
/// names of nodes may have it.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        let inner = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        inner && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    host.parse::<IpAddr>().is_ok() || (host.len() <= 253 && host.split('.').all(is_label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(name: &str, hosts: &[&str]) -> Result<NodeIdentity, IdentityMistake> {
        NodeIdentity::new(name, hosts.iter().map(|host| (*host).to_owned()).collect())
    }

    #[test]
    fn a_node_without_given_hosts_is_reached_on_this_machine() {
        assert_eq!(identity("alpha", &[]).unwrap().hosts(), ["alpha", "localhost", "127.0.0.1"]);
        assert_eq!(identity("alpha", &["a.example"]).unwrap().hosts(), ["a.example"]);
    }

    #[test]
    fn names_that_lead_out_of_the_folder_or_mean_more_than_one_node_are_refused() {
        let long = "a".repeat(65);
        for name in ["", "../../escaped", "*", "a/b", ".", "..", ".hidden", "-rf", "a b", "ä", "a\nb", &long] {
            assert_eq!(identity(name, &[]), Err(IdentityMistake::Name(name.to_owned())), "{name:?}");
        }
        for name in ["alpha", "node-3", "_x", "site.2", "7", &long[..64]] {
            assert!(identity(name, &["localhost"]).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn the_name_of_the_authority_is_taken() {
        assert_eq!(identity("ca", &[]), Err(IdentityMistake::Reserved("ca".to_owned())));
    }

    #[test]
    fn hosts_are_names_or_addresses_and_no_patterns() {
        for host in ["a.example.org", "10.0.0.5", "2001:db8::1", "node_1", "localhost", "a-b"] {
            assert!(identity("alpha", &[host]).is_ok(), "{host}");
        }
        let long = "a".repeat(64);
        for host in ["", "*.example.org", "a..b", "host:7447", "-a", "a-", "a b", "a.", "[::1]", "http://a", &long] {
            assert_eq!(identity("alpha", &[host]), Err(IdentityMistake::Host(host.to_owned())), "{host}");
        }
    }
}
