//! The machine on which cells were carried out.

use serde::{Deserialize, Serialize};

use crate::memory::Memory;

/// What is known of a machine. Seconds are to be compared on one machine only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name of the processor, as the system has it.
    pub processor: String,
    /// The number of cores.
    pub cores: usize,
    /// The memory in GB.
    pub memory: f64,
    /// The operating system and the architecture.
    pub system: String,
    /// The number of cells that were carried out at the same time.
    pub threads: usize,
    /// The version of fabnet.
    pub version: String,
    /// What else matters, such as other programs that ran at the same time.
    pub note: String,
}

impl Machine {
    /// The machine that this program runs on.
    pub fn here(threads: usize, note: &str) -> Self {
        let memory = Memory::here().map_or(0.0, |memory| (memory.total / 1e9 * 10.0).round() / 10.0);
        Self {
            processor: processor().unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory,
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            threads,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note: note.to_owned(),
        }
    }
}

/// The name of the processor, where Linux says it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
