//! Messages over Zenoh.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use zenoh::pubsub::Subscriber;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use crate::config::{Config, Manifest, Member, Tls};
use crate::inbox::{Inbox, Input};
use crate::outbox::Outbox;
use crate::refusals::Reason;
use crate::transport::Transport;

/// Keys are `fabnet/RUN/FROM/TO`, by agents; and `fabnet/RUN/hello/NODE`, by which nodes find out whether they run the same.
pub struct ZenohTransport {
    session: Session,
    run: String,
    outboxes: Mutex<BTreeMap<(u32, u32), Outbox>>,
    _subscribers: Vec<Subscriber<()>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("cannot join the network: {0}. Is the address free and of this host, and are the certificates readable?")]
pub struct OpenError(String);

impl From<zenoh::Error> for OpenError {
    fn from(error: zenoh::Error) -> Self {
        Self(error.to_string())
    }
}

impl ZenohTransport {
    /// How long what waits may take to leave at the end.
    const FAREWELL: Duration = Duration::from_secs(2);

    /// Joins the other members of a run; what arrives goes into the inbox.
    pub fn open(config: &Config, inbox: &Arc<Inbox>) -> Result<Self, OpenError> {
        let me = config.me().ok_or_else(|| OpenError("this node is no member".into()))?;
        let engine = engine_config(config, me, inbox.longest());
        let engine = zenoh::Config::from_json5(&engine.to_string())?;
        let session = zenoh::open(engine).wait()?;
        let mut subscribers = Vec::new();
        for &to in &me.agents {
            let inbox = inbox.clone();
            let key = format!("fabnet/{}/*/{to}", config.run);
            let arrived = move |sample: Sample| arrived(&inbox, to, &sample);
            subscribers.push(session.declare_subscriber(key).callback(arrived).wait()?);
        }
        let hello = inbox.clone();
        let greeted = move |sample: Sample| {
            let node = sample.key_expr().as_str().rsplit('/').next().unwrap_or_default().to_owned();
            if sample.payload().len() <= 64
                && let Ok(manifest) = sample.payload().try_to_string()
            {
                hello.put(Input::Hello { node, manifest: manifest.into_owned() });
            }
        };
        let key = format!("fabnet/{}/hello/*", config.run);
        subscribers.push(session.declare_subscriber(key).callback(greeted).wait()?);
        Ok(Self { session, run: config.run.clone(), outboxes: Mutex::default(), _subscribers: subscribers })
    }

    /// Says which manifest this node has.
    pub fn greet(&self, node: &str, manifest: &Manifest) {
        // Who does not hear it is greeted again.
        let _ = self.session.put(format!("fabnet/{}/hello/{node}", self.run), manifest.to_string()).wait();
    }

    fn outbox(&self, from: u32, to: u32) -> Result<Outbox, OpenError> {
        let key = format!("fabnet/{}/{from}/{to}", self.run);
        let publisher = self.session.declare_publisher(key).congestion_control(CongestionControl::Block).wait()?;
        let send = move |bytes: Vec<u8>| {
            // It is certain of nothing: the ledger is.
            let _ = publisher.put(bytes).wait();
        };
        Outbox::new(format!("to {to}"), send).map_err(|error| OpenError(error.to_string()))
    }
}

impl Transport for ZenohTransport {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        let mut outboxes = self.outboxes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outbox) = outboxes.get(&(from, to)) {
            return outbox.put(bytes);
        }
        match self.outbox(from, to) {
            Ok(outbox) => {
                outbox.put(bytes);
                outboxes.insert((from, to), outbox);
            }
            Err(error) => tracing::warn!(from, to, %error, "no way to a neighbour"),
        }
    }

    fn close(&self) {
        let until = Instant::now() + Self::FAREWELL;
        let outboxes = std::mem::take(&mut *self.outboxes.lock().unwrap_or_else(PoisonError::into_inner));
        for outbox in outboxes.values() {
            outbox.drain(until);
        }
        drop(outboxes);
        if let Err(error) = self.session.close().wait() {
            tracing::warn!(%error, "the session did not close");
        }
    }
}

