//! What a node writes down so that it survives a crash: one folder for each agent.

mod checkpoint;
mod disk;
mod disk_queue;
#[cfg(test)]
mod disk_tests;
mod state_folder;
mod stopped_run;

pub use disk::{Disk, DiskError};
pub use disk_queue::{DiskMode, DiskQueue};
pub use state_folder::StateFolder;
pub use stopped_run::{StoppedAgent, StoppedRunError, WantedPoint, read_stopped_agent};
