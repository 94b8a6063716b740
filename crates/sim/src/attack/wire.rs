//! The fields of messages and saved states that the simulator looks at.
//!
//! They are read here by their offsets and not by core's own reader: a mistake there could
//! otherwise hide from the checks. The layout is that of the `message` and `snapshot` formats.

use fabnet_core::peer::Incarnation;
use twox_hash::XxHash3_64;

/// Bytes of a word: every field stands at a multiple of it.
const WORD: usize = 8;

/// The word of each field in the header of a message.
mod header {
    pub(super) const FLAGS: usize = 0;
    pub(super) const RUN: usize = 1;
    /// The sender in the low half, the receiver in the high one.
    pub(super) const NODES: usize = 2;
    pub(super) const SENDER: usize = 3;
    pub(super) const RECEIVER: usize = 5;
    pub(super) const EPOCH: usize = 7;
    pub(super) const SEQUENCE: usize = 9;
    pub(super) const GENERATION: usize = 10;
}

/// The bit of the first word that says whether a message carries mass.
const CARRIES_MASS: u32 = 49;

/// The word of a saved state with the sequence number of the newest message.
const STATE_SEQUENCE: usize = 4;

/// A message as bytes, of which single fields are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireMessage<'a>(pub(super) &'a [u8]);

/// One direction between two nodes, as long as both keep their incarnation and epoch and the sender
/// does not close it. Mass of one edge must never be taken for that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: (u32, Incarnation),
    pub(super) to: (u32, Incarnation),
    pub(super) epoch: u64,
    pub(super) generation: u64,
}

impl<'a> WireMessage<'a> {
    /// Whether the message carries mass.
    pub(super) fn carries_mass(self) -> bool {
        word(self.0, header::FLAGS) >> CARRIES_MASS & 1 == 1
    }

    /// The sequence number of the message.
    pub(super) fn sequence(self) -> u64 {
        word(self.0, header::SEQUENCE)
    }

    /// The edge over which the message is sent.
    pub(super) fn edge(self) -> Edge {
        let word = |place: usize| word(self.0, place);
        let incarnation = |place: usize| Incarnation { counter: word(place), nonce: word(place + 1) };
        let nodes = word(header::NODES);
        Edge {
            from: (nodes as u32, incarnation(header::SENDER)),
            to: ((nodes >> 32) as u32, incarnation(header::RECEIVER)),
            epoch: word(header::EPOCH),
            generation: word(header::GENERATION),
        }
    }

    /// The mass that the message carries, of this many units: the words before its checksum.
    pub(super) fn mass(self, units: usize) -> impl Iterator<Item = i64> + use<'a> {
        let words = self.0.as_chunks().0;
        words[words.len() - 1 - units..words.len() - 1].iter().map(|word| i64::from_le_bytes(*word))
    }

    /// The message that another run would have sent: newer, with other mass, and intact.
    pub(super) fn of_another_run(self) -> Vec<u8> {
        let mut other = self.0[..self.0.len() - WORD].to_vec();
        let last_word = other.len() - WORD;
        other[header::RUN * WORD] ^= 1;
        // The second byte of the sequence number: 256 messages later, or earlier.
        other[header::SEQUENCE * WORD + 1] ^= 1;
        other[last_word] ^= 0x55;
        let checksum = XxHash3_64::oneshot(&other);
        other.extend(checksum.to_le_bytes());
        other
    }
}

/// The sequence number of the newest message that a saved state knows of.
pub(super) fn sequence_of_state(state: &[u8]) -> u64 {
    word(state, STATE_SEQUENCE)
}

fn word(bytes: &[u8], place: usize) -> u64 {
    bytes.as_chunks().0.get(place).map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use fabnet_core::peer::WireFormat;

    use super::*;
    use crate::attack::fixture::{Exchange, calm_scenario};

    /// The format of messages of some peers, as core reads it.
    fn core_format(exchange: &Exchange) -> WireFormat {
        let task = exchange.peers[0].config();
        WireFormat::new(task.run, exchange.peers.len(), &task.algorithm.segments(0))
    }

    #[test]
    fn fields_are_where_core_has_them() {
        let mut exchange = Exchange::new(&calm_scenario(3, false));
        let (format, mut carried) = (core_format(&exchange), 0);
        for _ in 0..20 {
            exchange.round(|_, _| true);
            for (to, bytes) in &exchange.sent {
                let (ours, core) = (WireMessage(bytes), format.read::<f64>(bytes).unwrap());
                let header = core.header;
                let edge = ours.edge();
                assert_eq!((edge.from, edge.to), ((header.from, header.incarnation), (*to, header.to_incarnation)));
                assert_eq!((edge.epoch, edge.generation), (header.epoch, header.generation));
                assert_eq!((ours.sequence(), ours.carries_mass()), (header.sequence, header.contents.mass));
                if ours.carries_mass() {
                    assert!(ours.mass(core.mass().count()).eq(core.mass()));
                    carried += 1;
                }
            }
        }
        assert!(carried > 50, "only {carried} messages with mass");
    }

    #[test]
    fn a_message_of_another_run_is_intact_but_foreign() {
        let mut exchange = Exchange::new(&calm_scenario(2, false));
        exchange.round(|_, _| true);
        let format = core_format(&exchange);
        let (_, bytes) = &exchange.sent[0];
        let other = WireMessage(bytes).of_another_run();
        assert_eq!(format.read::<f64>(&other).unwrap_err(), fabnet_core::peer::Malformed::Run);
        let task = exchange.peers[0].config();
        let their_format = WireFormat::new(task.run ^ 1, 2, &task.algorithm.segments(0));
        let theirs = their_format.read::<f64>(&other).unwrap().header;
        assert_eq!(theirs.sequence, WireMessage(bytes).sequence() ^ 256);
    }

    #[test]
    fn a_stored_state_knows_of_the_newest_message() {
        let mut exchange = Exchange::new(&calm_scenario(2, true));
        for _ in 0..10 {
            exchange.round(|_, _| true);
            let newest = exchange.sent.iter().map(|(_, bytes)| WireMessage(bytes).sequence()).max();
            let stored = exchange.states.iter().map(|state| sequence_of_state(state)).max();
            assert!(stored.is_some() && stored >= newest, "{stored:?} stored, {newest:?} sent");
            assert!(stored.unwrap() < 100, "two peers have sent a few messages each");
        }
    }

    #[test]
    fn words_beyond_the_end_are_zero() {
        assert_eq!((word(&[1, 0, 0, 0, 0, 0, 0, 0, 9], 0), word(&[1, 0, 0, 0, 0, 0, 0, 0, 9], 1)), (1, 0));
    }
}
