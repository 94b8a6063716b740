//! The recording of a run, for those who watch it.

use std::path::PathBuf;

use fabnet_core::{Scalar, Shard};
use fabnet_watch::{AgentFrames, AgentStatus, EdgeNumbers, Item, RoundEdges, StreamFile, WatchEvent, WatchFrame};

use super::agent_distances::AgentDistances;
use super::job_error::JobError;
use super::record::RunRecord;
use super::simulator::Simulator;
use super::watch_hello::hello;
use crate::plan::Job;
use crate::results::{Folder, FolderError, Outcome};

/// Records frames of a run.
pub(super) struct FrameRecording {
    recording: StreamFile,
    path: PathBuf,
    agents: AgentFrames,
    edges: EdgeNumbers,
}

impl FrameRecording {
    /// The largest number of links of a round that are recorded.
    const LINKS: usize = 20_000;

    /// Begins the recording of a run in the folder of results.
    pub(super) fn begin(folder: &Folder, job: Job<'_>) -> Result<Self, JobError> {
        let path = folder.file("watch").join(job.run.to_string());
        let failed = |error| FolderError::files(&path, error);
        folder.files().create_folder(&folder.file("watch")).map_err(failed)?;
        let recording = StreamFile::begin(folder.files().clone(), &path, hello(job), StreamFile::LIMIT);
        let recording = recording.map_err(|error| failed(std::io::Error::other(error)))?;
        Ok(Self { recording, path, agents: AgentFrames::default(), edges: EdgeNumbers::default() })
    }

    /// Records a frame; returns its time and round.
    pub(super) fn record<T: Scalar>(
        &mut self,
        simulator: &mut Simulator<T>,
        record: &RunRecord<'_, T>,
        distances: Option<AgentDistances>,
    ) -> Result<(f64, u64), JobError> {
        let frame = self.frame(simulator, record, distances);
        let at = (frame.t, frame.k);
        self.add(&Item::Frame(frame))?;
        Ok(at)
    }

    /// Records the end of a run, after its last frame.
    pub(super) fn end(&mut self, (seconds, round): (f64, u64), outcome: Outcome) -> Result<(), JobError> {
        self.add(&Item::Event(WatchEvent::new(seconds, round, "end").saying(outcome.name())))
    }

    fn add(&mut self, item: &Item) -> Result<(), JobError> {
        Ok(self.recording.add(item).map_err(|error| FolderError::files(&self.path, error))?)
    }

    fn frame<T: Scalar>(
        &mut self,
        simulator: &mut Simulator<T>,
        record: &RunRecord<'_, T>,
        distances: Option<AgentDistances>,
    ) -> WatchFrame {
        let mut frame = match simulator {
            Simulator::LossyPeers(peers) => self
                .agents
                .frame(record.seconds, peers.peers_mut().iter_mut().map(|peer| Some(AgentStatus::of(peer))).collect()),
            Simulator::Shard(shard) => self.links(record.seconds, shard),
            Simulator::LossyUnledgered(_) | Simulator::Replay(_) => {
                WatchFrame { t: record.seconds, ..WatchFrame::default() }
            }
        };
        let view = simulator.view();
        (frame.k, frame.b) = (view.round, Some(view.costs.bytes));
        let mut metrics = record.last().filter(|(_, value)| value.is_finite());
        frame.x0 = metrics.next().and_then(|(_, value)| WatchFrame::log(value));
        frame.mm = metrics.map(|(name, value)| (name.replace('_', " "), value)).collect();
        if let Some(AgentDistances { errors, from_mean }) = distances {
            let logs = |values: Vec<f64>| values.into_iter().map(WatchFrame::log).collect();
            (frame.e, frame.d) = (errors.map(logs), Some(logs(from_mean)));
        }
        frame
    }

    /// The links of the last round.
    fn links<T: Scalar>(&mut self, t: f64, shard: &Shard<T>) -> WatchFrame {
        let mut frame = WatchFrame { t, ..WatchFrame::default() };
        if let Some(mixing) = shard.mixing().filter(|mixing| mixing.entries() <= Self::LINKS) {
            let links = (0..mixing.agents()).flat_map(|to| mixing.row(to).sources.iter().map(move |from| (*from, to)));
            let links = links.map(|(from, to)| (from, to as u32)).filter(|(from, to)| from != to);
            frame.q = Some(RoundEdges { i: links.map(|edge| self.edges.number(edge)).collect() });
            frame.ne = self.edges.say_new();
        }
        frame
    }
}
