//! What a node concludes about the others: whether they let it in, who takes part, who is silent,
//! who is behind at the end, and whether two processes act as one member.

mod admission;
mod attendance;
#[cfg(test)]
mod attendance_tests;
mod duplicates;
mod laggards;
mod presence;
mod silence;

pub(crate) use admission::Admission;
pub use admission::NotAdmitted;
pub(crate) use attendance::{Attendance, PeerView};
pub use attendance::{MissingMembers, StartGate};
pub(crate) use duplicates::DuplicateDetector;
pub(crate) use laggards::Laggards;
pub(crate) use presence::Presence;
pub(crate) use silence::SilenceDetector;
