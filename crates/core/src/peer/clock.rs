//! The clock of a peer: its epoch, its round, its ticks, and where in a round it is.

/// Where a peer is in its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The incarnation is not on disk yet, so nothing may be sent.
    Unwritten,
    /// The first round waits: for all others in lockstep, or for a command of the driver.
    Gathering,
    /// The messages of the round are sent, and those of others are awaited.
    Open,
    /// The peer has left the run for good.
    Left,
}

/// The round and the tick in which a peer learns something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The peer's round.
    pub(crate) round: u64,
    /// The peer's tick.
    pub(crate) tick: u64,
}

/// The epoch, the round and the ticks of one peer.
#[derive(Clone, Debug)]
pub(crate) struct RoundClock {
    phase: Phase,
    epoch: u64,
    round: u64,
    /// Ticks in this life. They are the peer's heartbeats, and its only measure of time.
    tick: u64,
    /// The tick at which the peer started, or was resumed.
    started: u64,
    /// Ticks in this phase or round.
    waited: u64,
    /// Whether rounds may begin: all others were heard, or somebody has said so.
    gathered: bool,
    /// The epoch in which the messages of this round were sent.
    opened_in: u64,
    /// An epoch that others have begun in a round that this peer has not reached.
    pending: Option<PendingEpoch>,
}

/// An epoch that begins in a later round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PendingEpoch {
    round: u64,
    epoch: u64,
}

impl RoundClock {
    /// A clock at the beginning of a life, in this round.
    pub(crate) fn new(round: u64) -> Self {
        Self {
            phase: Phase::Unwritten,
            epoch: 0,
            round,
            tick: 0,
            started: 0,
            waited: 0,
            gathered: false,
            opened_in: 0,
            pending: None,
        }
    }

    /// Where the peer is in its round.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// The present epoch.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The present round, which is the number of rounds that are done.
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// Ticks in this life.
    pub(crate) fn ticks(&self) -> u64 {
        self.tick
    }

    /// Ticks since the peer started, or was resumed.
    pub(crate) fn ticks_since_start(&self) -> u64 {
        self.tick - self.started
    }

    /// The present round and tick.
    pub(crate) fn now(&self) -> Moment {
        Moment { round: self.round, tick: self.tick }
    }

    /// Ticks in this phase or round.
    pub(crate) fn waited(&self) -> u64 {
        self.waited
    }

    /// Whether rounds may begin.
    pub(crate) fn has_gathered(&self) -> bool {
        self.gathered
    }

    /// Counts one tick.
    pub(crate) fn tick(&mut self) {
        self.tick += 1;
        self.waited += 1;
    }

    /// Lets rounds begin.
    pub(crate) fn allow_rounds(&mut self) {
        self.gathered = true;
    }

    /// Waits with the first round.
    pub(crate) fn gather(&mut self) {
        (self.phase, self.waited) = (Phase::Gathering, 0);
    }

    /// Opens a round: its messages are about to be sent.
    pub(crate) fn open_round(&mut self) {
        (self.phase, self.waited, self.opened_in) = (Phase::Open, 0, self.epoch);
    }

    /// Ends a round.
    pub(crate) fn end_round(&mut self) {
        self.round += 1;
    }

    /// Goes on in a later round, where the others are.
    pub(crate) fn skip_to(&mut self, round: u64) {
        self.round = round;
    }

    /// Whether an epoch has begun since the messages of this round were sent: they carry mass that
    /// no longer counts, so the round must be opened again.
    pub(crate) fn must_reopen(&self) -> bool {
        self.epoch != self.opened_in
    }

    /// Enters an epoch.
    pub(crate) fn enter(&mut self, epoch: u64) {
        self.epoch = epoch;
    }

    /// Notes an epoch that another peer has begun in a round that this peer has not reached. The
    /// latest epoch counts, in the earliest round that was announced with it or after it.
    pub(crate) fn announce_epoch(&mut self, round: u64, epoch: u64) {
        let news = PendingEpoch { round, epoch };
        self.pending = Some(self.pending.map_or(news, |known| {
            if known.epoch < epoch { news } else { PendingEpoch { round: known.round.min(round), ..known } }
        }));
    }

