//! The two directed edges between this peer and another node, beside the mass that the ledger
//! holds.

use crate::peer::clock::Moment;

/// The state of the edges to and from one node.
///
/// A *generation* is one use of an edge between two closings: mass counts only in the generation in
/// which it was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edge {
    /// The number of times that we have closed our edge to the node, in our present life.
    generation: u64,
    /// The number of times that the node has closed its edge to us, as far as we know.
    its_generation: u64,
    /// The newest message of ours that the node has acknowledged.
    acknowledged: u64,
    /// The tick since which mass of ours waits for an acknowledgement. A new epoch does not reset
    /// it: a link that is dead stays dead.
    unanswered_since: Option<u64>,
    /// Our edge is closed until the node acknowledges a message after this one, because it must
    /// learn of the closing before it can take mass of the next generation.
    closed_at: Option<u64>,
    /// The newest message to the node that carried mass.
    mass_sent: u64,
    /// Our round in which that was.
    mass_sent_in: u64,
    /// Our round in which the last message went to the node.
    sent_in: u64,
    /// Messages to the node since the last one with the table.
    messages_without_table: u64,
    /// Answers to the node.
    pub(crate) answered: OncePerTick,
    /// Shares that the node got because it asked.
    pub(crate) granted: OncePerTick,
}

/// Something that is done once in a tick at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct OncePerTick(Option<u64>);

impl OncePerTick {
    /// Whether it has not been done in this tick; from now on it has.
    pub(crate) fn is_first_in(&mut self, tick: u64) -> bool {
        self.0.replace(tick) != Some(tick)
    }
}

impl Edge {
    /// The number of times that we have closed our edge to the node.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of times that the node has closed its edge to us, as far as we know.
    pub(crate) fn its_generation(&self) -> u64 {
        self.its_generation
    }

