//! A real node of an experiment: the plan of the lab, on the network.
#![warn(clippy::unwrap_used)]

mod station;
mod tracks;

pub use station::{Station, StationError};
pub use tracks::track_path;
