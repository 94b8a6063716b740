//! Write-ahead: messages wait until the state that they depend on is on disk.

use std::collections::VecDeque;

use super::event::Effect;

/// The messages of a peer that wait for the disk, and the numbers of its records.
///
/// A node that crashes must not have sent anything that its saved state does not know of: it would
/// send the same mass a second time.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteAhead {
    /// Messages that wait, with the number of the state they depend on, ascending.
    awaited: VecDeque<(u64, Vec<Effect>)>,
    /// Messages whose state is safe, and which leave with the next effects.
    released: Vec<Effect>,
    /// The number of the last record.
    last_ticket: u64,
    /// The number of the record of the present incarnation.
    life_ticket: u64,
    /// Whether the present life goes on from a disk, which may have lost the end of it.
    resumed: bool,
}

impl WriteAhead {
    /// The number of the record of the present incarnation.
    pub(crate) fn life_ticket(&self) -> u64 {
        self.life_ticket
    }

    /// Goes on with a life from a disk.
    pub(crate) fn resume(&mut self) {
        self.resumed = true;
    }

    /// Whether the present life goes on from a disk.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// A number for the next record.
    pub(crate) fn next_ticket(&mut self) -> u64 {
        self.last_ticket += 1;
        self.last_ticket
    }

    /// Begins a new life, whose incarnation must be written before anything is sent. Messages of
    /// the old life that wait are dropped: nobody would accept them.
    pub(crate) fn begin_life(&mut self) {
        self.awaited.clear();
        self.released.clear();
        self.resumed = false;
        self.life_ticket = self.next_ticket();
    }

    /// Takes in that a state is safe. Messages that wait for it or for an earlier one are released,
    /// in the order in which they were held back: a newer state includes what older ones say.
    pub(crate) fn stored(&mut self, ticket: u64) {
        let safe = self.awaited.partition_point(|(awaited, _)| *awaited <= ticket);
        self.released.extend(self.awaited.drain(..safe).flat_map(|(_, held)| held));
    }

    /// Holds back the messages among these effects and puts those that were released in their
    /// place. Returns the number of the state that must now be stored, if any message waits for it.
    pub(crate) fn hold_back(&mut self, effects: &mut Vec<Effect>) -> Option<u64> {
        let held: Vec<_> = effects.extract_if(.., |effect| matches!(effect, Effect::Send { .. })).collect();
        effects.append(&mut self.released);
        if held.is_empty() {
            return None;
        }
        let ticket = self.next_ticket();
        self.awaited.push_back((ticket, held));
        Some(ticket)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::peer::event::Record;

    fn send(number: u8) -> Effect {
        Effect::Send { to: 1, bytes: vec![number] }
    }

    fn numbers(effects: &[Effect]) -> Vec<u8> {
        effects
            .iter()
            .flat_map(|effect| if let Effect::Send { bytes, .. } = effect { &bytes[..] } else { &[] })
            .copied()
            .collect()
    }

    proptest! {
        /// Whatever is reported as safe, and in whatever order: messages leave in the order in
        /// which they were held back, never before their state, and all of them once the last state
        /// is safe.
        #[test]
        fn messages_leave_in_order_and_never_before_their_state(reports in prop::collection::vec(0..12u64, 0..20)) {
            let mut write_ahead = WriteAhead::default();
            let (mut left, mut safe) = (Vec::new(), 0);
            for (number, report) in (1..).zip(reports.iter().copied().chain([u64::MAX])) {
                let mut effects = vec![send(number)];
                prop_assert_eq!(write_ahead.hold_back(&mut effects), Some(u64::from(number)));
                left.extend(numbers(&effects));
                prop_assert!(left.iter().all(|&number| u64::from(number) <= safe));
                safe = safe.max(report);
                write_ahead.stored(report);
            }
            let mut effects = Vec::new();
            prop_assert_eq!(write_ahead.hold_back(&mut effects), None, "nothing new waits");
            left.extend(numbers(&effects));
            prop_assert_eq!(left, (1..=reports.len() as u8 + 1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn records_do_not_wait() {
        let mut write_ahead = WriteAhead::default();
        let store = Effect::Store { ticket: 7, record: Record::State(Vec::new()) };
        let mut effects = vec![send(1), store.clone(), send(2)];
        assert_eq!(write_ahead.hold_back(&mut effects), Some(1));
        assert_eq!(effects, [store]);
    }

    #[test]
    fn a_new_life_drops_what_waits_and_has_a_record_of_its_own() {
        let mut write_ahead = WriteAhead::default();
        assert_eq!(write_ahead.life_ticket(), 0);
        write_ahead.hold_back(&mut vec![send(1)]);
        write_ahead.hold_back(&mut vec![send(2)]);
        write_ahead.stored(1);
        write_ahead.begin_life();
        write_ahead.stored(u64::MAX);
        let mut effects = Vec::new();
        assert_eq!((write_ahead.hold_back(&mut effects), effects.len()), (None, 0));
        assert_eq!(write_ahead.life_ticket(), 3);
    }
}
