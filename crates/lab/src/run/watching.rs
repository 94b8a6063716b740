//! Looking at a run while it goes on.

use std::time::Duration;

use fabnet_core::Scalar;

use super::agent_distances::{AgentDistances, WorstAgent};
use super::frame_recording::FrameRecording;
use super::job_error::JobError;
use super::pacing::Pacing;
use super::record::RunRecord;
use super::simulator::Simulator;
use super::stopwatch::Stopwatch;
use crate::plan::Job;
use crate::results::{Folder, Outcome};

/// Looks at a run from time to time, for a recording and for whoever wants to know the worst agent.
pub(super) struct Watching {
    recording: Option<FrameRecording>,
    shows_worst: bool,
    /// The worst agent, as it was found last.
    worst: Option<WorstAgent>,
    /// When to look next; at once if nobody has looked yet.
    pacing: Option<Pacing>,
}

impl Watching {
    /// The least time between two looks.
    const EVERY: Duration = Duration::from_millis(500);

    /// A run works at least this many times as long as it is looked at.
    const WORK: u32 = 200;

    /// Begins a recording in the folder of results, if one is wanted.
    pub(super) fn begin(folder: &Folder, job: Job<'_>, records: bool, shows_worst: bool) -> Result<Self, JobError> {
        let recording = records.then(|| FrameRecording::begin(folder, job)).transpose()?;
        Ok(Self { recording, shows_worst, worst: None, pacing: None })
    }

    /// Looks at the run, if somebody wants to and it is time: not too often, and at little cost.
    /// Returns the worst agent, as it was found last.
    pub(super) fn look<T: Scalar>(
        &mut self,
        simulator: &mut Simulator<T>,
        record: &RunRecord<'_, T>,
    ) -> Result<Option<WorstAgent>, JobError> {
        let due = self.pacing.as_ref().is_none_or(Pacing::is_due);
        if due && (self.shows_worst || self.recording.is_some()) {
            let watch = Stopwatch::start();
            let distances = AgentDistances::measure(&simulator.view(), record);
            self.worst = distances.as_ref().filter(|_| self.shows_worst).and_then(AgentDistances::worst);
            if let Some(recording) = &mut self.recording {
                recording.record(simulator, record, distances)?;
            }
            self.pacing.get_or_insert_with(|| Pacing::new(Self::EVERY, Self::WORK)).written(watch.elapsed());
        }
        Ok(self.worst)
    }

    /// Records the end of the run.
    pub(super) fn end<T: Scalar>(
        &mut self,
        simulator: &mut Simulator<T>,
        record: &RunRecord<'_, T>,
        outcome: Outcome,
    ) -> Result<(), JobError> {
        let Some(recording) = &mut self.recording else { return Ok(()) };
        let distances = AgentDistances::measure(&simulator.view(), record);
        let at = recording.record(simulator, record, distances)?;
        recording.end(at, outcome)
    }
}
