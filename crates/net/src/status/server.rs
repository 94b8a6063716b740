//! A node's status over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use fabnet_http::HttpServer;
use fabnet_watch::Hello;
use prometheus_client::encoding::text::encode;
use serde::Serialize;

use super::metrics::{RoundTimes, registry};
use super::node_status::SharedStatus;

/// The address of `http` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("http = \"{address}\": {error}; choose a free address of this host")]
pub struct ServerError {
    address: SocketAddr,
    error: std::io::Error,
}

/// Serves `/metrics`, `/status`, `/hello`, `/livez` and `/readyz` from a thread of its own. Returns
/// the address, whose port the system has chosen if 0 was asked for. `hello` says what is run.
pub fn serve(
    address: SocketAddr,
    status: SharedStatus,
    times: &RoundTimes,
    hello: Hello,
) -> Result<SocketAddr, ServerError> {
    let wrong = |error| ServerError { address, error };
    let registry = Arc::new(registry(status.clone(), times));
    let ready = status.clone();
    let pages = axum::Router::new()
        .route("/metrics", get(move || async move { metrics(&registry) }))
        .route("/status", get(move || async move { json(&status.get()) }))
        .route("/hello", get(move || async move { json(&hello) }))
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(move || async move { readiness(&ready) }));
    let server = HttpServer::listen(address).map_err(wrong)?;
    let bound = server.address().map_err(wrong)?;
    server.serve("http", pages).map_err(wrong)?;
    Ok(bound)
}

fn metrics(registry: &prometheus_client::registry::Registry) -> impl IntoResponse + use<> {
    let mut page = String::new();
    match encode(&mut page, registry) {
        Ok(()) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            (StatusCode::OK, [(header::CONTENT_TYPE, kind)], page)
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, [(header::CONTENT_TYPE, "text/plain")], error.to_string()),
    }
}

fn json<C: Serialize>(content: &C) -> impl IntoResponse + use<C> {
    let page = serde_json::to_string_pretty(content).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], page)
}

fn readiness(status: &SharedStatus) -> impl IntoResponse + use<> {
    if status.get().ready {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "nobody has answered yet\n")
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use fabnet_watch::{RunSource, TimeUnit};

    use super::super::client::{ask, ask_hello};
    use super::super::node_status::NodeStatus;
    use super::*;

    fn hello() -> Hello {
        Hello::new(RunSource::Nodes, TimeUnit::Seconds, 3)
    }

    fn served(status: &SharedStatus) -> SocketAddr {
        serve(([127, 0, 0, 1], 0).into(), status.clone(), &RoundTimes::default(), hello()).unwrap()
    }

    fn get(address: SocketAddr, page: &str) -> String {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(stream, "GET {page} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn the_status_that_is_asked_for_is_the_newest() {
        let status = SharedStatus::default();
        let address = served(&status);
        for seconds in [1.0, 2.5] {
            status.change(|status| *status = NodeStatus { seconds, node: "alpha".into(), ..NodeStatus::default() });
            let answer = ask(&address.to_string()).unwrap();
            assert_eq!((answer.node.as_str(), answer.seconds), ("alpha", seconds));
        }
    }

    #[test]
    fn whoever_asks_is_told_what_is_run() {
        let address = served(&SharedStatus::default()).to_string();
        assert_eq!(ask_hello(&address).unwrap(), hello());
    }

    #[test]
    fn a_node_is_ready_when_somebody_has_answered_and_alive_at_once() {
        let status = SharedStatus::default();
        let address = served(&status);
        assert!(get(address, "/livez").starts_with("HTTP/1.0 200"));
        let waiting = get(address, "/readyz");
        assert!(waiting.starts_with("HTTP/1.0 503") && waiting.ends_with("nobody has answered yet\n"), "{waiting}");
        status.change(|status| status.ready = true);
        assert!(get(address, "/readyz").starts_with("HTTP/1.0 200"));
    }

    #[test]
    fn metrics_are_served_as_openmetrics() {
        let page = get(served(&SharedStatus::default()), "/metrics");
        assert!(page.contains("content-type: application/openmetrics-text"), "{page}");
        assert!(page.contains("fabnet_node_info") && page.ends_with("# EOF\n"), "{page}");
    }

    #[test]
    fn an_address_that_is_taken_is_named_with_its_key() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let error = serve(address, SharedStatus::default(), &RoundTimes::default(), hello()).unwrap_err().to_string();
        assert!(error.contains(&format!("http = \"{address}\"")) && error.contains("choose a free address"), "{error}");
    }
}
