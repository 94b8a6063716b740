//! The nodes of a run, as far as their status can be read.

use std::collections::BTreeMap;
use std::thread;

use fabnet_net::{MemberAddress, NodeAnswer, NodeStatus, ask};

use crate::exit_code::UsageError;

/// The nodes of a run, found from the status addresses of some of them.
pub(crate) struct KnownNodes {
    /// All members of the run.
    pub(crate) members: Vec<MemberAddress>,
    /// An address at which a node has answered.
    pub(crate) answered_at: String,
    /// Where the status of each node can be read, by the name of the node.
    addresses: BTreeMap<String, String>,
}

impl KnownNodes {
    /// The largest number of nodes that are asked at once.
    const AT_ONCE: usize = 64;

    /// Finds all nodes of the run to which the node at one of these addresses belongs. An error if
    /// nobody answers.
    pub(crate) fn find(given: &[String]) -> Result<Self, UsageError> {
        let found = ask_all(given.iter().map(|address| (address, address)));
        let first = found.iter().find_map(|(address, answer)| Some((address.clone(), status_of(answer)?)));
        let (answered_at, status) = first.ok_or_else(|| {
            let given = given.join(", ");
            UsageError(format!("{given}: no node answers there; `http` in a node's file says where it does"))
        })?;
        let (members, addresses) = (status.members.clone(), addresses(&status.members, &found));
        Ok(Self { members, answered_at, addresses })
    }

    /// Asks all nodes for their status.
    pub(crate) fn ask(&self) -> BTreeMap<String, NodeAnswer> {
        ask_all(&self.addresses)
    }
}

/// The addresses that members name, and those that were given, where they answer.
fn addresses(members: &[MemberAddress], given: &BTreeMap<String, NodeAnswer>) -> BTreeMap<String, String> {
    let named = members.iter().filter_map(|member| Some((member.name.clone(), member.http.clone()?)));
    let answered =
        given.iter().filter_map(|(address, answer)| Some((status_of(answer)?.node.clone(), address.clone())));
    named.chain(answered).collect()
}

/// Asks at all these addresses at once, each with a name.
fn ask_all<'a>(addresses: impl IntoIterator<Item = (&'a String, &'a String)>) -> BTreeMap<String, NodeAnswer> {
    let addresses: Vec<(&String, &String)> = addresses.into_iter().collect();
    let mut answers = BTreeMap::new();
    for some in addresses.chunks(KnownNodes::AT_ONCE) {
        thread::scope(|scope| {
            let asked: Vec<_> = some.iter().map(|(name, address)| (*name, scope.spawn(|| ask(address)))).collect();
            for (name, asked) in asked {
                let status = asked.join().ok().and_then(Result::ok);
                answers.insert(name.clone(), status.map_or(NodeAnswer::Unreachable, NodeAnswer::Status));
            }
        });
    }
    answers
}

fn status_of(answer: &NodeAnswer) -> Option<&NodeStatus> {
    if let NodeAnswer::Status(status) = answer { Some(status) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_found_from_one_and_a_given_address_counts_before_one_that_is_named() {
        let member = |name: &str, http: Option<&str>| MemberAddress {
            name: name.into(),
            agents: vec![0],
            http: http.map(str::to_owned),
        };
        let members = [member("a", Some("a:1")), member("b", Some("b:1")), member("c", None)];
        let status = NodeStatus { node: "b".into(), ..NodeStatus::default() };
        let given = BTreeMap::from([
            ("localhost:9".to_owned(), NodeAnswer::Status(status)),
            ("localhost:8".to_owned(), NodeAnswer::Unreachable),
        ]);
        let found: Vec<_> = addresses(&members, &given).into_iter().collect();
        assert_eq!(found, [("a".to_owned(), "a:1".to_owned()), ("b".to_owned(), "localhost:9".to_owned())]);
    }

    #[test]
    fn addresses_at_which_nobody_answers_are_named() {
        let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).unwrap();
        let error = KnownNodes::find(&[nobody.to_string()]).err().unwrap().to_string();
        assert!(error.contains(&nobody.to_string()) && error.contains("no node answers"), "{error}");
    }
}
