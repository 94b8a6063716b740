//! How a node ends, and whether its answer can be trusted.

use fabnet_core::peer::{Command, Event, Record};
use fabnet_core::{Peer, Scalar};

use super::{Node, NodeError, Recorder, Seat, Stop};
use crate::attendance::Missing;

impl<T: Scalar> Node<T> {
    /// Records where its agents are at the end, if that is where their own rounds have led them.
    pub(super) fn record_end(&mut self, recorder: &mut dyn Recorder<T>) {
        for seat in self.seats.values_mut().filter(|seat| seat.recorded != Some(seat.rounds) && seat.is_at_end()) {
            if let Record::Checkpoint { round, point } = seat.peer.checkpoint() {
                recorder.record(&seat.peer, round, &point);
                seat.recorded = Some(round);
            }
        }
    }

    /// Says farewell, writes down where it is, and ends: with an error if it is done and the answer
    /// may be wrong, or if something could not be written.
    pub(super) fn end(&mut self, recorder: &mut dyn Recorder<T>) -> Result<Stop, NodeError> {
        let done = self.is_done();
        let wrong = if done { self.judge_end() } else { Vec::new() };
        self.say_farewell(recorder);
        let written = self.seats.values().try_for_each(|seat| seat.disk.write(&seat.peer.checkpoint()));
        let recorded = recorder.finish();
        self.report();
        self.transport.close();
        written?;
        recorded.map_err(NodeError::Records)?;
        match done {
            true if wrong.is_empty() => Ok(Stop::Done),
            true => Err(Missing::AtEnd(wrong).into()),
            false => Ok(Stop::Left),
        }
    }

    /// Says farewell before it ends with an error that others would else only notice by its silence.
    pub(super) fn give_up(&mut self, error: NodeError, recorder: &mut dyn Recorder<T>) -> NodeError {
        if matches!(error, NodeError::Missing(_)) {
            self.say_farewell(recorder);
            self.transport.close();
        }
        error
    }

    fn say_farewell(&mut self, recorder: &mut dyn Recorder<T>) {
        let agents: Vec<u32> = self.seats.keys().copied().collect();
        for agent in agents {
            self.tell(agent, Event::Command(Command::Leave), recorder);
        }
        self.settle(recorder);
    }

    /// Everything that speaks against the answer, now that the rounds are done.
    pub(super) fn judge_end(&mut self) -> Vec<String> {
        self.attendance.look(self.seats.values().map(|seat| &seat.peer));
        let peers: Vec<&Peer<T>> = self.peers().collect();
        let rounds = self.seats.values().map(|seat| seat.rounds).max().unwrap_or(0);
        let mut wrong = self.attendance.judge_end(&peers, rounds);
        for seat in self.seats.values().filter(|seat| !seat.is_at_end()) {
            let (agent, worked_in) = (seat.peer.node(), seat.worked_in);
            wrong.push(format!(
                "agent {agent} missed the end: the last round that it did itself is {worked_in} of {rounds}"
            ));
        }
        for agent in self.doubles.found() {
            wrong.push(format!("two processes acted as `{}`", self.config.owner(*agent)));
        }
        wrong
    }
}

impl<T: Scalar> Seat<T> {
    /// Whether its own rounds have led it to the end, or nearly so.
    fn is_at_end(&self) -> bool {
        self.worked_in >= self.rounds - self.rounds / 10
    }
}
