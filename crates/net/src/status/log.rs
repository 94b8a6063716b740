//! Log lines that say in which round, epoch and incarnation the node was.
#![allow(clippy::disallowed_methods, reason = "log lines carry the time of day")]

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use super::node_status::SharedStatus;
use crate::refusal_log::ZenohRefusals;
use crate::refusals::Refusals;

/// Sends log lines to the standard error output, and counts what Zenoh refuses. `FABNET_LOG` says
/// what is logged. If it is not set, that is `usual`, and nothing of Zenoh, which complains of
/// everything that it mends itself. Only the first call in a process counts.
pub fn log_to_stderr(usual: &str, json: bool, status: &SharedStatus, refusals: &Arc<Refusals>) {
    let filter = EnvFilter::try_from_env("FABNET_LOG").unwrap_or_else(|_| EnvFilter::new(format!("{usual},zenoh=off")));
    let lines = LogFormat { status: status.clone(), json };
    let lines = tracing_subscriber::fmt::layer().event_format(lines).with_writer(std::io::stderr);
    let counting = ZenohRefusals(refusals.clone()).with_filter(filter_fn(ZenohRefusals::listens_to));
    // A second call would be of another node in the same process: its lines go where the first
    // said.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).with(counting).try_init();
}

/// Adds run, node, incarnation, epoch and round to every line, also to those of Zenoh: as text, or
/// as JSON.
struct LogFormat {
    /// The newest status of the node.
    status: SharedStatus,
    /// Whether each line is a JSON object.
    json: bool,
}

impl<S, N> FormatEvent<S, N> for LogFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = JsonFields(Map::new());
        event.record(&mut fields);
        let status = self.status.get();
        let first = status.agents.first();
        let time = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let (level, target) = (event.metadata().level().to_string(), event.metadata().target());
        let place = json!({
            "run": status.run, "node": status.node, "incarnation": first.map(|agent| agent.incarnation),
            "epoch": first.map(|agent| agent.epoch), "round": first.map(|agent| agent.round),
        });
        if self.json {
            let mut line = Map::new();
            line.insert("time".into(), time.into());
            line.insert("level".into(), level.into());
            line.insert("target".into(), target.into());
            line.extend(place.as_object().cloned().unwrap_or_default());
            line.extend(fields.0);
            return writeln!(writer, "{}", Value::Object(line));
        }
        let message = fields.0.remove("message").unwrap_or_default();
        write!(writer, "{time} {level:>5} {}", message.as_str().unwrap_or_default())?;
        for (key, value) in fields.0.iter().chain(place.as_object().into_iter().flatten()) {
            match value {
                Value::String(text) => write!(writer, " {key}={text}")?,
                other => write!(writer, " {key}={other}")?,
            }
        }
        writeln!(writer)
    }
}

/// Collects the fields of a log line as JSON values.
struct JsonFields(Map<String, Value>);

impl Visit for JsonFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Mutex, PoisonError};

    use tracing_subscriber::fmt::MakeWriter;

    use super::super::node_status::NodeStatus;
    use super::*;
    use fabnet_watch::AgentStatus;

    /// Collects what is logged.
    #[derive(Clone, Default)]
    struct Collected(Arc<Mutex<Vec<u8>>>);

    impl Write for Collected {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Collected {
        type Writer = Self;
        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    fn logged(json: bool) -> String {
        let status = SharedStatus::default();
        let agent = AgentStatus { round: 12, epoch: 3, incarnation: 77, ..AgentStatus::default() };
        let (run, node) = ("today".into(), "alpha".into());
        status.change(|shared| *shared = NodeStatus { run, node, agents: vec![agent], ..NodeStatus::default() });
        let collected = Collected::default();
        let lines = LogFormat { status, json };
        let lines = tracing_subscriber::fmt::layer().event_format(lines).with_writer(collected.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            tracing::warn!(agent = 5, error = %"full", "not written");
        });
        let bytes = collected.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_of_text_has_the_message_its_fields_and_where_the_node_was() {
        let line = logged(false);
        let expected = " WARN not written agent=5 error=full epoch=3 incarnation=77 node=alpha round=12 run=today\n";
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn a_line_of_json_is_one_object() {
        let line: Value = serde_json::from_str(&logged(true)).unwrap();
        let fields = ["message", "level", "run", "node", "incarnation", "epoch", "round", "agent", "error"];
        let found = fields.map(|field| line[field].clone());
        let expected =
            json!(["not written", "WARN", "today", "alpha", 77, 3, 12, 5, "full"]).as_array().cloned().unwrap();
        assert_eq!(found.to_vec(), expected, "{line}");
        assert!(line["time"].is_string() && line["target"].is_string(), "{line}");
    }
}