    /// The epoch that is to be entered now, if one was announced for this round or an earlier one.
    pub(crate) fn take_due_epoch(&mut self) -> Option<u64> {
        let due = self.pending.take_if(|pending| pending.round <= self.round)?;
        (due.epoch > self.epoch).then_some(due.epoch)
    }

    /// Whether a peer that is held calls the others in this tick: often at first, then now and
    /// then, in case a message was lost. Whoever comes later calls by itself.
    pub(crate) fn is_time_to_call(&self) -> bool {
        const EVERY: u64 = 16;
        self.waited.is_power_of_two() || self.waited.is_multiple_of(EVERY)
    }

    /// Waits until the incarnation of a new life is on disk.
    pub(crate) fn await_incarnation(&mut self) {
        self.phase = Phase::Unwritten;
    }

    /// Leaves the run for good.
    pub(crate) fn leave(&mut self) {
        self.phase = Phase::Left;
    }

    /// Goes on at the time of a snapshot. Messages of that epoch were sent before it was taken.
    pub(crate) fn restore(&mut self, epoch: u64, tick: u64, gathered: bool) {
        (self.epoch, self.opened_in, self.gathered) = (epoch, epoch, gathered);
        (self.tick, self.started) = (tick, tick);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_goes_from_its_record_over_gathering_to_rounds() {
        let mut clock = RoundClock::new(3);
        assert_eq!((clock.phase(), clock.round(), clock.has_gathered()), (Phase::Unwritten, 3, false));
        clock.tick();
        clock.gather();
        assert_eq!((clock.phase(), clock.waited(), clock.ticks()), (Phase::Gathering, 0, 1));
        clock.tick();
        clock.open_round();
        assert_eq!((clock.phase(), clock.waited(), clock.ticks()), (Phase::Open, 0, 2));
        clock.end_round();
        assert_eq!(clock.now(), Moment { round: 4, tick: 2 });
        clock.await_incarnation();
        assert_eq!(clock.phase(), Phase::Unwritten);
        clock.leave();
        assert_eq!(clock.phase(), Phase::Left);
    }

    #[test]
    fn a_round_is_opened_again_when_an_epoch_begins_within_it() {
        let mut clock = RoundClock::new(0);
        clock.open_round();
        assert!(!clock.must_reopen());
        clock.enter(1);
        assert!(clock.must_reopen());
        clock.open_round();
        assert!(!clock.must_reopen());
    }

    #[test]
    fn an_announced_epoch_waits_for_its_round() {
        let mut clock = RoundClock::new(0);
        clock.announce_epoch(0, 4);
        clock.announce_epoch(2, 5);
        clock.announce_epoch(1, 5);
        assert_eq!(clock.take_due_epoch(), None, "the latest epoch counts, and begins in round 1");
        clock.end_round();
        assert_eq!((clock.take_due_epoch(), clock.take_due_epoch()), (Some(5), None));
        clock.announce_epoch(3, 6);
        clock.enter(6);
        clock.skip_to(9);
        assert_eq!(clock.take_due_epoch(), None, "it was entered already");
    }

    #[test]
    fn a_held_peer_calls_often_at_first_then_now_and_then() {
        let mut clock = RoundClock::new(0);
        clock.gather();
        let calls: Vec<u64> = (1..50)
            .filter(|_| {
                clock.tick();
                clock.is_time_to_call()
            })
            .collect();
        assert_eq!(calls, [1, 2, 4, 8, 16, 32, 48]);
    }

    #[test]
    fn a_restored_clock_has_sent_the_messages_of_its_round() {
        let mut clock = RoundClock::new(8);
        clock.restore(3, 40, true);
        assert_eq!((clock.epoch(), clock.ticks(), clock.has_gathered(), clock.must_reopen()), (3, 40, true, false));
    }
}
