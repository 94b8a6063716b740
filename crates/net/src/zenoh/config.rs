//! The settings of a Zenoh session. What worked in measurements is said here; the rest is Zenoh's
//! own choice.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::access::access_rules;
use crate::config::{Config, Tls};

/// The milliseconds in which whoever connects must show its certificate. Each connection that says
/// nothing takes up a descriptor for as long.
const HANDSHAKE_MS: u32 = 2000;

/// The settings of the node that the configuration is of, for messages up to a length in bytes.
pub(super) fn session_settings(config: &Config, longest: usize) -> Value {
    let protocol = if config.insecure { "tcp" } else { "tls" };
    let mode = mode(config);
    let patience = if config.insecure { String::new() } else { format!("#tls_handshake_timeout_ms={HANDSHAKE_MS}") };
    let listens_at = config.listens_at().map(|address| format!("{protocol}/{}{patience}", listening_address(address)));
    let mut settings = json!({
        "mode": mode,
        "listen": { "endpoints": listens_at.as_slice() },
        "connect": {
            "endpoints": config.calls().map(|address| format!("{protocol}/{address}")).collect::<Vec<_>>(),
            // 0 means to try once; a client, which needs its router at once, is opened again
            // instead.
            "timeout_ms": if mode == "client" { 0 } else { -1 }, "exit_on_failure": false,
            "retry": { "period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2 },
        },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
        "transport": { "link": link_settings(config, longest), "shared_memory": shared_memory(config, longest) },
    });
    if config.tls.is_some() {
        settings["access_control"] = access_rules(config);
    }
    settings
}

/// A client is connected to one router at a time, and goes to the next one if that is gone.
fn mode(config: &Config) -> &'static str {
    match (config.me(), config.routers.is_empty()) {
        (None, _) => "router",
        (Some(_), true) => "peer",
        (Some(_), false) => "client",
    }
}

fn link_settings(config: &Config, longest: usize) -> Value {
    let mut link = json!({
        // A neighbour that takes nothing holds up its own thread for a second (1,000,000 µs) at
        // most, then is cut off and comes back.
        "tx": {
            "lease": 4000, "keep_alive": 4,
            "queue": {
                "size": { "data": 16 },
                "congestion_control": { "block": { "wait_before_close": 1_000_000 } },
            },
        },
        // A message that is somewhat too long must arrive to be counted, which Zenoh does not do;
        // one that is far too long it drops.
        "rx": { "buffer_size": 1 << 20, "max_message_size": 2 * longest + (4 << 20) },
    });
    if let Some(Tls { ca, certificate, key }) = &config.tls {
        link["tls"] = json!({
            "root_ca_certificate": ca, "enable_mtls": true,
            "listen_private_key": key, "listen_certificate": certificate,
            "connect_private_key": key, "connect_certificate": certificate,
        });
    }
    link
}

fn shared_memory(config: &Config, longest: usize) -> Value {
    // Room for a message to everybody, twice.
    let pool_size = (2 * config.members.len() * longest).next_power_of_two();
    json!({
        "enabled": config.shared_memory,
        "transport_optimization": { "enabled": true, "pool_size": pool_size },
    })
}

/// Loopback addresses stay as they are. Otherwise all interfaces listen, since a host name may mean
/// another interface from outside.
fn listening_address(address: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Member, RouterSettings};

    fn config(node: &str) -> Config {
        let member = |name: &str, agent, address: &str| Member {
            name: name.into(),
            agents: vec![agent],
            address: address.into(),
            http: None,
        };
        let members = vec![member("a", 0, "127.0.0.1:7000"), member("b", 1, "b.example:7001")];
        Config { insecure: true, ..Config::new("r", node, members) }
    }

    #[test]
    fn loopback_stays_there_and_everything_else_listens_on_all_interfaces() {
        for (address, expected) in [
            ("127.0.0.1:7", "127.0.0.1:7"),
            ("localhost:7", "localhost:7"),
            ("[::1]:7", "[::1]:7"),
            ("10.0.0.5:7", "0.0.0.0:7"),
            ("alpha.example:7", "0.0.0.0:7"),
            ("[2001:db8::1]:7", "[::]:7"),
        ] {
            assert_eq!(listening_address(address), expected, "{address}");
        }
    }

    #[test]
    fn members_are_peers_or_clients_of_routers() {
        let settings = session_settings(&config("b"), 100);
        assert_eq!(settings["mode"], "peer");
        assert_eq!(settings["connect"]["endpoints"], json!(["tcp/127.0.0.1:7000"]));
        assert_eq!(settings["listen"]["endpoints"], json!(["tcp/0.0.0.0:7001"]));
        assert_eq!(settings["connect"]["timeout_ms"], -1);
        let mut routed = config("b");
        routed.routers = vec![RouterSettings { name: "hub".into(), address: "hub:7447".into() }];
        let settings = session_settings(&routed, 100);
        assert_eq!((&settings["mode"], &settings["connect"]["timeout_ms"]), (&json!("client"), &json!(0)));
        assert_eq!(settings["connect"]["endpoints"], json!(["tcp/hub:7447"]));
        assert_eq!(settings["listen"]["endpoints"], json!([]));
        routed.node = "hub".into();
        assert_eq!(session_settings(&routed, 100)["mode"], "router");
    }

    #[test]
    fn certificates_bring_mutual_tls_and_access_rules() {
        let plain = session_settings(&config("a"), 100);
        assert!(plain.get("access_control").is_none() && plain["transport"]["link"].get("tls").is_none());
        let tls = Tls { ca: "ca.pem".into(), certificate: "a.pem".into(), key: "a.key".into() };
        let secure = Config { insecure: false, tls: Some(tls), ..config("a") };
        let settings = session_settings(&secure, 100);
        assert_eq!(settings["listen"]["endpoints"], json!(["tls/127.0.0.1:7000#tls_handshake_timeout_ms=2000"]));
        assert_eq!(settings["transport"]["link"]["tls"]["enable_mtls"], true);
        assert_eq!(settings["access_control"]["default_permission"], "deny");
    }
}
