//! A real node of an experiment: the plan of the lab, on the network. `fabnet node` and the Python
//! package run it.
#![warn(clippy::unwrap_used)]

mod credentials;
mod environment;
mod error;
mod own_recording;
mod runtime;
mod start;
mod track_recorder;

pub use environment::Environment;
pub use error::NodeRuntimeError;
pub use runtime::NodeRuntime;
pub use track_recorder::track_path;
