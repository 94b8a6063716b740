//! What a node does with greetings and with certificates, its own and those of others.

use std::time::Duration;

use fabnet_core::Scalar;

use super::ending::NodeError;
use super::event_loop::Node;
use crate::greeting::Greeting;
use crate::monitor::Presence;
use crate::pki::CertificateNews;
use crate::refusals::RefusalReason;

impl<T: Scalar> Node<T> {
    /// Looks whether certificates have changed, and takes over a key that has.
    pub(super) fn check_certificates(&mut self) {
        for news in self.certificates.check(&*self.clock) {
            self.audit.note_certificate(&news, &*self.clock);
            if let (CertificateNews::Renewed { .. }, Some(keys)) = (&news, self.greetings.keys())
                && let Err(error) = keys.renew()
            {
                tracing::warn!(%error, "seals are made with the key before");
            }
        }
    }

    /// Compares the digest of another member with the one here. If they differ, one of the two is
    /// alone with its own and must be told: the one that nobody has answered yet ends.
    pub(super) fn receive_greeting(&mut self, node: String, greeting: Greeting) -> Result<(), NodeError> {
        if node == self.config.node {
            return Ok(());
        }
        if greeting.digest == self.digest.to_string() {
            if let Err(error) = self.greetings.hear(&greeting) {
                self.inbox.refusals().count(RefusalReason::Certificate);
                tracing::warn!(node, %error, "a greeting is not believed");
            }
            return self.hear_of_expelled(&node, greeting.expels.as_deref());
        }
        self.inbox.refusals().count(RefusalReason::Manifest);
        if !self.config.members.iter().any(|member| member.name == node) {
            return Ok(());
        }
        let manifest = greeting.digest;
        tracing::warn!(node, manifest, "a node of this run has another manifest");
        if self.monitoring.admitted() {
            self.greet();
            return Ok(());
        }
        Ok(self.monitoring.disagrees(node, manifest, &self.digest)?)
    }

    /// Greets all others.
    pub(super) fn greet(&self) {
        let states = self.monitoring.states(&self.driver);
        let away = states.iter().filter(|(_, presence)| *presence != Presence::Heard).map(|(name, _)| *name);
        let greeting = Greeting { expels: self.expulsions.text(), ..self.greetings.greeting(away) };
        self.transport.greet(&self.config.node, &greeting);
    }

    /// Greets if somebody waits for an answer or, at the time of a report, for a question of its
    /// own.
    pub(super) fn greet_if_due(&mut self, now: Duration, reports: bool) {
        let is_question_due = reports && self.greetings.is_question_due(self.monitoring.admitted(), now);
        if self.greetings.is_answer_due(now) || is_question_due {
            self.greet();
        }
    }
}
