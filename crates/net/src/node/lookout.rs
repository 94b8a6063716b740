//! What a node looks at once in a while: who is there, who is silent, and how its agents are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fabnet_core::peer::{Command, Event};
use fabnet_core::{Peer, Scalar};

use super::{Node, NodeError, Recorder, Seat};
use crate::refusals::Reason;
use crate::status::{AgentStatus, NodeStatus};

impl<T: Scalar> Node<T> {
    /// The time between two reports: they look at everything that there is.
    const REPORT: Duration = Duration::from_millis(500);

    /// Once a tick: is anybody there, and what is there to say?
    pub(super) fn look_around(&mut self, recorder: &mut dyn Recorder<T>) -> Result<(), NodeError> {
        let reports = self.reported.elapsed() > Self::REPORT;
        if reports || !self.has_begun() {
            self.attendance.look(self.seats.values().map(|seat| &seat.peer));
            if self.attendance.anybody() {
                self.admission.heard();
            }
        }
        self.admission.judge()?;
        self.begin_if_all_are_there()?;
        if reports {
            self.report();
            self.mind_silence();
            self.mind_doubles();
            if self.is_done() {
                recorder.secure();
            }
            if !self.admission.admitted() {
                (self.greet)();
            }
        }
        Ok(())
    }

    /// Lets its agents begin once enough members are heard.
    fn begin_if_all_are_there(&mut self) -> Result<(), NodeError> {
        let peers: Vec<&Peer<T>> = self.peers().collect();
        if !self.has_begun() && self.attendance.may_begin(&peers, Instant::now())? {
            tracing::info!("enough members are there: the first round begins");
            self.events.extend(self.seats.keys().map(|&agent| (agent, Event::Command(Command::Begin))));
        }
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.peers().all(Peer::has_begun)
    }

    /// Warns if two processes act as one member.
    fn mind_doubles(&mut self) {
        let lives = self.seats.values().flat_map(|seat| {
            let others = seat.peer.table().entries().map(|(agent, standing)| (agent, standing.incarnation));
            others.filter(|(agent, _)| *agent == seat.peer.node() || !self.seats.contains_key(agent))
        });
        let lives: BTreeMap<u32, _> = lives.collect();
        for agent in self.doubles.look(lives.into_iter(), Instant::now()) {
            let member = self.config.owner(agent);
            tracing::warn!(agent, member, "two processes act as this member: stop one of them");
        }
    }

    /// Has the transport connect anew if somebody is silent who ought to be heard.
    fn mind_silence(&mut self) {
        let now = Instant::now();
        if self.transport.renewals() > self.renewals {
            self.renewals = self.transport.renewals();
            self.silence.begin_again(now);
        }
        let sources: BTreeSet<u32> = self.seats.values_mut().flat_map(|seat| seat.peer.sources()).collect();
        let remote = sources.into_iter().filter(|agent| !self.seats.contains_key(agent));
        let silent = self.silence.look(remote, now);
        if self.admission.admitted() && !self.is_done() && !silent.is_empty() {
            self.transport.renew(silent.iter().map(|&agent| self.config.way_to(agent).to_owned()).collect());
        }
    }

    /// Makes its status known.
    pub(super) fn report(&mut self) {
        self.reported = Instant::now();
        let agent = |seat: &mut Seat<T>| {
            let status = AgentStatus::of(&mut seat.peer);
            seat.max_residual = seat.max_residual.max(status.mass_residual);
            let checkpoint_age = seat.checkpoint_at.map(|at| at.elapsed().as_secs_f64());
            AgentStatus { max_mass_residual: seat.max_residual, checkpoint_age, ..status }
        };
        let peers: Vec<&Peer<T>> = self.peers().collect();
        let (begun, absent) = (self.has_begun(), self.attendance.absent(&peers));
        let complete = self.is_done() && self.judge_end().is_empty();
        let doubles: BTreeSet<&str> = self.doubles.found().iter().map(|agent| self.config.owner(*agent)).collect();
        let status = NodeStatus {
            run: self.config.run.clone(),
            node: self.config.node.clone(),
            manifest: self.manifest.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: self.started.elapsed().as_secs_f64(),
            ready: self.admission.admitted(),
            begun,
            done: self.is_done(),
            complete,
            absent,
            doubles: doubles.into_iter().map(str::to_owned).collect(),
            refused: Reason::ALL.map(|reason| (reason.name().to_owned(), self.inbox.refusals().get(reason))).into(),
            dropped: self.dropped.load(Ordering::Relaxed),
            renewals: self.renewals,
            agents: self.seats.values_mut().map(agent).collect(),
        };
        self.status.change(|shared| *shared = status);
    }
}
