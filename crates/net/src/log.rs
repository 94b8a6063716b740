//! Log lines that say where the node was.

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

use crate::refusals::{EngineRefusals, Refusals};
use crate::status::Shared;

/// Sends lines to the standard error output, and counts what the engine refuses. `FABNET_LOG` says what is logged; if it is not set, `usual`, and nothing of the engine, which complains of everything that it
/// mends itself. Only the first call in a process counts.
pub fn log_to_stderr(usual: &str, json: bool, status: &Shared, refusals: &Arc<Refusals>) {
    let filter = EnvFilter::try_from_env("FABNET_LOG").unwrap_or_else(|_| EnvFilter::new(format!("{usual},zenoh=off")));
    let lines = Lines { status: status.clone(), json };
    let lines = tracing_subscriber::fmt::layer().event_format(lines).with_writer(std::io::stderr);
    let counting = EngineRefusals(refusals.clone()).with_filter(filter_fn(EngineRefusals::listens_to));
    // A second one would be another node in the same process.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).with(counting).try_init();
}

/// Run, node, life, epoch and round on every line, also on those of the engine: as text, or as JSON.
struct Lines {
    /// Where the node is.
    status: Shared,
    /// One JSON object for each line.
    json: bool,
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
