//! A node's status over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode;

use crate::metrics::{RoundTimes, registry};
use crate::status::Shared;

/// The port is not to be had.
#[derive(Debug, thiserror::Error)]
#[error("http = \"{address}\": {error}; choose a free address of this host")]
pub struct ServerError {
    address: SocketAddr,
    error: std::io::Error,
}

/// Serves `/metrics`, `/status`, `/livez` and `/readyz` from a thread of its own, and says where.
pub fn serve(address: SocketAddr, status: Shared, times: &RoundTimes) -> Result<SocketAddr, ServerError> {
    let wrong = |error| ServerError { address, error };
    let registry = Arc::new(registry(status.clone(), times));
    let ready = status.clone();
    let pages = Router::new()
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

fn json(status: &Shared) -> impl IntoResponse + use<> {
    let page = serde_json::to_string_pretty(&status.get()).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], page)
}

fn readiness(status: &Shared) -> impl IntoResponse + use<> {
    if status.get().ready {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "nobody has answered yet\n")
    }
}
