//! What is remembered of a simulation: the trace, and the last lines of a readable log.

use fabnet_core::peer::Event;

use super::checksum::fnv1a;
use super::queue::TICK;

/// The trace of a simulation and, if asked for, its readable log.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    trace: u64,
    lines: Option<Vec<String>>,
}

impl EventLog {
    /// The largest number of lines; when it is reached, the older half is dropped.
    const LINES: usize = 200;

    /// A log with readable lines, or with the trace alone.
    pub(super) fn new(readable: bool) -> Self {
        Self { trace: 0, lines: readable.then(Vec::new) }
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

    /// Adds a line with the time in ticks, if lines are kept.
    pub(super) fn note(&mut self, now: u64, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            if lines.len() == Self::LINES {
                lines.drain(..Self::LINES / 2);
            }
            lines.push(format!("{:>8.2} {}", now as f64 / TICK as f64, line()));
        }
    }

    /// Whether lines are kept.
    pub(super) fn is_readable(&self) -> bool {
        self.lines.is_some()
    }

    /// The trace so far.
    pub(super) fn trace(&self) -> u64 {
        self.trace
    }

    /// The lines that are kept.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
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
    fn the_newest_lines_are_kept() {
        let mut log = EventLog::new(true);
        (0..250).for_each(|line| log.note(line * TICK, || format!("line {line}")));
        let lines = log.into_lines();
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[149].as_str()),
            (150, "  100.00 line 100", "  249.00 line 249")
        );
    }

    #[test]
    fn no_line_is_made_unless_asked_for() {
        let mut log = EventLog::new(false);
        log.note(0, || panic!("a line that nobody reads"));
        assert!(!log.is_readable() && log.into_lines().is_empty());
    }
}
