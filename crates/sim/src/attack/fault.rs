//! The kinds of faults, and tables with a number for each of them.

use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

/// A kind of fault. The names are those of the reports of `fabnet faults`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Fault {
    /// A message is lost.
    Loss,
    /// A link loses everything for a while.
    Burst,
    /// A message arrives twice.
    Duplicate,
    /// A message is overtaken by later ones.
    Reorder,
    /// A message is delayed by up to a thousand ticks.
    Delay,
    /// Two groups of nodes cannot hear each other for a while.
    Partition,
    /// One group of nodes cannot hear the other for a while.
    OneWayPartition,
    /// A link carries nothing any more, in one direction and without an error.
    DeadLink,
    /// A node receives nothing for a while.
    Deaf,
    /// A node crashes and comes back with its disk.
    Crash,
    /// A node crashes and comes back with an empty disk.
    LostDisk,
    /// A node crashes between asking for a record to be stored and hearing that it was.
    CrashInWrite,
    /// A record is stored in part, without an error.
    TornWrite,
    /// A record is not stored, without an error.
    LostWrite,
    /// A bit of a stored record flips.
    BitRot,
    /// Records cannot be stored for a while.
    FullDisk,
    /// A node is paused by its system for longer than others wait.
    Pause,
    /// One node takes another for dead, wrongly.
    FalseSuspicion,
    /// Two nodes take each other for dead, wrongly.
    MutualSuspicion,
    /// A node joins late.
    Join,
    /// A node leaves for good.
    Leave,
    /// A node leaves and another one takes its place.
    Replace,
    /// A node starts twice in quick succession.
    RebornTwice,
    /// All nodes but two crash.
    Exodus,
    /// A node begins a new epoch at any time.
    EpochBump,
    /// A node begins a new epoch while another one restarts.
    EpochRace,
    /// A node closes its edge to another one.
    ContactRemoved,
    /// The clock of a node is a hundred times as slow for a while.
    Straggler,
    /// A bit of a message flips.
    Corrupt,
    /// The end of a message is cut off.
    Truncate,
    /// Random bytes arrive, or a message for somebody else.
    Forge,
    /// A very old message arrives again.
    Replay,
    /// A message of another run arrives.
    OtherRun,
    /// A gradient is NaN.
    BadGradient,
    /// A node takes its messages late, and all at once.
    SlowReceiver,
    /// The clock of a node jumps ahead.
    ClockJump,
    /// A member begins to lie: of itself, of others, and of what was sent.
    Liar,
}

impl Fault {
    /// How many nodes it concerns, of those that are drawn for it; others concern all.
    pub(super) fn nodes(self) -> usize {
        match self {
            Self::Partition | Self::OneWayPartition | Self::Exodus | Self::BadGradient => 0,
            Self::Burst
            | Self::DeadLink
            | Self::EpochRace
            | Self::FalseSuspicion
            | Self::MutualSuspicion
            | Self::ContactRemoved => 2,
            _ => 1,
        }
    }

    /// All kinds of faults, in the order of their declaration.
    pub const ALL: [Self; 37] = [
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
        Self::Liar,
    ];
}

impl fmt::Display for Fault {
    /// Writes the name in lower case with dashes: `LostDisk` is `lost-disk`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in format!("{self:?}").char_indices() {
            let dash = if place > 0 && letter.is_uppercase() { "-" } else { "" };
            write!(f, "{dash}{}", letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

/// A number for each kind of fault: a count or a rate.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_every_kind_at_its_place() {
        for (place, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault as usize, place, "{fault}");
        }
    }

    #[test]
    fn names_are_words_with_dashes() {
        assert_eq!(Fault::Loss.to_string(), "loss");
        assert_eq!(Fault::OneWayPartition.to_string(), "one-way-partition");
    }

    #[test]
    fn tables_add_up_fault_by_fault() {
        let mut sum = ByFault::<u64>::default();
        let mut one = ByFault::default();
        (one[Fault::Loss], one[Fault::ClockJump]) = (2, 3);
        sum += one;
        sum += one;
        assert_eq!((sum[Fault::Loss], sum[Fault::ClockJump], sum[Fault::Crash]), (4, 6, 0));
    }
}
