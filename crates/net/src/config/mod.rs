//! The settings of a node: `node.toml`, its meaning, and who connects to whom because of it.

mod check;
mod connections;
mod durations;
mod file;
mod settings;

pub use check::ConfigMistake;
pub(crate) use check::is_name;
pub use file::ConfigError;
pub use settings::{Config, Limits, Member, RouterSettings, Tls};
