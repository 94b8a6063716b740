//! What happens in a run, as a stream of items that people can watch.
//!
//! A stream has one [`Hello`], which says what is run, [`WatchFrame`]s, which show all agents at a
//! time, and [`WatchEvent`]s. It is the same wherever it comes from and wherever it goes: to a
//! [`StreamFile`], or to the page in a browser, live or [exported](export) as one file.

mod agent_frames;
mod agent_status;
mod alphabet;
mod edge_numbers;
mod event;
mod export;
mod follower;
mod frame;
mod hello;
mod item;
mod page;
mod round_parts;
#[cfg(feature = "server")]
mod server;
mod stream_file;
mod thinning;

pub use agent_frames::AgentFrames;
pub use agent_status::AgentStatus;
pub use edge_numbers::EdgeNumbers;
pub use event::WatchEvent;
pub use export::{EXPORTED, export};
pub use follower::{Follower, NamedItem};
pub use frame::{ByAgent, PartTimes, RoundEdges, WatchFrame};
pub use hello::{Hello, RunSource, TimeUnit, VERSION};
pub use item::Item;
pub use page::{content_security_policy, page};
pub use round_parts::{LatestRounds, RoundParts};
#[cfg(feature = "server")]
pub use server::{CurrentRecording, WatchServer};
pub use stream_file::{RecordedRun, RecordingError, StreamFile, read_recording};
