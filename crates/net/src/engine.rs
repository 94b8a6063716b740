//! How the engine is set up, and joined.

use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::{Value, json};
use zenoh::{Session, Wait};

use crate::config::{Config, Member, Tls};

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("cannot join the network: {0}. Is the address free and of this host, and are the certificates readable?")]
pub struct OpenError(pub(crate) String);

impl From<zenoh::Error> for OpenError {
    fn from(error: zenoh::Error) -> Self {
        Self(error.to_string())
    }
}

/// Joins, as the node that the configuration is of, for messages up to this length.
pub fn open(config: &Config, longest: usize) -> Result<Session, OpenError> {
    let settings = settings(config, longest).to_string();
    let mut refused = 0;
    loop {
        match zenoh::open(zenoh::Config::from_json5(&settings)?).wait() {
            // Only to a router must there be a way at once. It may begin to listen between our attempt and our look, so one refusal says nothing.
            Err(_) if config.listens_at().is_none() && refused < REFUSALS => {
                if config.calls().any(answers) {
                    refused += 1;
                } else {
                    tracing::info!("waiting for a router: none can be reached yet");
                }
                std::thread::sleep(Duration::from_secs(1));
            }
            opened => return Ok(opened?),
        }
    }
}

/// How often routers that answer may refuse a node before it gives up.
const REFUSALS: usize = 3;

/// Whether anything accepts connections there.
pub(crate) fn answers(address: &str) -> bool {
    let mut addresses = address.to_socket_addrs().into_iter().flatten();
    addresses.any(|address| TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok())
}

/// The engine's settings: what worked in measurements is said here, the rest is its own choice.
fn settings(config: &Config, longest: usize) -> Value {
    let protocol = if config.insecure { "tcp" } else { "tls" };
    // A client is connected to one router at a time, and goes to the next one if that is gone.
    let mode = match (config.me(), config.routers.is_empty()) {
        (None, _) => "router",
        (Some(_), true) => "peer",
        (Some(_), false) => "client",
    };
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
    let shared_memory = json!({
        "enabled": config.shared_memory,
        // Room for a message to everybody, twice.
        "transport_optimization": { "enabled": true, "pool_size": (2 * config.members.len() * longest).next_power_of_two() },
    });
    let mut engine = json!({
        "mode": mode,
        "listen": { "endpoints": config.listens_at().map(|address| format!("{protocol}/{}", listens(address))).as_slice() },
        "connect": {
            "endpoints": config.calls().map(|address| format!("{protocol}/{address}")).collect::<Vec<_>>(),
            // 0 means to try once; a client, which needs its router at once, is opened again instead.
            "timeout_ms": if mode == "client" { 0 } else { -1 }, "exit_on_failure": false,
            "retry": { "period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2 },
        },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
        "transport": { "link": link, "shared_memory": shared_memory },
    });
    if config.tls.is_some() {
        engine["access_control"] = access_rules(config);
    }
    engine
}

/// Loopback stays there; else all interfaces listen, since a name may mean another one from outside.
fn listens(address: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let ip = bare.parse::<IpAddr>();
    let interface = match ip {
        _ if host == "localhost" => host,
        Ok(ip) if ip.is_loopback() => host,
        Ok(IpAddr::V6(_)) => "[::]",
        _ => "0.0.0.0",
    };
    format!("{interface}:{port}")
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
    if !config.routers.is_empty() {
        rules.push(json!({
            "id": "routers carry", "permission": "allow", "flows": ["ingress"], "messages": ["put", "declare_subscriber"],
            "key_exprs": [format!("fabnet/{run}/**")],
        }));
        let names: Vec<&str> = config.routers.iter().map(|router| router.name.as_str()).collect();
        subjects.push(json!({ "id": "routers", "cert_common_names": names }));
        policies.push(json!({ "rules": ["leave", "routers carry"], "subjects": ["routers"] }));
    }
    json!({ "enabled": true, "default_permission": "deny", "rules": rules, "subjects": subjects, "policies": policies })
}
