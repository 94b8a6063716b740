//! Real nodes, recorded while they run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::{Files, FramesError};
use fabnet_watch::{Hello, Item, StreamFile, WatchEvent};

use super::gatherer::{NodeAnswer, NodeGatherer};
use super::node_status::MemberAddress;
use crate::clock::Clock;

/// A recording of what the nodes of a run say of themselves.
#[derive(Debug)]
pub struct LiveRecording {
    gatherer: NodeGatherer,
    recording: StreamFile,
    clock: Arc<dyn Clock>,
    /// When it began, by this clock.
    started: Duration,
    /// The time of the last frame since the start.
    last: Option<Duration>,
}

impl LiveRecording {
    /// The shortest time between two frames.
    const EVERY: Duration = Duration::from_millis(450);

    /// Begins a recording of a run with these members.
    pub fn begin(
        files: Arc<dyn Files>,
        path: &Path,
        hello: Hello,
        members: Vec<MemberAddress>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, FramesError> {
        let recording = StreamFile::begin(files, path, hello, StreamFile::LIMIT)?;
        Ok(Self { gatherer: NodeGatherer::new(members), recording, started: clock.now(), clock, last: None })
    }

    /// Whether it is time for another frame.
    pub fn is_due(&self) -> bool {
        self.last.is_none_or(|last| self.elapsed() >= last + Self::EVERY)
    }

    /// Adds what nodes have answered, by name.
    pub fn add(&mut self, answers: &BTreeMap<String, NodeAnswer>) -> std::io::Result<()> {
        let now = self.elapsed();
        self.last = Some(now);
        self.gatherer.gather(now.as_secs_f64(), answers).iter().try_for_each(|item| self.recording.add(item))
    }

    /// Adds something that happens to agents now, in a round.
    pub fn note(&mut self, kind: &str, agents: &[u32], round: u64) -> std::io::Result<()> {
        let t = self.elapsed().as_secs_f64();
        agents.iter().try_for_each(|&agent| self.recording.add(&Item::Event(WatchEvent::new(t, round, kind).of(agent))))
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_sub(self.started)
    }
}
