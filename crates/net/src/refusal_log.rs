//! What Zenoh refuses by itself, found in its log: it says so nowhere else.

use std::fmt;
use std::sync::Arc;

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::refusals::{RefusalReason, Refusals};

/// A layer of the log that counts what Zenoh refuses.
pub(crate) struct ZenohRefusals(pub(crate) Arc<Refusals>);

impl ZenohRefusals {
    const ACCESS: &'static str = "zenoh::net::routing::interceptor::access_control";
    const LINK: &'static str = "zenoh_link_tls";

    /// Whether lines from this part of Zenoh can say that something was refused.
    pub(crate) fn listens_to(metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(Self::ACCESS) || metadata.target().starts_with(Self::LINK)
    }
}

impl<S: Subscriber> Layer<S> for ZenohRefusals {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut message = MessageText(String::new());
        event.record(&mut message);
        if let Some(reason) = refusal_in(&message.0) {
            self.0.count(reason);
        }
    }
}

/// The refusal that a line of Zenoh's log speaks of.
fn refusal_in(message: &str) -> Option<RefusalReason> {
    if let Some((_, key)) = message.split_once("unauthorized to Put (ingress) on ") {
        // Shorter keys are prefixes whose rights it looks up in advance.
        return (key.split('/').count() == 4).then_some(RefusalReason::Access);
    }
    // Zenoh gives this hint for every handshake that fails. An error of the system is about files,
    // and whoever hangs up ("eof") has shown nothing.
    let is_handshake = message.contains("Hint: increase the system open file limit");
    let is_certificate = is_handshake && !message.contains("os error") && !message.contains("eof");
    is_certificate.then_some(RefusalReason::Certificate)
}

/// Collects the message of a log line.
struct MessageText(String);

impl Visit for MessageText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            use fmt::Write;
            // Writing to a string cannot fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_whole_keys_count_and_looks_at_prefixes_do_not() {
        let line = |key: &str| format!("b is unauthorized to Put (ingress) on {key}");
        assert_eq!(refusal_in(&line("fabnet/r/0/1")), Some(RefusalReason::Access));
        assert_eq!(refusal_in(&line("fabnet/r/0")), None);
        assert_eq!(refusal_in("b is authorized to Put (ingress)"), None);
    }

    #[test]
    fn handshakes_count_unless_the_system_or_a_closed_connection_is_to_blame() {
        let line = |why: &str| format!("{why}. Hint: increase the system open file limit");
        assert_eq!(refusal_in(&line("invalid peer certificate")), Some(RefusalReason::Certificate));
        assert_eq!(refusal_in(&line("too many files (os error 24)")), None);
        assert_eq!(refusal_in(&line("tls handshake eof")), None);
    }

    #[test]
    fn a_line_of_the_log_is_counted() {
        use tracing_subscriber::layer::SubscriberExt;
        let refusals = Arc::new(Refusals::default());
        let log = tracing_subscriber::registry().with(ZenohRefusals(refusals.clone()));
        tracing::subscriber::with_default(log, || {
            tracing::warn!("b is unauthorized to Put (ingress) on fabnet/r/0/1");
        });
        assert_eq!(refusals.get(RefusalReason::Access), 1);
    }
}
