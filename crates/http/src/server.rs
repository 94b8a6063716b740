//! A server that accepts a bounded number of connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use axum::Router;
use tokio::net::TcpListener;
#[cfg(feature = "tls")]
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::connection::serve_connection;

/// The largest number of connections at once; others wait until one ends.
pub const CONNECTIONS: usize = 128;

/// The time after which another connection is accepted when the system has no room for one.
const NO_ROOM: Duration = Duration::from_millis(100);

/// A server that listens, and does not answer yet.
pub struct HttpServer {
    runtime: Runtime,
    listener: TcpListener,
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsAcceptor>,
}

impl HttpServer {
    /// Listens at an address; the system chooses the port if it is 0.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        Ok(Self {
            runtime,
            listener,
            #[cfg(feature = "tls")]
            tls: None,
        })
    }

    /// The same, over TLS with this certificate.
    #[cfg(feature = "tls")]
    pub fn with_tls(self, files: &crate::CertificateFiles) -> io::Result<Self> {
        Ok(Self { tls: Some(files.acceptor()?), ..self })
    }

    /// The address at which it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests from a thread of its own with this name, until the process ends.
    pub fn serve(self, name: &str, pages: Router) -> io::Result<()> {
        let serving = move || self.runtime.block_on(accept_all(&self, pages));
        thread::Builder::new().name(name.to_owned()).spawn(serving)?;
        Ok(())
    }

    /// Answers the requests of one connection.
    #[cfg(feature = "tls")]
    async fn answer(stream: TcpStream, pages: Router, tls: Option<tokio_rustls::TlsAcceptor>) {
        match tls {
            None => serve_connection(stream, pages).await,
            Some(tls) => {
                if let Some(stream) = crate::tls::shake_hands(&tls, stream).await {
                    serve_connection(stream, pages).await;
                }
            }
        }
    }
}

/// Accepts one connection after the other, as long as there is room.
async fn accept_all(server: &HttpServer, pages: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, _)) = server.listener.accept().await else {
            // Too many files are open in this process: others may be closed soon.
            tokio::time::sleep(NO_ROOM).await;
            continue;
        };
        #[cfg(feature = "tls")]
        let answered = HttpServer::answer(stream, pages.clone(), server.tls.clone());
        #[cfg(not(feature = "tls"))]
        let answered = serve_connection(stream, pages.clone());
        tokio::spawn(async move {
            answered.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream as Client;
    use std::time::Instant;

    use axum::routing::get;

    use super::*;

    /// A server with a small page and a long one.
    fn served() -> SocketAddr {
        let server = HttpServer::listen(([127, 0, 0, 1], 0).into()).unwrap();
        let address = server.address().unwrap();
        let long = || async { "x".repeat(64 << 20) };
        let pages = Router::new().route("/", get(|| async { "hello" })).route("/long", get(long));
        server.serve("test", pages).unwrap();
        address
    }

    /// What the server answers to these bytes; nothing if it closes the connection.
    fn answer(address: SocketAddr, request: &[u8]) -> String {
        let mut client = Client::connect(address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may have closed it already.
        _ = client.write_all(request);
        let mut answer = Vec::new();
        _ = client.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn is_served(address: SocketAddr) -> bool {
        answer(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("hello")
    }

    #[test]
    fn a_thousand_requests_at_once_are_served() {
        let address = served();
        let clients: Vec<_> = (0..1000).map(|_| thread::spawn(move || is_served(address))).collect();
        assert!(clients.into_iter().all(|client| client.join().unwrap()));
    }

    #[test]
    fn headers_that_are_too_long_or_too_many_are_refused() {
        let address = served();
        let status = |headers: &str| answer(address, format!("GET / HTTP/1.1\r\n{headers}\r\n").as_bytes());
        for headers in [format!("a: {}\r\n", "x".repeat(1 << 20)), "a: b\r\n".repeat(10_000)] {
            let answer = status(&headers);
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer:.60}");
        }
        assert!(is_served(address));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "it measures how long a real server waits")]
    fn those_who_send_nothing_or_too_slowly_are_cut_off_and_others_served() {
        let address = served();
        let begun = Instant::now();
        let mut slow: Vec<Client> = (0..CONNECTIONS).map(|_| Client::connect(address).unwrap()).collect();
        slow.iter_mut().step_by(2).for_each(|client| client.write_all(b"GET / HT").unwrap());
        assert!(is_served(address), "somebody else is served");
        let waited = begun.elapsed();
        assert!(waited > Duration::from_secs(1), "all places were taken: {waited:?}");
        assert!(waited < Duration::from_secs(15), "{waited:?}");
    }

    #[test]
    fn those_who_do_not_read_are_cut_off() {
        let address = served();
        let mut client = Client::connect(address).unwrap();
        client.write_all(b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        thread::sleep(Duration::from_secs(13));
        let mut all = Vec::new();
        _ = client.read_to_end(&mut all);
        assert!(all.len() < 64 << 20, "the page has ended in its middle");
    }
}