    /// Whether our edge is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed_at.is_some()
    }

    /// Whether the node has acknowledged any message of ours.
    pub(crate) fn is_heard(&self) -> bool {
        self.acknowledged > 0
    }

    /// The newest message to the node that carried mass.
    pub(crate) fn mass_sent(&self) -> u64 {
        self.mass_sent
    }

    /// Our round in which mass was last sent to the node.
    pub(crate) fn mass_sent_in(&self) -> u64 {
        self.mass_sent_in
    }

    /// Our round in which the last message went to the node.
    pub(crate) fn sent_in(&self) -> u64 {
        self.sent_in
    }

    /// Ticks for which the node has not acknowledged anything although it should have.
    pub(crate) fn unanswered(&self, tick: u64) -> u64 {
        self.unanswered_since.map_or(0, |since| tick.saturating_sub(since))
    }

    /// Notes a message to the node, and whether it carries mass.
    pub(crate) fn send(&mut self, sequence: u64, now: Moment, mass: bool) {
        self.messages_without_table += 1;
        self.sent_in = now.round;
        if mass {
            (self.mass_sent, self.mass_sent_in) = (sequence, now.round);
        }
    }

    /// Whether the next message carries the table because this many have not.
    pub(crate) fn is_table_due(&self, every: u64) -> bool {
        self.messages_without_table >= every
    }

    /// Notes that the message that was just noted carries the table.
    pub(crate) fn send_table(&mut self) {
        self.messages_without_table = 0;
    }

    /// Takes in that the node has received a message of ours.
    pub(crate) fn acknowledge(&mut self, sequence: u64) {
        if self.acknowledged < sequence {
            (self.acknowledged, self.unanswered_since) = (sequence, None);
        }
        if self.closed_at.is_some_and(|closed| closed < sequence) {
            self.closed_at = None;
        }
    }

    /// Notes that mass which may be missing at the node waits for an answer. Nothing else does,
    /// since that alone is sent until there is one.
    pub(crate) fn await_answer(&mut self, tick: u64) {
        self.unanswered_since.get_or_insert(tick);
    }

    /// Notes that the node is known to have applied all mass: nothing waits for an answer.
    pub(crate) fn settle(&mut self) {
        self.unanswered_since = None;
    }

    /// Closes our edge after the message with this number, and returns the new generation.
    pub(crate) fn close(&mut self, sequence: u64) -> u64 {
        self.generation += 1;
        self.closed_at = Some(sequence);
        self.generation
    }

    /// Takes in the generation of the node's edge to us and returns whether it is new: all mass of
    /// earlier generations must then be given up.
    pub(crate) fn raise_its_generation(&mut self, generation: u64) -> bool {
        let news = self.its_generation < generation;
        self.its_generation = self.its_generation.max(generation);
        news
    }

    /// Starts anew with a node whose state has changed. Our generation stays, because it counts
    /// through our own life.
    pub(crate) fn renew(&mut self) {
        *self = Self { generation: self.generation, ..Self::default() };
    }

    /// Starts anew after the end of our own life: what we sent in it is gone, while the node's edge
    /// to us goes on.
    pub(crate) fn begin_life(&mut self) {
        (self.generation, self.acknowledged, self.unanswered_since, self.closed_at) = (0, 0, None, None);
    }

    /// The words of a snapshot.
    pub(crate) fn save(&self) -> [u64; 4] {
        let closed = self.closed_at.map_or(0, |sequence| sequence + 1);
        [self.its_generation, self.generation, self.acknowledged, closed]
    }

    /// Restores the words of a snapshot.
    pub(crate) fn restore(&mut self, [its_generation, generation, acknowledged, closed]: [u64; 4]) {
        (self.its_generation, self.generation, self.acknowledged) = (its_generation, generation, acknowledged);
        self.closed_at = closed.checked_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(tick: u64) -> Moment {
        Moment { round: 0, tick }
    }

    #[test]
    fn a_closed_edge_opens_only_by_an_acknowledgement_of_a_later_message() {
        let mut edge = Edge::default();
        assert_eq!((edge.close(10), edge.is_closed()), (1, true));
        edge.acknowledge(10);
        assert!(edge.is_closed(), "that message was sent before the edge was closed");
        edge.acknowledge(11);
        assert!(!edge.is_closed());
        assert_eq!(edge.close(12), 2);
    }

    #[test]
    fn silence_counts_from_the_first_message_that_waits_for_an_answer() {
        let mut edge = Edge::default();
        assert_eq!(edge.unanswered(50), 0, "nothing was sent");
        edge.send(1, at(40), true);
        assert_eq!(edge.unanswered(50), 0, "it does not wait");
        edge.await_answer(50);
        edge.await_answer(55);
        assert_eq!(edge.unanswered(60), 10);
        edge.acknowledge(2);
        assert_eq!(edge.unanswered(60), 0);
        edge.await_answer(70);
        edge.acknowledge(2);
        assert_eq!(edge.unanswered(75), 5, "an old acknowledgement is no answer");
        edge.settle();
        assert_eq!(edge.unanswered(75), 0, "nothing waits any more");
    }

    #[test]
    fn the_table_travels_with_every_nth_message() {
        let mut edge = Edge::default();
        let due: Vec<u64> = (1..=12)
            .filter(|&sequence| {
                edge.send(sequence, at(0), false);
                let due = edge.is_table_due(4);
                if due {
                    edge.send_table();
                }
                due
            })
            .collect();
        assert_eq!(due, [4, 8, 12]);
    }

    #[test]
    fn a_generation_of_the_other_end_is_news_once() {
        let mut edge = Edge::default();
        assert!(edge.raise_its_generation(2) && !edge.raise_its_generation(2) && !edge.raise_its_generation(1));
        assert_eq!(edge.its_generation(), 2);
    }

    #[test]
    fn our_generation_survives_the_others_life_but_not_our_own() {
        let mut edge = Edge::default();
        edge.close(10);
        edge.raise_its_generation(5);
        edge.renew();
        assert_eq!((edge.generation(), edge.its_generation(), edge.is_closed()), (1, 0, false));
        edge.raise_its_generation(5);
        edge.begin_life();
        assert_eq!((edge.generation(), edge.its_generation()), (0, 5));
    }

    #[test]
    fn a_snapshot_keeps_generations_and_whether_the_edge_is_closed() {
        let mut edge = Edge::default();
        edge.close(0);
        edge.raise_its_generation(3);
        let mut restored = Edge::default();
        restored.restore(edge.save());
        assert_eq!((restored.generation(), restored.its_generation(), restored.is_closed()), (1, 3, true));
    }
}
