//! Records of a node's agents, as tracks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fabnet_core::{Peer, Scalar};
use fabnet_files::FramesError;
use fabnet_lab::{AgentMetric, Plan, Track, track_label};
use fabnet_net::{Clock, DiskQueue, Recorder, StateFolder, UnwrittenRecords};

/// The path of an agent's track within the state folder of its node.
pub fn track_path(state: &Path, agent: u32) -> PathBuf {
    state.join(agent.to_string()).join("track")
}

/// Writes the points of a node's agents to their tracks, with the time of day.
pub(crate) struct TrackRecorder<T: Scalar> {
    tracks: Vec<OpenTrack>,
    disk_queue: Arc<DiskQueue>,
    clock: Arc<dyn Clock>,
    metric: Option<AgentMetric<T>>,
}

/// The track of an agent, and what is to be done for it.
#[derive(Clone)]
struct OpenTrack {
    agent: u32,
    track: Arc<Track>,
    /// Whether its records are about to be written.
    writes: Arc<AtomicBool>,
    /// Whether they are about to be secured.
    secures: Arc<AtomicBool>,
}

impl OpenTrack {
    fn new(agent: u32, track: Track) -> Self {
        Self { agent, track: Arc::new(track), writes: Arc::default(), secures: Arc::default() }
    }

    /// Has something done, unless it is about to be done anyway.
    fn later(&self, queue: &DiskQueue, what: fn(&Self) -> &AtomicBool, job: fn(&Self)) {
        if !what(self).swap(true, Ordering::AcqRel) {
            let track = self.clone();
            queue.add(move || {
                // What is added from here on is written by the next job.
                what(&track).store(false, Ordering::Release);
                job(&track);
            });
        }
    }

    fn write(&self) {
        if let Err(error) = self.track.write_waiting() {
            tracing::error!(agent = self.agent, %error, "not recorded yet: kept until there is space");
        }
    }

    fn secure(&self) {
        // That records wait for space was logged when they could not be written.
        if self.track.write_waiting().is_ok()
            && let Err(error) = self.track.sync()
        {
            tracing::error!(agent = self.agent, %error, "records may not survive a power cut");
        }
    }
}

impl<T: Scalar> TrackRecorder<T> {
    /// Continues the tracks in a state folder, or begins them. Points have `width` shared scalars.
    /// `metric` is measured where a point is recorded.
    pub(crate) fn open(
        state: &StateFolder,
        agents: &[u32],
        (plan, width): (&Plan, usize),
        (clock, disk_queue): (Arc<dyn Clock>, Arc<DiskQueue>),
        metric: Option<AgentMetric<T>>,
    ) -> Result<Self, FramesError> {
        let track = |&agent: &u32| {
            let path = state.agent(agent).join("track");
            let label = track_label::<T>(&state.run().to_string(), agent, plan, width);
            let (track, cut) = Track::open(state.files(), &path, label)?;
            if cut > 0 {
                tracing::warn!(path = %path.display(), bytes = cut, "the last record was not written whole: cut off");
            }
            Ok(OpenTrack::new(agent, track))
        };
        Ok(Self { tracks: agents.iter().map(track).collect::<Result<_, _>>()?, disk_queue, clock, metric })
    }
}

impl<T: Scalar> Recorder<T> for TrackRecorder<T> {
    fn record(&mut self, peer: &Peer<T>, round: u64, point: &[u8]) -> Option<f64> {
        let time = self.clock.unix_time().as_secs_f64();
        for open in self.tracks.iter().filter(|open| open.agent == peer.node()) {
            open.track.add(round, time, peer.costs(), point);
            open.later(&self.disk_queue, |open| &open.writes, OpenTrack::write);
        }
        self.metric.as_ref().map(|metric| metric.measure(peer))
    }

    fn secure(&mut self) {
        for open in &self.tracks {
            open.later(&self.disk_queue, |open| &open.secures, OpenTrack::secure);
        }
    }

    fn finish(&mut self) -> Result<(), UnwrittenRecords> {
        self.disk_queue.finish();
        let wrong: Vec<String> =
            self.tracks.iter().filter_map(|open| Some(open.track.finish().err()?.to_string())).collect();
        if wrong.is_empty() { Ok(()) } else { Err(UnwrittenRecords(wrong)) }
    }
}
