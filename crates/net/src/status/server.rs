//! A node's status over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode;

use super::metrics::{RoundTimes, registry};
use super::node_status::SharedStatus;

/// The address of `http` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("http = \"{address}\": {error}; choose a free address of this host")]
pub struct ServerError {
    address: SocketAddr,
    error: std::io::Error,
}

/// Serves `/metrics`, `/status`, `/livez` and `/readyz` from a thread of its own. Returns the
/// address, whose port the system has chosen if 0 was asked for.
pub fn serve(address: SocketAddr, status: SharedStatus, times: &RoundTimes) -> Result<SocketAddr, ServerError> {
    let wrong = |error| ServerError { address, error };
    let registry = Arc::new(registry(status.clone(), times));
    let ready = status.clone();
    let pages = axum::Router::new()
        .route("/metrics", get(move || async move { metrics(&registry) }))
        .route("/status", get(move || async move { json(&status) }))
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(move || async move { readiness(&ready) }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(wrong)?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind(address)).map_err(wrong)?;
    let bound = listener.local_addr().map_err(wrong)?;
    let serving = move || {
        if let Err(error) = runtime.block_on(async { axum::serve(listener, pages).await }) {
            tracing::error!(%error, "metrics are no longer served");
        }
    };
    std::thread::Builder::new().name("http".into()).spawn(serving).map_err(wrong)?;
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

fn json(status: &SharedStatus) -> impl IntoResponse + use<> {
    let page = serde_json::to_string_pretty(&status.get()).unwrap_or_default();
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

    use super::super::client::ask;
    use super::super::node_status::NodeStatus;
    use super::*;

    fn served(status: &SharedStatus) -> SocketAddr {
        serve(([127, 0, 0, 1], 0).into(), status.clone(), &RoundTimes::default()).unwrap()
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
        let error = serve(address, SharedStatus::default(), &RoundTimes::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("http = \"{address}\"")) && error.contains("choose a free address"), "{error}");
    }
}
