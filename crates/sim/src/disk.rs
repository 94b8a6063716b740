//! A disk that does what disks do.

use fabnet_core::peer::{Incarnation, Record};

/// What one node has written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    /// The newest life that is safe.
    pub(crate) incarnation: Option<Incarnation>,
    /// The newest state, for those that go on in the same life.
    pub(crate) state: Option<Vec<u8>>,
    /// The two newest checkpoints, the newest last.
    checkpoints: Vec<Written>,
}

#[derive(Clone, Debug)]
struct Written {
    round: u64,
    bytes: Vec<u8>,
    checksum: u64,
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Well,
    /// Only so many bytes of it arrive.
    Torn(usize),
    Lost,
    /// This bit changes.
    Rotten(usize),
}

impl Fate {
    /// What becomes of these bytes.
    fn of(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Well => {}
            Self::Lost => return None,
            Self::Torn(length) => bytes.truncate(length % bytes.len().max(1)),
            Self::Rotten(bit) => {
                let place = bit / 8 % bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 1 << (bit % 8);
                }
            }
        }
        Some(bytes)
    }
}

impl Disk {
    pub(crate) fn write(&mut self, record: Record, fate: Fate) {
        match record {
            Record::Incarnation(incarnation) => self.incarnation = Some(incarnation),
            Record::State(state) => {
                if let Some(state) = fate.of(state) {
                    self.state = Some(state);
                }
            }
            Record::Checkpoint { round, point } => {
                let checksum = sum(round, &point);
                let Some(bytes) = fate.of(point) else { return };
                self.checkpoints.push(Written { round, bytes, checksum });
                if self.checkpoints.len() > 2 {
                    self.checkpoints.remove(0);
                }
            }
        }
    }

    /// The newest checkpoint that is intact.
    pub(crate) fn checkpoint(&self) -> Option<(u64, Vec<f64>)> {
        let intact = |written: &&Written| sum(written.round, &written.bytes) == written.checksum;
        let Written { round, bytes, .. } = self.checkpoints.iter().rev().find(intact)?;
        Some((*round, bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()))
    }
}

/// FNV-1a: a simulated disk needs no better one.
pub(crate) fn sum(start: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(start ^ 0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}
