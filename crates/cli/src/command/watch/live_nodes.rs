//! Running nodes, followed through their status addresses.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use fabnet_files::{Files, MemoryFiles};
use fabnet_net::{LiveRecording, SystemClock, ask_hello};

use crate::command::known_nodes::KnownNodes;

/// How often all nodes are asked.
const ASK_EVERY: Duration = Duration::from_millis(500);

/// Follows the nodes at these addresses, and all others of their run that they name, from a thread
/// of its own. Returns the files in which they are recorded, in memory.
pub(super) fn follow(given: &[String], path: &Path) -> anyhow::Result<Arc<dyn Files>> {
    let nodes = KnownNodes::find(given)?;
    let address = &nodes.answered_at;
    let hello = ask_hello(address).with_context(|| format!("{address}: the node does not say what it runs"))?;
    let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
    let clock = Arc::new(SystemClock::default());
    let mut recording = LiveRecording::begin(files.clone(), path, hello, nodes.members.clone(), clock)?;
    thread::Builder::new().name("gather".into()).spawn(move || {
        // Files in memory do not fail.
        while recording.add(&nodes.ask()).is_ok() {
            thread::sleep(ASK_EVERY);
        }
    })?;
    Ok(files)
}
