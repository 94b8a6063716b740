//! Records of a node's agents, as tracks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_core::{Peer, Scalar};
use fabnet_files::FramesError;
use fabnet_lab::{AgentMetric, Plan, Track, track_label};
use fabnet_net::{Clock, Recorder, StateFolder, UnwrittenRecords};

/// The path of an agent's track within the state folder of its node.
pub fn track_path(state: &Path, agent: u32) -> PathBuf {
    state.join(agent.to_string()).join("track")
}

/// Writes the points of a node's agents to their tracks, with the time of day.
pub(crate) struct TrackRecorder<T: Scalar> {
    tracks: Vec<(u32, Track)>,
    clock: Arc<dyn Clock>,
    metric: Option<AgentMetric<T>>,
}

impl<T: Scalar> TrackRecorder<T> {
    /// Continues the tracks in a state folder, or begins them. Points have `width` shared scalars.
    /// `metric` is measured where a point is recorded.
    pub(crate) fn open(
        state: &StateFolder,
        agents: &[u32],
        plan: &Plan,
        width: usize,
        clock: Arc<dyn Clock>,
        metric: Option<AgentMetric<T>>,
    ) -> Result<Self, FramesError> {
        let track = |&agent: &u32| {
            let path = state.agent(agent).join("track");
            let label = track_label::<T>(&state.run().to_string(), agent, plan, width);
            let (track, cut) = Track::open(state.files(), &path, label)?;
            if cut > 0 {
                tracing::warn!(path = %path.display(), bytes = cut, "the last record was not written whole: cut off");
            }
            Ok((agent, track))
        };
        Ok(Self { tracks: agents.iter().map(track).collect::<Result<_, _>>()?, clock, metric })
    }
}

impl<T: Scalar> Recorder<T> for TrackRecorder<T> {
    fn record(&mut self, peer: &Peer<T>, round: u64, point: &[u8]) -> Option<f64> {
        let time = self.clock.unix_time().as_secs_f64();
        for (agent, track) in self.tracks.iter_mut().filter(|(agent, _)| *agent == peer.node()) {
            if let Err(error) = track.add(round, time, peer.costs(), point) {
                tracing::error!(agent, %error, "not recorded yet: kept until there is space");
            }
        }
        self.metric.as_ref().map(|metric| metric.measure(peer))
    }

    fn secure(&mut self) {
        for (agent, track) in &mut self.tracks {
            // That records wait for space was logged when they could not be written.
            if track.write_waiting().is_ok()
                && let Err(error) = track.sync()
            {
                tracing::error!(agent, %error, "records may not survive a power cut");
            }
        }
    }

    fn finish(&mut self) -> Result<(), UnwrittenRecords> {
        let wrong: Vec<String> =
            self.tracks.iter_mut().filter_map(|(_, track)| Some(track.finish().err()?.to_string())).collect();
        if wrong.is_empty() { Ok(()) } else { Err(UnwrittenRecords(wrong)) }
    }
}
