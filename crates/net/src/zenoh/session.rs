//! Opening a Zenoh session.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use zenoh::{Session, Wait};

use super::config::session_settings;
use crate::config::Config;
use crate::transport::OpenError;

/// How often routers that accept connections may refuse a node before it gives up.
const REFUSALS: usize = 3;

impl From<zenoh::Error> for OpenError {
    fn from(error: zenoh::Error) -> Self {
        Self(error.to_string())
    }
}

/// Joins a run as the node that the configuration is of, for messages up to a length in bytes. A
/// member that needs a router waits until one can be reached.
pub fn open_session(config: &Config, longest: usize) -> Result<Session, OpenError> {
    let settings = session_settings(config, longest).to_string();
    let mut refused = 0;
    loop {
        match zenoh::open(zenoh::Config::from_json5(&settings)?).wait() {
            // Only to a router must there be a way at once. It may begin to listen between our
            // attempt and our look, so one refusal says nothing.
            Err(_) if config.listens_at().is_none() && refused < REFUSALS => {
                if config.calls().any(accepts_connections) {
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

/// Whether anything accepts TCP connections at an address.
pub(super) fn accepts_connections(address: &str) -> bool {
    let mut addresses = address.to_socket_addrs().into_iter().flatten();
    addresses.any(|address| TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_reached_as_long_as_somebody_listens_there() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        assert!(accepts_connections(&address));
        drop(listener);
        assert!(!accepts_connections(&address));
        assert!(!accepts_connections("not an address"));
    }
}
