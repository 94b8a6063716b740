//! What a node writes down so that it survives a crash: one folder for each agent.

mod checkpoint;
mod disk;
#[cfg(test)]
mod disk_tests;
mod state_folder;

pub use disk::{Disk, DiskError};
pub use state_folder::StateFolder;
