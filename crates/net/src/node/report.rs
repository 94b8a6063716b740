//! The status that a node makes known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fabnet_core::Scalar;
use fabnet_watch::AgentStatus;

use super::hosted_peer::HostedPeer;
use super::monitoring::Monitoring;
use super::peer_driver::PeerDriver;
use crate::clock::Clock;
use crate::config::Config;
use crate::refusals::{RefusalReason, Refusals};
use crate::run_digest::RunDigest;
use crate::status::{CertificateStatus, MemberAddress, NodeStatus, SharedStatus};

/// Writes the status of a node, twice in a second, or less often where that takes long.
pub(super) struct StatusReporter {
    config: Arc<Config>,
    digest: RunDigest,
    status: SharedStatus,
    /// Messages that were lost on purpose.
    dropped: Arc<AtomicU64>,
    started: Duration,
    reported: Duration,
    /// The time between two reports.
    interval: Duration,
}

impl StatusReporter {
    /// The shortest time between two reports.
    const SHORTEST: Duration = Duration::from_millis(500);
    /// Reports take at most one part in this many of all time: each looks at all mass.
    const PARTS: u32 = 50;

    pub(super) fn new(
        config: Arc<Config>,
        digest: RunDigest,
        status: SharedStatus,
        dropped: Arc<AtomicU64>,
        now: Duration,
    ) -> Self {
        Self { config, digest, status, dropped, started: now, reported: now, interval: Self::SHORTEST }
    }

    /// Whether it is time for another report.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.reported) > self.interval
    }

    /// Makes the status of the node known.
    pub(super) fn report<T: Scalar>(
        &mut self,
        (driver, monitoring): (&mut PeerDriver<T>, &mut Monitoring),
        certificate: Option<CertificateStatus>,
        refusals: &Refusals,
        clock: &dyn Clock,
    ) {
        let now = clock.now();
        let complete = driver.is_done() && monitoring.judge_end(driver).is_empty();
        let status = NodeStatus {
            run: self.config.run.clone(),
            node: self.config.node.clone(),
            manifest: self.digest.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: now.saturating_sub(self.started).as_secs_f64(),
            ready: monitoring.admitted(),
            begun: driver.has_begun(),
            done: driver.is_done(),
            complete,
            absent: monitoring.absent(driver),
            doubles: monitoring.duplicates().into_iter().map(str::to_owned).collect(),
            refused: RefusalReason::ALL.map(|reason| (reason.name().to_owned(), refusals.get(reason))).into(),
            dropped: self.dropped.load(Ordering::Relaxed),
            renewals: monitoring.reconnections(),
            certificate,
            agents: driver.hosted_mut().map(|hosted| agent_status(hosted, now)).collect(),
            members: MemberAddress::all(&self.config),
            log: driver.log().clone(),
        };
        self.status.change(|shared| *shared = status);
        self.reported = clock.now();
        self.interval = Self::SHORTEST.max(self.reported.saturating_sub(now) * Self::PARTS);
    }
}

fn agent_status<T: Scalar>(hosted: &mut HostedPeer<T>, now: Duration) -> AgentStatus {
    let status = AgentStatus::of(&mut hosted.peer);
    hosted.max_residual = hosted.max_residual.max(status.mass_residual);
    let checkpoint_age = hosted.checkpoints.age(now).map(|age| age.as_secs_f64());
    let (metric, times) = (hosted.metric, hosted.meter.latest().clone());
    AgentStatus { max_mass_residual: hosted.max_residual, checkpoint_age, metric, times, ..status }
}
