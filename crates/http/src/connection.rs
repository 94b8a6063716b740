//! One connection: bounded in the size of what is asked and in the time that it may stand still.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_io_timeout::TimeoutStream;

/// The time within which a request must have been sent.
pub(crate) const REQUEST_WITHIN: Duration = Duration::from_secs(3);

/// The longest time for which a reader may take nothing of an answer.
const STALLED_AFTER: Duration = Duration::from_secs(10);

/// The largest number of bytes of a request's first lines that are kept.
const REQUEST_BYTES: usize = 16 << 10;

/// The largest number of headers of a request.
const HEADERS: usize = 64;

/// Answers one request of a connection, which ends with it: a connection that is kept for later
/// would take the place of another.
pub(crate) async fn serve_connection(stream: impl AsyncRead + AsyncWrite + Unpin, pages: Router) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALLED_AFTER));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_WITHIN).keep_alive(false);
    builder.max_buf_size(REQUEST_BYTES).max_headers(HEADERS);
    // What is wrong with a request concerns nobody but its sender.
    _ = builder.serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(pages)).await;
}
