//! What a node does about members that the run has expelled.

use fabnet_core::Scalar;
use fabnet_core::peer::{Command, Event};

use super::ending::NodeError;
use super::event_loop::Node;
use super::expulsions::ExpulsionNews;
use crate::refusals::RefusalReason;

impl<T: Scalar> Node<T> {
    /// Looks whether an operator has brought a list.
    pub(super) fn look_for_expulsions(&mut self) -> Result<(), NodeError> {
        self.expulsions.look().map_or(Ok(()), |news| self.put_into_force(&news))
    }

    /// Compares the list of another node with the one here. Whoever is behind is shown it, also one
    /// that is expelled: it would not know otherwise why nobody hears it.
    pub(super) fn hear_of_expelled(&mut self, node: &str, list: Option<&str>) -> Result<(), NodeError> {
        match self.expulsions.hear(list) {
            Ok((news, is_behind)) => {
                if is_behind {
                    self.greetings.owe_an_answer();
                }
                news.map_or(Ok(()), |news| self.put_into_force(&news))
            }
            Err(mistake) => {
                self.inbox.refusals().count(RefusalReason::Certificate);
                tracing::warn!(node, %mistake, "its list of expelled members does not count");
                Ok(())
            }
        }
    }

    /// Acts on a new list: peers, disk, logs and all others hear of it. A node that it names ends.
    fn put_into_force(&mut self, news: &ExpulsionNews) -> Result<(), NodeError> {
        let number = news.number;
        let changes = [("expel", "expelled", &news.expelled), ("readmit", "readmitted", &news.readmitted)];
        for (kind, done, names) in changes {
            for name in names {
                let text = format!("{done} by list number {number} of the members");
                tracing::warn!(member = name, number, "{done}");
                self.audit.note_expulsion(kind, name, &text, &*self.clock);
                for agent in self.agents_of(name) {
                    self.driver.note(kind, agent, format!("agent {agent} of `{name}`: {text}"));
                }
            }
        }
        for agent in news.readmitted.iter().flat_map(|name| self.agents_of(name)).collect::<Vec<_>>() {
            self.driver.push_to_all(&Event::Command(Command::Readmit(agent)));
        }
        self.tell_peers_of_expelled();
        self.greet();
        if self.expulsions.has(&self.config.node) {
            return Err(NodeError::Expelled(number));
        }
        self.expulsions.keep();
        Ok(())
    }

    /// Tells all peers whom not to believe.
    pub(super) fn tell_peers_of_expelled(&mut self) {
        let names: Vec<&str> = self.expulsions.expelled().collect();
        self.monitoring.note_expelled(names.len());
        self.expelled = names.into_iter().flat_map(|name| self.agents_of(name)).collect();
        for &agent in &self.expelled {
            self.driver.push_to_all(&Event::Command(Command::Expel(agent)));
        }
    }

    fn agents_of(&self, name: &str) -> Vec<u32> {
        let member = self.config.members.iter().find(|member| member.name == name);
        member.map(|member| member.agents.clone()).unwrap_or_default()
    }
}
