//! What a node records of its agents.
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fabnet_core::{Peer, Scalar};
use fabnet_lab::Track;
use fabnet_net::Recorder;

/// Where the track of an agent is.
pub fn track_path(state: &Path, agent: u32) -> PathBuf {
    state.join(agent.to_string()).join("track")
}

/// The tracks of all agents of a node.
pub(crate) struct Tracks<T>(Vec<(u32, Track<T>)>);

impl<T: Scalar> Tracks<T> {
    pub(crate) fn open(state: &Path, agents: &[u32], width: usize) -> Result<Self, (PathBuf, io::Error)> {
        let track = |&agent: &u32| {
            let path = track_path(state, agent);
            let track = Track::open(&path, width).map_err(|error| (path, error))?;
            Ok((agent, track))
        };
        agents.iter().map(track).collect::<Result<_, _>>().map(Self)
    }
}

impl<T: Scalar> Recorder<T> for Tracks<T> {
    fn record(&mut self, peer: &Peer<T>, round: u64, point: &[u8]) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        for (_, track) in self.0.iter_mut().filter(|(agent, _)| *agent == peer.node()) {
            if let Err(error) = track.add(round, time, peer.counters().bytes, point) {
                tracing::error!(%error, "not recorded");
            }
        }
    }
}
