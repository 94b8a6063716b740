//! What the registry knows of a problem.

use std::path::Path;
use std::sync::Arc;

use fabnet_core::settings::{SettingsReader, SettingsSource};
use fabnet_core::{Problem, Scalar};

/// A problem of the registry, by its name.
#[derive(Clone, Copy)]
pub struct ProblemKind<T: Scalar> {
    /// The name, as users write it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Metrics of its own, each with a line on what it is.
    pub metrics: &'static [(&'static str, &'static str)],
    /// The checksum of the data that it reads with settings that have been read, if all agents read
    /// the same: plans note it under the key `sha256`.
    pub checksum: Option<DataChecksum>,
    /// Partitions the data between agents as these settings say, and writes the share of each as a
    /// file of its own data.
    pub divide: Option<DataPartition>,
    /// Reads its settings.
    pub read: fn(&mut SettingsReader<'_>) -> ProblemRecipe<T>,
}

/// Makes a problem for this many agents from this seed, or says why it cannot.
pub type ProblemRecipe<T> = Box<dyn Fn(usize, u64) -> Result<Arc<dyn Problem<T>>, String> + Send + Sync>;

/// Divides data between this many agents from a seed, and writes it into a folder.
pub type DataPartition = fn(&mut SettingsReader<'_>, usize, u64, &Path) -> Result<(), String>;

/// Computes the checksum of the data that settings name.
pub type DataChecksum = fn(&dyn SettingsSource) -> Result<Option<String>, String>;
