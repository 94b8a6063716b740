//! What was not taken, and why.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// Why something was refused before a peer saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// By the access rules: a certificate without a right to that key.
    Access,
    /// A connection without a certificate of the run's authority.
    Certificate,
    /// A message that says another sender or receiver than its key.
    Forged,
    /// Longer than any message of the run.
    Oversized,
    /// More messages than a neighbour may send in a second.
    Rate,
    /// More than a neighbour may have waiting.
    Queue,
    /// A node of another run or with another plan.
    Manifest,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Access, Self::Certificate, Self::Forged, Self::Oversized, Self::Rate, Self::Queue, Self::Manifest];

    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Certificate => "certificate",
            Self::Forged => "forged",
            Self::Oversized => "oversized",
            Self::Rate => "rate",
            Self::Queue => "queue",
            Self::Manifest => "manifest",
        }
    }
}

/// How often each happened.
#[derive(Debug, Default)]
pub struct Refusals([AtomicU64; Reason::ALL.len()]);

impl Refusals {
    /// Once more.
    pub fn count(&self, reason: Reason) {
        self.0[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often so far.
    pub fn get(&self, reason: Reason) -> u64 {
        self.0[reason as usize].load(Ordering::Relaxed)
    }
}

/// Counts what the engine refuses by itself: it says so nowhere but in its log.
pub(crate) struct EngineRefusals(pub(crate) Arc<Refusals>);

impl EngineRefusals {
    const ACCESS: &'static str = "zenoh::net::routing::interceptor::access_control";
    const LINK: &'static str = "zenoh_link_tls";

    /// Whether lines from there are looked at.
    pub(crate) fn listens_to(metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(Self::ACCESS) || metadata.target().starts_with(Self::LINK)
    }
}

impl<S: Subscriber> Layer<S> for EngineRefusals {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        if let Some((_, key)) = line.0.split_once("unauthorized to Put (ingress) on ") {
            // Shorter keys are prefixes whose rights it looks up in advance.
            if key.split('/').count() == 4 {
                self.0.count(Reason::Access);
            }
        } else if line.0.contains("Hint: increase the system open file limit")
            && !line.0.contains("os error")
            && !line.0.contains("eof")
        {
            // What it says of every handshake that fails; files are a matter of the system, and who hangs up has shown nothing.
            self.0.count(Reason::Certificate);
        }
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            use fmt::Write;
            // A string takes everything.
            let _ = write!(self.0, "{value:?}");
        }
    }
}