fn arrived(inbox: &Inbox, to: u32, sample: &Sample) {
    let from = sample.key_expr().as_str().rsplit('/').nth(1).and_then(|from| from.parse().ok());
    match from {
        Some(from) => inbox.message(from, to, sample.payload().len(), || sample.payload().to_bytes().into_owned()),
        None => inbox.refusals().count(Reason::Forged),
    }
}

/// The engine's settings: what worked in measurements is said here, the rest is its own choice.
fn engine_config(config: &Config, me: &Member, longest: usize) -> Value {
    let protocol = if config.insecure { "tcp" } else { "tls" };
    let endpoint = |member: &Member| format!("{protocol}/{}", member.address);
    let others = config.members.iter().filter(|member| member.name != me.name);
    let port = me.address.rsplit(':').next().unwrap_or_default();
    let mut link = json!({
        // A neighbour that takes nothing holds up its own thread for a second at most, then is cut off and comes back.
        "tx": { "lease": 4000, "keep_alive": 4, "queue": { "size": { "data": 16 }, "congestion_control": { "block": { "wait_before_close": 1_000_000 } } } },
        // What is too long is to be counted, which the engine does not; what is far too long it drops.
        "rx": { "buffer_size": 1 << 20, "max_message_size": 2 * longest + (4 << 20) },
    });
    if let Some(Tls { ca, certificate, key }) = &config.tls {
        link["tls"] = json!({
            "root_ca_certificate": ca, "enable_mtls": true,
            "listen_private_key": key, "listen_certificate": certificate,
            "connect_private_key": key, "connect_certificate": certificate,
        });
    }
    let mut engine = json!({
        "mode": "peer",
        "listen": { "endpoints": [format!("{protocol}/{}:{port}", listen_host(&me.address))] },
        "connect": {
            "endpoints": others.map(endpoint).collect::<Vec<_>>(), "timeout_ms": 0, "exit_on_failure": false,
            "retry": { "period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2 },
        },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
        "transport": { "link": link, "shared_memory": { "enabled": config.shared_memory } },
    });
    if config.tls.is_some() {
        engine["access_control"] = access_rules(config);
    }
    engine
}

/// Loopback stays there; else all interfaces listen, since a name may mean another one from outside.
fn listen_host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let loopback = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    if loopback { host } else { "0.0.0.0" }
}

/// Nothing is allowed but this: a member sends from its own agents, greets in its own name, and hears what is for it.
fn access_rules(config: &Config) -> Value {
    let run = &config.run;
    let mut rules = vec![json!({
        "id": "leave", "permission": "allow", "flows": ["egress"], "messages": ["put", "declare_subscriber"],
        "key_exprs": [format!("fabnet/{run}/**")],
    })];
    let mut subjects = Vec::new();
    let mut policies = Vec::new();
    for Member { name, agents, .. } in &config.members {
        let sends = agents.iter().map(|agent| format!("fabnet/{run}/{agent}/*"));
        let hears = agents.iter().map(|agent| format!("fabnet/{run}/*/{agent}"));
        rules.push(json!({
            "id": format!("{name} sends"), "permission": "allow", "flows": ["ingress"], "messages": ["put"],
            "key_exprs": sends.chain([format!("fabnet/{run}/hello/{name}")]).collect::<Vec<_>>(),
        }));
        rules.push(json!({
            "id": format!("{name} hears"), "permission": "allow", "flows": ["ingress"], "messages": ["declare_subscriber"],
            "key_exprs": hears.chain([format!("fabnet/{run}/hello/*")]).collect::<Vec<_>>(),
        }));
        subjects.push(json!({ "id": name, "cert_common_names": [name] }));
        policies
            .push(json!({ "rules": ["leave", format!("{name} sends"), format!("{name} hears")], "subjects": [name] }));
    }
    json!({ "enabled": true, "default_permission": "deny", "rules": rules, "subjects": subjects, "policies": policies })
}
