//! Whose heartbeats the next message passes on.

use super::gossip::HEARTBEATS_PER_MESSAGE;

/// A rotation through the members, so that the heartbeats of all of them are passed on in turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeartbeatRotation {
    /// The place among the members at which the next message starts.
    cursor: usize,
}

impl HeartbeatRotation {
    /// The members other than `me` whose heartbeats the next message carries.
    pub(crate) fn next(&mut self, members: &[u32], me: u32) -> Vec<u32> {
        let start = self.cursor % members.len().max(1);
        self.cursor = self.cursor.wrapping_add(HEARTBEATS_PER_MESSAGE);
        let turn = members[start..].iter().chain(&members[..start]).copied();
        turn.filter(|&node| node != me).take(HEARTBEATS_PER_MESSAGE).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_other_member_has_its_turn() {
        let members: Vec<u32> = (0..100).collect();
        let mut rotation = HeartbeatRotation::default();
        let turns: Vec<Vec<u32>> = (0..7).map(|_| rotation.next(&members, 3)).collect();
        assert!(turns.iter().all(|turn| turn.len() == HEARTBEATS_PER_MESSAGE));
        assert_eq!(turns.concat().into_iter().collect::<BTreeSet<_>>().len(), 99);
    }

    #[test]
    fn a_small_network_is_named_whole_and_without_oneself() {
        let mut rotation = HeartbeatRotation::default();
        for _ in 0..5 {
            let mut turn = rotation.next(&[1, 4, 6], 4);
            turn.sort_unstable();
            assert_eq!(turn, [1, 6]);
        }
        assert!(rotation.next(&[4], 4).is_empty());
    }
}
