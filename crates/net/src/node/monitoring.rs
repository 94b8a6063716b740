//! What a node concludes about the others from what its peers know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::Scalar;

use super::hosted_peer::HostedPeer;
use super::peer_driver::PeerDriver;
use crate::config::Config;
use crate::monitor::{
    Admission, Attendance, DuplicateDetector, Laggards, MissingMembers, NotAdmitted, Presence, SilenceDetector,
    StartGate,
};
use crate::run_digest::RunDigest;
use crate::transport::{Reconnect, Transport};

/// The views of a node on the other members.
pub(super) struct Monitoring {
    config: Arc<Config>,
    admission: Admission,
    attendance: Attendance,
    laggards: Laggards,
    duplicates: DuplicateDetector,
    silence: SilenceDetector,
    reconnect: Option<Arc<dyn Reconnect>>,
    /// The new connections that the silence detector knows of.
    reconnections: u64,
}

impl Monitoring {
    pub(super) fn new(
        config: Arc<Config>,
        gate: StartGate,
        reconnect: Option<Arc<dyn Reconnect>>,
        tick: Duration,
        now: Duration,
    ) -> Self {
        let contacts = config.contacts().map(|(name, address)| (name.to_owned(), address.to_owned()));
        Self {
            admission: Admission::new(contacts, config.members.len(), now),
            attendance: Attendance::new(&config, gate, now),
            laggards: Laggards::default(),
            duplicates: DuplicateDetector::new(tick, now),
            silence: SilenceDetector::new(now),
            reconnect,
            reconnections: 0,
            config,
        }
    }

    /// Whether somebody has answered, or nobody needs to.
    pub(super) fn admitted(&self) -> bool {
        self.admission.admitted()
    }

    /// Notes how many members the run has expelled.
    pub(super) fn note_expelled(&mut self, members: usize) {
        self.attendance.expelled = members;
    }

    /// How often the transport has connected again.
    pub(super) fn reconnections(&self) -> u64 {
        self.reconnections
    }

    /// Notes that a message of an agent of another node has arrived.
    pub(super) fn heard(&mut self, agent: u32) {
        self.silence.heard(agent);
    }

    /// Notes whom the peers have heard.
    pub(super) fn observe<T: Scalar>(&mut self, driver: &PeerDriver<T>) {
        self.attendance.observe(&driver.views());
        if self.attendance.anybody() {
            self.admission.heard();
        }
    }

    /// An error if others can be reached and do not answer for too long.
    pub(super) fn judge_admission(
        &mut self,
        now: Duration,
        ours: &RunDigest,
        transport: &dyn Transport,
    ) -> Result<(), NotAdmitted> {
        self.admission.judge(now, ours, |address| transport.reaches(address))
    }

    /// An error if this node has to believe a member that runs something else.
    pub(super) fn disagrees(&mut self, node: String, theirs: String, ours: &RunDigest) -> Result<(), NotAdmitted> {
        self.admission.disagrees(node, theirs, ours)
    }

    /// Whether the first round may begin; an error if it should have by now.
    pub(super) fn may_begin<T: Scalar>(&self, driver: &PeerDriver<T>, now: Duration) -> Result<bool, MissingMembers> {
        self.attendance.may_begin(&driver.views(), now)
    }

    /// The names of members that are not heard at present.
    pub(super) fn absent<T: Scalar>(&self, driver: &PeerDriver<T>) -> Vec<String> {
        self.attendance.absent(&driver.views())
    }

    /// What is known of each other member, by name.
    pub(super) fn states<T: Scalar>(&self, driver: &PeerDriver<T>) -> Vec<(&str, Presence)> {
        self.attendance.states(&driver.views())
    }

    /// The names of members as which two processes act.
    pub(super) fn duplicates(&self) -> BTreeSet<&str> {
        self.duplicates.found().iter().map(|agent| self.config.owner(*agent)).collect()
    }

    /// Warns if two processes act as one member.
    pub(super) fn check_duplicates<T: Scalar>(&mut self, driver: &PeerDriver<T>, now: Duration) {
        let known = driver.peers().flat_map(|peer| {
            let others = peer.table().entries().map(|(agent, standing)| (agent, standing.incarnation));
            others.filter(|(agent, _)| *agent == peer.node() || !driver.hosts(*agent))
        });
        let known: BTreeMap<u32, _> = known.collect();
        for agent in self.duplicates.check(known.into_iter(), now) {
            let member = self.config.owner(agent);
            tracing::warn!(agent, member, "two processes act as this member: stop one of them");
        }
    }

    /// Has the transport connect again if somebody is silent who ought to be heard.
    pub(super) fn check_silence<T: Scalar>(&mut self, driver: &mut PeerDriver<T>, now: Duration) {
        let Some(reconnect) = self.reconnect.clone() else { return };
        if reconnect.reconnections() > self.reconnections {
            self.reconnections = reconnect.reconnections();
            self.silence.reconnected(now);
        }
        let sources: BTreeSet<u32> = driver.hosted_mut().flat_map(|hosted| hosted.peer.sources()).collect();
        let remote = sources.into_iter().filter(|agent| !driver.hosts(*agent));
        let silent = self.silence.check(remote, now);
        if self.admitted() && !driver.is_done() && !silent.is_empty() {
            reconnect.reconnect(silent.iter().map(|&agent| self.config.way_to(agent).to_owned()).collect());
        }
    }

    /// When a living member that has not done its rounds last got further; none if there is none.
    pub(super) fn last_progress<T: Scalar>(&mut self, driver: &PeerDriver<T>, now: Duration) -> Option<Duration> {
        let rounds = driver.hosted().map(|hosted| hosted.rounds).max().unwrap_or(0);
        let agents = self.config.members.iter().flat_map(|member| &member.agents).copied();
        let others = agents.filter(|agent| !driver.hosts(*agent));
        self.laggards.last_progress(others, &driver.views(), rounds, now)
    }

    /// Everything that speaks against the answer, now that the rounds are done.
    pub(super) fn judge_end<T: Scalar>(&mut self, driver: &PeerDriver<T>) -> Vec<String> {
        let views = driver.views();
        self.attendance.observe(&views);
        let rounds = driver.hosted().map(|hosted| hosted.rounds).max().unwrap_or(0);
        let mut wrong = self.attendance.judge_end(&views, rounds);
        for HostedPeer { peer, worked_in, .. } in driver.hosted().filter(|hosted| !hosted.is_at_end()) {
            let agent = peer.node();
            wrong.push(format!(
                "agent {agent} missed the end: the last round that it did itself is {worked_in} of {rounds}"
            ));
        }
        for agent in self.duplicates.found() {
            wrong.push(format!("two processes acted as `{}`", self.config.owner(*agent)));
        }
        wrong
    }
}
