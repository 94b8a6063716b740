//! A simulated disk that tears, loses and corrupts what is written.

use fabnet_core::peer::{Incarnation, Record};

use super::checksum::fnv1a;
use super::fault::Fault;
use super::sampler::FaultSampler;

/// What one node has stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    /// The newest incarnation that is stored. A node reads it back after writing it, so that this
    /// record is never damaged.
    pub(super) incarnation: Option<Incarnation>,
    /// The newest state, for nodes that resume in the same incarnation.
    pub(super) state: Option<Vec<u8>>,
    /// The two newest checkpoints, the newest last.
    checkpoints: Vec<StoredCheckpoint>,
}

#[derive(Clone, Debug)]
struct StoredCheckpoint {
    round: u64,
    bytes: Vec<u8>,
    /// The checksum of what was meant to be written.
    checksum: u64,
}

/// What a disk does to one write, without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteFault {
    /// Everything is stored.
    Nothing,
    /// Only this many bytes are stored, modulo the length of the record.
    Torn(usize),
    /// Nothing is stored.
    Lost,
    /// This bit is flipped, modulo the length of the record.
    Flipped(usize),
}

impl Disk {
    /// Stores a record as well as the fault allows.
    pub(super) fn write(&mut self, record: Record, fault: WriteFault) {
        match record {
            Record::Incarnation(incarnation) => self.incarnation = Some(incarnation),
            Record::State(state) => {
                if let Some(state) = fault.apply(state) {
                    self.state = Some(state);
                }
            }
            Record::Checkpoint { round, point } => {
                let checksum = fnv1a(round, &point);
                let Some(bytes) = fault.apply(point) else { return };
                self.checkpoints.push(StoredCheckpoint { round, bytes, checksum });
                if self.checkpoints.len() > 2 {
                    self.checkpoints.remove(0);
                }
            }
        }
    }

    /// The round and the point of the newest checkpoint that is intact.
    pub(super) fn checkpoint(&self) -> Option<(u64, Vec<f64>)> {
        let intact = |stored: &&StoredCheckpoint| fnv1a(stored.round, &stored.bytes) == stored.checksum;
        let StoredCheckpoint { round, bytes, .. } = self.checkpoints.iter().rev().find(intact)?;
        Some((*round, bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()))
    }
}

impl WriteFault {
    /// Draws what happens to the next write.
    pub(super) fn draw(sampler: &mut FaultSampler) -> Self {
        /// The probability of each of these faults, for a rate of one.
        const MOST: f64 = 0.5;
        // A place in any record: it is taken modulo the length of the record.
        let place = sampler.below(1 << 20);
        let faults = [
            (Fault::TornWrite, Self::Torn(place)),
            (Fault::LostWrite, Self::Lost),
            (Fault::BitRot, Self::Flipped(place)),
        ];
        let drawn = faults.into_iter().find(|(fault, _)| sampler.happens(*fault, MOST));
        drawn.map_or(Self::Nothing, |(_, fault)| fault)
    }

    /// The bytes that are stored, if any.
    fn apply(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => {}
            Self::Lost => return None,
            Self::Torn(length) => bytes.truncate(length % bytes.len().max(1)),
            Self::Flipped(bit) => {
                let place = bit / 8 % bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 1 << (bit % 8);
                }
            }
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(round: u64) -> Record {
        Record::Checkpoint { round, point: (round as f64).to_le_bytes().to_vec() }
    }

    #[test]
    fn the_newest_checkpoint_is_read() {
        let mut disk = Disk::default();
        assert_eq!(disk.checkpoint(), None);
        for round in [10, 20, 30] {
            disk.write(checkpoint(round), WriteFault::Nothing);
            assert_eq!(disk.checkpoint(), Some((round, vec![round as f64])));
        }
        assert_eq!(disk.checkpoints.len(), 2, "older ones are dropped");
    }

    #[test]
    fn a_damaged_checkpoint_gives_way_to_the_one_before_it() {
        for fault in [WriteFault::Torn(5), WriteFault::Lost, WriteFault::Flipped(77)] {
            let mut disk = Disk::default();
            disk.write(checkpoint(10), WriteFault::Nothing);
            disk.write(checkpoint(20), fault);
            assert_eq!(disk.checkpoint(), Some((10, vec![10.0])), "{fault:?}");
        }
    }

    #[test]
    fn states_are_damaged_and_incarnations_are_not() {
        let mut disk = Disk::default();
        disk.write(Record::State(vec![0; 4]), WriteFault::Flipped(9));
        assert_eq!(disk.state, Some(vec![0, 2, 0, 0]));
        disk.write(Record::State(vec![1; 4]), WriteFault::Torn(6));
        assert_eq!(disk.state, Some(vec![1, 1]), "6 modulo 4 bytes are stored");
        disk.write(Record::State(vec![2; 4]), WriteFault::Lost);
        assert_eq!(disk.state, Some(vec![1, 1]));
        let incarnation = Incarnation { counter: 3, nonce: 4 };
        disk.write(Record::Incarnation(incarnation), WriteFault::Lost);
        assert_eq!(disk.incarnation, Some(incarnation));
    }
}
