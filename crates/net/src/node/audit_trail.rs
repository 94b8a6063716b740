//! What a node writes into its audit log.

use std::collections::BTreeMap;
use std::time::Duration;

use fabnet_core::Scalar;

use super::ending::{EndReason, NodeError};
use super::monitoring::Monitoring;
use super::peer_driver::PeerDriver;
use crate::audit::{AuditEvent, AuditWriter};
use crate::clock::Clock;
use crate::monitor::Presence;
use crate::pki::CertificateNews;
use crate::refusals::{RefusalReason, Refusals};

/// Compares what a node knows with what it knew at its last report, and writes down what is new.
pub(super) struct AuditTrail {
    log: AuditWriter,
    /// The state of each other member, by name.
    members: BTreeMap<String, Presence>,
    /// The events of the node's log that were written down.
    logged: u64,
    /// The refusals that were written down, by reason, and when.
    refused: [u64; RefusalReason::ALL.len()],
    refused_at: Option<Duration>,
    connections: u64,
    begun: bool,
}

impl AuditTrail {
    /// The time between two lines about refusals: thousands a second must not fill the log.
    const REFUSALS_EVERY: Duration = Duration::from_secs(10);
    /// The events of the node's log that are written down, by their kind.
    const KINDS: [(&str, &str); 4] =
        [("suspect", "death"), ("close", "closure"), ("refute", "refutation"), ("epoch", "epoch")];

    pub(super) fn new(log: AuditWriter) -> Self {
        let refused = [0; RefusalReason::ALL.len()];
        let (members, logged, refused_at) = (BTreeMap::new(), 0, None);
        Self { log, members, logged, refused, refused_at, connections: 0, begun: false }
    }

    /// Writes down what is new since the last report.
    pub(super) fn report<T: Scalar>(
        &mut self,
        driver: &PeerDriver<T>,
        monitoring: &Monitoring,
        refusals: &Refusals,
        clock: &dyn Clock,
    ) {
        let (now, time) = (clock.now(), clock.unix_time());
        if driver.has_begun() && !self.begun {
            self.begun = true;
            self.log.add(time, AuditEvent::new("begin", "the first round begins, or the run was found under way"));
        }
        self.compare_members(driver, monitoring, time);
        self.copy_events(driver, time);
        self.count_refusals(refusals, now, time);
        let connections = monitoring.reconnections();
        if connections > self.connections {
            self.log.add(time, AuditEvent::new("connection", format!("{connections} new connections so far")));
            self.connections = connections;
        }
        self.log.write(now);
    }

    /// Writes down news of the node's certificates.
    pub(super) fn note_certificate(&mut self, news: &CertificateNews, clock: &dyn Clock) {
        self.log.add(clock.unix_time(), AuditEvent::new("certificate", news.to_string()));
    }

    /// Writes down that a member was expelled, or belongs to the run again.
    pub(super) fn note_expulsion(&mut self, kind: &str, member: &str, text: &str, clock: &dyn Clock) {
        self.log.add(clock.unix_time(), AuditEvent::new(kind, text).about(member));
    }

    /// Writes down that the node was told to leave.
    pub(super) fn note_stop(&mut self, clock: &dyn Clock) {
        self.log.add(clock.unix_time(), AuditEvent::new("command", "stop: the node was told to leave"));
    }

    /// Writes down how the node has ended, and makes it survive a power cut.
    pub(super) fn finish(&mut self, end: &Result<EndReason, NodeError>, clock: &dyn Clock) {
        let text = match end {
            Ok(EndReason::Done) => "done".to_owned(),
            Ok(EndReason::Left) => "left".to_owned(),
            Err(error) => error.to_string(),
        };
        self.log.add(clock.unix_time(), AuditEvent::new("end", text));
        self.log.finish(clock.now());
    }

    fn compare_members<T: Scalar>(&mut self, driver: &PeerDriver<T>, monitoring: &Monitoring, time: Duration) {
        for (member, state) in monitoring.states(driver) {
            let before = self.members.insert(member.to_owned(), state).unwrap_or_default();
            if before != state {
                let (kind, text) = news_of(state, before);
                self.log.add(time, AuditEvent::new(kind, text).about(member));
            }
        }
    }

    /// Copies events of the node's log; that keeps a hundred, which is enough for half a second
    /// unless something is very wrong.
    fn copy_events<T: Scalar>(&mut self, driver: &PeerDriver<T>, time: Duration) {
        let log = driver.log();
        let dropped = (log.total - self.logged).saturating_sub(log.events.len() as u64);
        if dropped > 0 {
            self.log.add(time, AuditEvent::new("lost", format!("{dropped} events came too fast to be noted")));
        }
        for event in log.after(self.logged) {
            let Some((_, kind)) = Self::KINDS.into_iter().find(|(seen, _)| *seen == event.kind) else { continue };
            let text = event.text.clone().unwrap_or_default();
            let event = AuditEvent { agent: event.agent, round: Some(event.k), ..AuditEvent::new(kind, text) };
            self.log.add(time, event);
        }
        self.logged = log.total;
    }

    fn count_refusals(&mut self, refusals: &Refusals, now: Duration, time: Duration) {
        if self.refused_at.is_some_and(|at| now.saturating_sub(at) < Self::REFUSALS_EVERY) {
            return;
        }
        let counts = RefusalReason::ALL.map(|reason| (reason, refusals.get(reason)));
        for ((reason, count), before) in
            counts.into_iter().zip(&mut self.refused).filter(|((_, count), before)| count > before)
        {
            let text = format!("{} refused for the reason `{}`", count - *before, reason.name());
            self.log.add(time, AuditEvent::new("refusal", text));
            *before = count;
            self.refused_at = Some(now);
        }
    }
}

/// The kind and the text of the event that a member has another state than before.
fn news_of(state: Presence, before: Presence) -> (&'static str, &'static str) {
    match (state, before) {
        (Presence::Heard, Presence::Unheard) => ("admission", "heard for the first time"),
        (Presence::Heard, _) => ("admission", "heard again"),
        (Presence::Left, _) => ("departure", "it has said farewell"),
        (Presence::Dead, _) => ("death", "it counts as dead"),
        (Presence::Silent | Presence::Unheard, _) => ("silence", "not heard at present"),
    }
}
