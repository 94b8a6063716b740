//! The status of a node as Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt;

use fabnet_watch::AgentStatus;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::node_status::{NodeStatus, SharedStatus};

/// A histogram of how long rounds take.
#[derive(Clone, Debug)]
pub struct RoundTimes(Histogram);

impl Default for RoundTimes {
    fn default() -> Self {
        Self(Histogram::new(exponential_buckets(1e-4, 2.0, 20)))
    }
}

impl RoundTimes {
    /// Notes that some rounds took this long each. Of a node that catches up on thousands of rounds
    /// at once, a thousand are counted.
    pub(crate) fn observe(&self, seconds: f64, rounds: u64) {
        (0..rounds.min(1000)).for_each(|_| self.0.observe(seconds));
    }
}

/// The registry with all metrics of a node.
pub(crate) fn registry(status: SharedStatus, times: &RoundTimes) -> Registry {
    let mut registry = Registry::default();
    registry.register("fabnet_round_seconds", "How long rounds take", times.0.clone());
    registry.register_collector(Box::new(StatusCollector(status)));
    registry
}

/// Reads the newest status whenever Prometheus asks.
#[derive(Debug)]
struct StatusCollector(SharedStatus);

impl Collector for StatusCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let node = self.0.get();
        let mut page = MetricsPage { encoder: &mut encoder, node: &node };
        page.of_node()?;
        page.of_agents()?;
        page.counts_of_agents()
    }
}

/// The labels of one value of a metric: names and values.
type Labels = Vec<(String, String)>;

/// Takes one figure out of the status of an agent.
type Reading = fn(&AgentStatus) -> f64;

/// The name, the help and the figure of the metrics that every agent has.
const AGENT_GAUGES: [(&str, &str, Reading); 9] = [
    ("fabnet_round", "Rounds that are done", |agent| agent.round as f64),
    ("fabnet_epoch", "The epoch", |agent| agent.epoch as f64),
    ("fabnet_incarnation", "The life", |agent| agent.incarnation as f64),
    ("fabnet_members", "Members that count as alive", |agent| agent.members as f64),
    ("fabnet_mass_residual", "Units by which mass differs from what books say: 0", |agent| agent.mass_residual as f64),
    ("fabnet_mass_residual_max", "The largest residual that was ever seen: 0", |agent| agent.max_mass_residual as f64),
    ("fabnet_pull_age_rounds", "Rounds since the source that is silent for longest was heard", |agent| {
        agent.pull_age as f64
    }),
    ("fabnet_disagreement", "How far neighbours are away", |agent| agent.disagreement),
    ("fabnet_checkpoint_age_seconds", "Time since the last checkpoint", |agent| {
        agent.checkpoint_age.unwrap_or(f64::NAN)
    }),
];

fn label(agent: &AgentStatus) -> Labels {
    vec![("agent".to_owned(), agent.agent.to_string())]
}

/// Writes the metrics of one status.
struct MetricsPage<'a, 'b> {
    encoder: &'a mut DescriptorEncoder<'b>,
    node: &'a NodeStatus,
}

impl MetricsPage<'_, '_> {
    fn of_node(&mut self) -> fmt::Result {
        let NodeStatus { run, node, manifest, version, ready, done, .. } = self.node;
        let NodeStatus { seconds, dropped, renewals, refused, certificate, .. } = self.node;
        let name = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let labels = vec![name("run", run), name("node", node), name("manifest", manifest), name("version", version)];
        self.gauges("fabnet_node_info", "Which node this is", vec![(labels, 1.0)])?;
        self.gauges("fabnet_ready", "Whether others have answered", vec![(Vec::new(), f64::from(u8::from(*ready)))])?;
        self.gauges("fabnet_done", "Whether all rounds are done", vec![(Vec::new(), f64::from(u8::from(*done)))])?;
        self.gauges("fabnet_uptime_seconds", "Time since the start", vec![(Vec::new(), *seconds)])?;
        self.counters("fabnet_dropped", "Messages that were lost on purpose", vec![(Vec::new(), *dropped)])?;
        let help = "New connections, because somebody was not heard or a certificate has changed";
        self.counters("fabnet_renewals", help, vec![(Vec::new(), *renewals)])?;
        let expiry = certificate.iter().map(|certificate| (Vec::new(), certificate.expires as f64)).collect();
        let help = "When the first of the certificates expires, in seconds since 1970";
        self.gauges("fabnet_certificate_expiry_seconds", help, expiry)?;
        let refused = refused.iter().map(|(reason, count)| (vec![name("reason", reason)], *count)).collect();
        self.counters("fabnet_refused", "Messages and connections that were refused before a peer saw them", refused)
    }

