//! What is remembered of a simulation: the trace, and what happened last.

use fabnet_core::peer::Event;

use super::checksum::fnv1a;
use super::happening::Happening;
use super::queue::TICK;

/// The trace of a simulation and, if asked for, what happened.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    trace: u64,
    happenings: Option<Vec<Happening>>,
}

impl EventLog {
    /// The largest number of happenings; when it is reached, the older half is dropped.
    const KEPT: usize = 200;

    /// A log that also says what happens, or the trace alone.
    pub(super) fn new(readable: bool) -> Self {
        Self { trace: 0, happenings: readable.then(Vec::new) }
    }

    /// Adds an event of a node to the trace: one number for the whole course of a simulation.
    pub(super) fn trace_event(&mut self, now: u64, node: u32, event: &Event) {
        // The header of a message tells it from any other.
        const HEADER: usize = 128;
        self.trace = match event {
            Event::Message(bytes) => fnv1a(self.trace ^ now ^ u64::from(node) << 48, &bytes[..bytes.len().min(HEADER)]),
            _ => fnv1a(self.trace ^ now, &node.to_le_bytes()),
        };
    }

    /// Adds something that happens now, if that is kept.
    pub(super) fn note(&mut self, now: u64, happening: impl FnOnce() -> Happening) {
        if let Some(happenings) = &mut self.happenings {
            if happenings.len() == Self::KEPT {
                happenings.drain(..Self::KEPT / 2);
            }
            happenings.push(Happening { tick: now as f64 / TICK as f64, ..happening() });
        }
    }

    /// Whether it is kept what happens.
    pub(super) fn is_readable(&self) -> bool {
        self.happenings.is_some()
    }

    /// Takes out what has happened since this was last called.
    pub(super) fn take(&mut self) -> Vec<Happening> {
        self.happenings.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The trace so far.
    pub(super) fn trace(&self) -> u64 {
        self.trace
    }

    /// What is kept, in lines.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.happenings.unwrap_or_default().iter().map(Happening::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(now: u64, node: u32, event: &Event) -> u64 {
        let mut log = EventLog::new(false);
        log.trace_event(now, node, event);
        log.trace()
    }

    #[test]
    fn the_trace_depends_on_time_node_and_message() {
        let message = Event::Message(vec![1, 2, 3]);
        let base = trace(5, 1, &message);
        assert_eq!(base, trace(5, 1, &message));
        let others = [trace(6, 1, &message), trace(5, 2, &message), trace(5, 1, &Event::Message(vec![1, 2, 4]))];
        assert!(!others.contains(&base));
        assert_ne!(trace(5, 1, &Event::Tick), trace(5, 2, &Event::Tick));
    }

    #[test]
    fn the_newest_happenings_are_kept() {
        let mut log = EventLog::new(true);
        (0..250).for_each(|line| log.note(line * TICK, || Happening::new("stop", format!("line {line}"))));
        let lines = log.into_lines();
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[149].as_str()),
            (150, "  100.00 line 100", "  249.00 line 249")
        );
    }

    #[test]
    fn no_happening_is_made_unless_asked_for() {
        let mut log = EventLog::new(false);
        log.note(0, || panic!("a happening that nobody hears of"));
        assert!(!log.is_readable() && log.into_lines().is_empty());
    }
}
