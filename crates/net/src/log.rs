//! Log lines that say where the node was.

use std::fmt;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::status::Shared;

/// Run, node, life, epoch and round on every line, also on those of the engine: as text, or as JSON.
pub struct Lines {
    /// Where the node is.
    pub status: Shared,
    /// One JSON object for each line.
    pub json: bool,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields(Map::new());
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

struct Fields(Map<String, Value>);

impl Visit for Fields {
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