    fn of_agents(&mut self) -> fmt::Result {
        let agents = &self.node.agents;
        for (name, help, reading) in AGENT_GAUGES {
            self.gauges(name, help, agents.iter().map(|agent| (label(agent), reading(agent))).collect())?;
        }
        let parked = agents.iter().flat_map(|agent| {
            agent.parked.iter().map(move |(to, mass)| {
                let to = ("to".to_owned(), to.to_string());
                (label(agent).into_iter().chain([to]).collect(), *mass)
            })
        });
        self.gauges("fabnet_parked_mass", "What went over an edge that does not answer", parked.collect())
    }

    fn counts_of_agents(&mut self) -> fmt::Result {
        type Counts = fn(&AgentStatus) -> &BTreeMap<String, u64>;
        let agents = &self.node.agents;
        let bytes = agents.iter().map(|agent| (label(agent), agent.bytes)).collect();
        self.counters("fabnet_sent_bytes", "Bytes sent", bytes)?;
        let counters: [(&str, &str, &str, Counts); 2] = [
            ("fabnet_messages", "Messages, by what became of them", "outcome", |agent| &agent.messages),
            ("fabnet_events", "What happened to a peer", "kind", |agent| &agent.events),
        ];
        for (name, help, key, counts) in counters {
            let series = agents.iter().flat_map(|agent| {
                counts(agent).iter().map(move |(kind, count)| {
                    (label(agent).into_iter().chain([(key.to_owned(), kind.clone())]).collect(), *count)
                })
            });
            self.counters(name, help, series.collect())?;
        }
        Ok(())
    }

    fn gauges(&mut self, name: &str, help: &str, series: Vec<(Labels, f64)>) -> fmt::Result {
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in series {
            ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn counters(&mut self, name: &str, help: &str, series: Vec<(Labels, u64)>) -> fmt::Result {
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in series {
            ConstCounter::new(value).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::super::node_status::CertificateStatus;
    use super::*;

    fn page(status: NodeStatus, times: &RoundTimes) -> String {
        let shared = SharedStatus::default();
        shared.change(|newest| *newest = status);
        let mut page = String::new();
        encode(&mut page, &registry(shared, times)).unwrap();
        page
    }

    fn line<'a>(page: &'a str, beginning: &str) -> &'a str {
        page.lines().find(|line| line.starts_with(beginning)).unwrap_or_else(|| panic!("{beginning}\n{page}"))
    }

    #[test]
    fn every_figure_of_a_status_is_a_metric() {
        let counts = |name: &str, count| BTreeMap::from([(name.to_owned(), count)]);
        let agent = AgentStatus {
            agent: 4,
            round: 120,
            bytes: 9000,
            messages: counts("applied", 7),
            events: counts("epochs", 1),
            parked: BTreeMap::from([(2, 0.5)]),
            checkpoint_age: Some(1.5),
            ..AgentStatus::default()
        };
        let (run, node) = ("today".into(), "alpha".into());
        let refused = counts("rate", 3);
        let certificate = Some(CertificateStatus { expires: 1_800_000_000, ..CertificateStatus::default() });
        let agents = vec![agent];
        let status = NodeStatus { run, node, refused, renewals: 2, certificate, agents, ..NodeStatus::default() };
        let page = page(status, &RoundTimes::default());
        for (beginning, value) in [
            ("fabnet_node_info{run=\"today\",node=\"alpha\"", "1.0"),
            ("fabnet_ready", "0.0"),
            ("fabnet_refused_total{reason=\"rate\"}", "3"),
            ("fabnet_renewals_total", "2"),
            ("fabnet_certificate_expiry_seconds", "1800000000.0"),
            ("fabnet_round{agent=\"4\"}", "120.0"),
            ("fabnet_sent_bytes_total{agent=\"4\"}", "9000"),
            ("fabnet_messages_total{agent=\"4\",outcome=\"applied\"}", "7"),
            ("fabnet_events_total{agent=\"4\",kind=\"epochs\"}", "1"),
            ("fabnet_parked_mass{agent=\"4\",to=\"2\"}", "0.5"),
            ("fabnet_checkpoint_age_seconds{agent=\"4\"}", "1.5"),
        ] {
            let line = line(&page, beginning);
            assert_eq!(line.rsplit(' ').next(), Some(value), "{line}");
        }
    }

    #[test]
    fn rounds_are_counted_up_to_a_thousand_at_once() {
        let times = RoundTimes::default();
        times.observe(0.01, 3);
        times.observe(0.02, 50_000);
        let page = page(NodeStatus::default(), &times);
        assert_eq!(line(&page, "fabnet_round_seconds_count"), "fabnet_round_seconds_count 1003");
    }
}
