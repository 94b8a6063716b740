//! A node's status as Prometheus reads it.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::status::{AgentStatus, NodeStatus, Shared};

/// How long rounds take.
#[derive(Clone, Debug)]
pub struct RoundTimes(Histogram);

impl Default for RoundTimes {
    fn default() -> Self {
        Self(Histogram::new(exponential_buckets(1e-4, 2.0, 20)))
    }
}

impl RoundTimes {
    /// So many rounds took this long each.
    pub(crate) fn observe(&self, seconds: f64, rounds: u64) {
        (0..rounds.min(1000)).for_each(|_| self.0.observe(seconds));
    }
}

/// All metrics of a node.
pub(crate) fn registry(status: Shared, times: &RoundTimes) -> Registry {
    let mut registry = Registry::default();
    registry.register("fabnet_round_seconds", "How long rounds take", times.0.clone());
    registry.register_collector(Box::new(Status(status)));
    registry
}

#[derive(Debug)]
struct Status(Shared);

impl Collector for Status {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let node = self.0.get();
        let mut page = Page { encoder: &mut encoder, node: &node };
        page.of_node()?;
        page.of_agents()
    }
}

/// Labels and values of one metric.
type Series<L> = Vec<(L, f64)>;

struct Page<'a, 'b> {
    encoder: &'a mut DescriptorEncoder<'b>,
    node: &'a NodeStatus,
}

impl Page<'_, '_> {
    fn of_node(&mut self) -> fmt::Result {
        let NodeStatus { run, node, manifest, version, ready, done, seconds, dropped, renewals, refused, .. } =
            self.node;
        let name = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let labels = vec![name("run", run), name("node", node), name("manifest", manifest), name("version", version)];
        self.gauges("fabnet_node_info", "Which node this is", vec![(labels, 1.0)])?;
        self.gauges("fabnet_ready", "Whether others have answered", vec![(Vec::new(), f64::from(u8::from(*ready)))])?;
        self.gauges("fabnet_done", "Whether all rounds are done", vec![(Vec::new(), f64::from(u8::from(*done)))])?;
        self.gauges("fabnet_uptime_seconds", "Time since the start", vec![(Vec::new(), *seconds)])?;
        self.counters("fabnet_dropped", "Messages that were lost on purpose", vec![(Vec::new(), *dropped)])?;
        let help = "New connections, because somebody within reach was not heard";
        self.counters("fabnet_renewals", help, vec![(Vec::new(), *renewals)])?;
        let refused = refused.iter().map(|(reason, count)| (vec![name("reason", reason)], *count)).collect();
        self.counters("fabnet_refused", "Messages and connections that were refused before a peer saw them", refused)
    }

    fn of_agents(&mut self) -> fmt::Result {
        type Reading = fn(&AgentStatus) -> f64;
        let gauges: [(&str, &str, Reading); 9] = [
            ("fabnet_round", "Rounds that are done", |agent| agent.round as f64),
            ("fabnet_epoch", "The epoch", |agent| agent.epoch as f64),
            ("fabnet_incarnation", "The life", |agent| agent.incarnation as f64),
            ("fabnet_members", "Members that count as alive", |agent| agent.members as f64),
            ("fabnet_mass_residual", "Units by which mass differs from what books say: 0", |agent| {
                agent.mass_residual as f64
            }),
            ("fabnet_mass_residual_max", "The largest residual that was ever seen: 0", |agent| {
                agent.max_mass_residual as f64
            }),
            ("fabnet_pull_age_rounds", "Rounds since the source that is silent for longest was heard", |agent| {
                agent.pull_age as f64
            }),
            ("fabnet_disagreement", "How far neighbours are away", |agent| agent.disagreement),
            ("fabnet_checkpoint_age_seconds", "Time since the last checkpoint", |agent| {
                agent.checkpoint_age.unwrap_or(f64::NAN)
            }),
        ];
        let label = |agent: &AgentStatus| vec![("agent".to_owned(), agent.agent.to_string())];
        let agents = &self.node.agents;
        for (name, help, reading) in gauges {
            self.gauges(name, help, agents.iter().map(|agent| (label(agent), reading(agent))).collect())?;
        }
        let parked = agents.iter().flat_map(|agent| {
            agent.parked.iter().map(move |(to, mass)| {
                let to = ("to".to_owned(), to.to_string());
                (label(agent).into_iter().chain([to]).collect(), *mass)
            })
        });
        self.gauges("fabnet_parked_mass", "What went over an edge that does not answer", parked.collect())?;
        let bytes = agents.iter().map(|agent| (label(agent), agent.bytes)).collect();
        self.counters("fabnet_sent_bytes", "Bytes sent", bytes)?;
        for (name, help, key, counts) in [
            (
                "fabnet_messages",
                "Messages, by what became of them",
                "outcome",
                (|agent| &agent.messages) as fn(&AgentStatus) -> &_,
            ),
            ("fabnet_events", "What happened to a peer", "kind", |agent| &agent.events),
        ] {
            let series = agents.iter().flat_map(|agent| {
                let kinds: &std::collections::BTreeMap<String, u64> = counts(agent);
                kinds.iter().map(move |(kind, count)| {
                    (label(agent).into_iter().chain([(key.to_owned(), kind.clone())]).collect(), *count)
                })
            });
            self.counters(name, help, series.collect())?;
        }
        Ok(())
    }

    fn gauges(&mut self, name: &str, help: &str, series: Series<Vec<(String, String)>>) -> fmt::Result {
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in series {
            ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn counters(&mut self, name: &str, help: &str, series: Vec<(Vec<(String, String)>, u64)>) -> fmt::Result {
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in series {
            ConstCounter::new(value).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
