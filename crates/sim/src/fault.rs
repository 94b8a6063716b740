//! What can go wrong, and how often it did.

use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

/// One kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Fault {
    /// A message is lost.
    Loss,
    /// A link loses everything for a while.
    Burst,
    /// A message arrives twice.
    Duplicate,
    /// A message is overtaken.
    Reorder,
    /// A message takes up to a thousand rounds.
    Delay,
    /// Two groups cannot hear each other for a while.
    Partition,
    /// One group cannot hear the other for a while.
    OneWayPartition,
    /// A link is dead, one way, and nobody says so.
    DeadLink,
    /// A node hears nothing for a while.
    Deaf,
    /// A node stops in the middle of things and comes back with its disk.
    Crash,
    /// It comes back without its disk.
    LostDisk,
    /// It stops between asking for a record to be written and hearing that it was.
    CrashInWrite,
    /// A record is written in part.
    TornWrite,
    /// A record is not written, and nobody says so.
    LostWrite,
    /// A bit of a record changes.
    BitRot,
    /// Records cannot be written for a while.
    FullDisk,
    /// A node is not run for longer than others wait.
    Pause,
    /// One thinks of another that it is gone.
    FalseSuspicion,
    /// Two think so of each other.
    MutualSuspicion,
    /// A node comes late.
    Join,
    /// A node leaves for good.
    Leave,
    /// A node leaves and another takes its place.
    Replace,
    /// A node starts twice in short order.
    RebornTwice,
    /// All but two stop.
    Exodus,
    /// A new epoch, at any time.
    EpochBump,
    /// A new epoch while a node comes back.
    EpochRace,
    /// A contact is removed.
    ContactRemoved,
    /// A node is a hundred times as slow for a while.
    Straggler,
    /// A message is damaged.
    Corrupt,
    /// A message is cut off.
    Truncate,
    /// A message is no message, or is for somebody else.
    Forge,
    /// A very old message comes again.
    Replay,
    /// A message of another run.
    OtherRun,
    /// A gradient is not a number.
    BadGradient,
    /// A node takes its messages late and all at once.
    SlowReceiver,
    /// A node's clock jumps.
    ClockJump,
}

impl Fault {
    /// All kinds.
    pub const ALL: [Self; 36] = [
        Self::Loss,
        Self::Burst,
        Self::Duplicate,
        Self::Reorder,
        Self::Delay,
        Self::Partition,
        Self::OneWayPartition,
        Self::DeadLink,
        Self::Deaf,
        Self::Crash,
        Self::LostDisk,
        Self::CrashInWrite,
        Self::TornWrite,
        Self::LostWrite,
        Self::BitRot,
        Self::FullDisk,
        Self::Pause,
        Self::FalseSuspicion,
        Self::MutualSuspicion,
        Self::Join,
        Self::Leave,
        Self::Replace,
        Self::RebornTwice,
        Self::Exodus,
        Self::EpochBump,
        Self::EpochRace,
        Self::ContactRemoved,
        Self::Straggler,
        Self::Corrupt,
        Self::Truncate,
        Self::Forge,
        Self::Replay,
        Self::OtherRun,
        Self::BadGradient,
        Self::SlowReceiver,
        Self::ClockJump,
    ];
}

impl fmt::Display for Fault {
    /// As words: `LostDisk` is lost-disk.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in format!("{self:?}").char_indices() {
            let dash = if place > 0 && letter.is_uppercase() { "-" } else { "" };
            write!(f, "{dash}{}", letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

/// A number for each kind of fault: how often it happened, or how likely it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByFault<N>([N; Fault::ALL.len()]);

impl<N: Copy + Default> Default for ByFault<N> {
    fn default() -> Self {
        Self([N::default(); Fault::ALL.len()])
    }
}

impl<N> Index<Fault> for ByFault<N> {
    type Output = N;

    fn index(&self, fault: Fault) -> &N {
        &self.0[fault as usize]
    }
}

impl<N> IndexMut<Fault> for ByFault<N> {
    fn index_mut(&mut self, fault: Fault) -> &mut N {
        &mut self.0[fault as usize]
    }
}

impl AddAssign for ByFault<u64> {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }
}
