//! What a node records of itself, for `fabnet watch` and the folder of its state.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use fabnet_files::Files;
use fabnet_net::{Clock, Config, LiveRecording, MemberAddress, NodeAnswer, SharedStatus};
use fabnet_watch::Hello;

/// A recording of one node. It never holds up the node: where it cannot be written, it ends.
pub(crate) struct OwnRecording {
    /// The name of the node.
    node: String,
    status: SharedStatus,
    recording: Option<LiveRecording>,
}

impl OwnRecording {
    /// Begins the recording `watch/0` in the state folder, if the node's file asks for one; that of
    /// the process before becomes `watch/1`.
    pub(crate) fn begin(
        config: &Config,
        hello: Hello,
        status: SharedStatus,
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let begin = || begin(files, &config.state.join("watch"), hello, MemberAddress::all(config), clock);
        let begun = config.watch.then(begin).transpose();
        let recording = begun.inspect_err(|error| tracing::warn!("nothing is recorded for `fabnet watch`: {error}"));
        Self { node: config.node.clone(), status, recording: recording.unwrap_or_default() }
    }

    /// Adds what the node says of itself, if it is time.
    pub(crate) fn look(&mut self) {
        if self.recording.as_ref().is_some_and(LiveRecording::is_due) {
            self.add();
        }
    }

    /// Adds what the node says of itself now.
    pub(crate) fn add(&mut self) {
        let Some(recording) = &mut self.recording else { return };
        let answers = BTreeMap::from([(self.node.clone(), NodeAnswer::Status(self.status.get()))]);
        if let Err(error) = recording.add(&answers) {
            tracing::warn!("the recording for `fabnet watch` ends: {error}");
            self.recording = None;
        }
    }
}

fn begin(
    files: Arc<dyn Files>,
    folder: &Path,
    hello: Hello,
    members: Vec<MemberAddress>,
    clock: Arc<dyn Clock>,
) -> io::Result<LiveRecording> {
    let [now, before] = ["0", "1"].map(|name| folder.join(name));
    files.create_folder(folder)?;
    if files.exists(&now) {
        files.rename(&now, &before)?;
    }
    LiveRecording::begin(files, &now, hello, members, clock).map_err(io::Error::other)
}
