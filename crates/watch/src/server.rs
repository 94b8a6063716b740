//! The page over HTTP: live, read-only, and on this machine alone or for those who have a token.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use fabnet_files::Files;
use fabnet_http::HttpServer;
use futures_util::stream::{self, Stream};
use sha2::{Digest, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::follower::{Follower, NamedItem};
use crate::page::{content_security_policy, page};

/// Where the recording is that is shown at present; another one may take its place.
pub type CurrentRecording = Arc<dyn Fn() -> Option<PathBuf> + Send + Sync>;

/// How often a recording is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The largest number of browsers that follow at once.
const CLIENTS: usize = 32;

/// The page of a recording, for browsers.
#[derive(Clone)]
pub struct WatchServer {
    files: Arc<dyn Files>,
    current: CurrentRecording,
    /// What requests must bring with them; if there is nothing, they must come from this machine.
    token: Option<Arc<str>>,
    clients: Arc<Semaphore>,
}

/// What one browser has been sent.
struct Client {
    server: WatchServer,
    follower: Option<Follower>,
    waiting: std::vec::IntoIter<NamedItem>,
    _place: OwnedSemaphorePermit,
}

impl WatchServer {
    /// The page of a recording, for browsers of this machine.
    pub fn new(files: Arc<dyn Files>, current: CurrentRecording) -> Self {
        Self { files, current, token: None, clients: Arc::new(Semaphore::new(CLIENTS)) }
    }

    /// The same, for everybody who knows a token.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// Serves the page from a thread of its own; returns the address.
    pub fn serve(self, server: HttpServer) -> std::io::Result<SocketAddr> {
        let address = server.address()?;
        let pages = axum::Router::new()
            .route("/", get(|| async { Html(page(None)) }))
            .route("/stream", get(follow))
            .layer(middleware::from_fn_with_state(self.clone(), guard))
            .with_state(self);
        server.serve("watch", pages)?;
        Ok(address)
    }

    /// Whether whoever sends a request may see the page.
    fn admits(&self, request: &Request) -> bool {
        let Some(token) = &self.token else { return is_for_this_host(request.headers()) };
        let given = request.uri().query().unwrap_or_default().split('&').find_map(|part| part.strip_prefix("token="));
        // Hashes are compared, so that the time it takes says nothing about the token.
        given.is_some_and(|given| Sha256::digest(given) == Sha256::digest(token.as_bytes()))
    }
}

/// Refuses requests that do not know the token, those for another host and those of other pages,
/// which a browser sends on behalf of anybody, and adds what the page may do.
async fn guard(State(server): State<WatchServer>, request: Request, next: Next) -> Response {
    if !server.admits(&request) || !is_of_this_page(request.headers()) {
        return (StatusCode::FORBIDDEN, "this page is shown on its own machine, or with its token\n").into_response();
    }
    let mut response = next.run(request).await;
    let headers = [
        (header::CONTENT_SECURITY_POLICY, content_security_policy()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Whether a request names this machine: another name means that somebody's name server points
/// here.
fn is_for_this_host(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a request comes from no page, or from this one.
fn is_of_this_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    text(header::ORIGIN).is_none_or(|origin| origin.split_once("://").map(|(_, host)| host) == text(header::HOST))
}

async fn follow(State(server): State<WatchServer>) -> Response {
    let Ok(place) = server.clients.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many browsers follow this run already\n").into_response();
    };
    let client = Client { server, follower: None, waiting: Vec::new().into_iter(), _place: place };
    Sse::new(items(client)).keep_alive(KeepAlive::default()).into_response()
}

/// All items of the current recording, then those that are added.
fn items(client: Client) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(client, |mut client| async {
        loop {
            if let Some(item) = client.waiting.next() {
                return Some((Ok(Event::default().event(item.name).data(item.json)), client));
            }
            client.look();
            if client.waiting.len() == 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    })
}

impl Client {
    /// Reads what is new. A recording that cannot be read at the moment is looked at again later.
    fn look(&mut self) {
        let Some(current) = (self.server.current)() else { return };
        if self.follower.as_ref().is_none_or(|follower| follower.path() != current) {
            self.follower = Some(Follower::new(&current));
        }
        let read = self.follower.as_mut().map(|follower| follower.read(&*self.server.files));
        self.waiting = read.and_then(Result::ok).unwrap_or_default().into_iter();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::path::Path;

    use fabnet_files::MemoryFiles;

    use super::*;
    use crate::{Hello, Item, RunSource, StreamFile, TimeUnit, WatchFrame};

    /// A server of a recording, and the recording.
    fn served() -> (SocketAddr, StreamFile) {
        let files = Arc::new(MemoryFiles::default());
        let hello = Hello::new(RunSource::Run, TimeUnit::Seconds, 2);
        let recording = StreamFile::begin(files.clone(), Path::new("watch"), hello, StreamFile::LIMIT).unwrap();
        let server = WatchServer::new(files, Arc::new(|| Some("watch".into())));
        (serve(server), recording)
    }

    fn serve(server: WatchServer) -> SocketAddr {
        server.serve(HttpServer::listen(([127, 0, 0, 1], 0).into()).unwrap()).unwrap()
    }

    fn ask(address: SocketAddr, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn answer(address: SocketAddr, path: &str, headers: &str) -> String {
        let mut text = String::new();
        ask(address, &format!("GET {path} HTTP/1.0\r\n{headers}\r\n")).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_page_comes_with_a_policy_that_allows_nothing_else() {
        let (address, _) = served();
        let page = answer(address, "/", &format!("Host: {address}\r\n"));
        assert!(page.starts_with("HTTP/1.0 200"), "{page:.200}");
        assert!(page.contains("content-security-policy: default-src 'none'; script-src 'sha256-"), "{page:.900}");
        assert!(page.contains("<title>"));
        assert!(answer(address, "/nothing", &format!("Host: {address}\r\n")).starts_with("HTTP/1.0 404"));
    }

    #[test]
    fn requests_for_other_hosts_and_of_other_pages_are_refused() {
        let (address, _) = served();
        let port = address.port();
        let status = |headers: &str| answer(address, "/", headers)[9..12].to_owned();
        for host in
            [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}"), "localhost".into()]
        {
            assert_eq!(status(&format!("Host: {host}\r\n")), "200", "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", ""] {
            assert_eq!(status(&format!("Host: {host}\r\n")), "403", "{host}");
        }
        assert_eq!(status(""), "403");
        assert_eq!(status("Host: localhost\r\nOrigin: http://localhost\r\n"), "200");
        assert_eq!(status("Host: localhost\r\nOrigin: http://evil.example\r\n"), "403");
    }

    #[test]
    fn a_page_for_others_needs_its_token_whatever_the_host_is() {
        let server = WatchServer::new(Arc::new(MemoryFiles::default()), Arc::new(|| None));
        let address = serve(server.with_token("secret"));
        let status = |path: &str| answer(address, path, "Host: elsewhere.example\r\n")[9..12].to_owned();
        assert_eq!(status("/?token=secret"), "200");
        assert_eq!(status("/?agent=1&token=secret"), "200");
        for path in ["/", "/?token=", "/?token=secre", "/?token=secrets", "/?nottoken=secret", "/stream"] {
            assert_eq!(status(path), "403", "{path}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_not_there() {
        let (address, _) = served();
        for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/stream/../../etc/passwd"] {
            let answer = answer(address, path, "Host: localhost\r\n");
            assert!(answer.starts_with("HTTP/1.0 404") || answer.starts_with("HTTP/1.0 400"), "{path}: {answer:.80}");
        }
    }

    #[test]
    fn items_are_streamed_as_they_are_written() {
        let (address, mut recording) = served();
        let stream = ask(address, &format!("GET /stream HTTP/1.1\r\nHost: {address}\r\n\r\n"));
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "event: hello"));
        recording.add(&Item::Frame(WatchFrame { t: 0.5, k: 3, ..WatchFrame::default() })).unwrap();
        assert!(lines.any(|line| line == "event: frame"));
        assert!(lines.any(|line| line == r#"data: {"t":0.5,"k":3}"#));
    }

    #[test]
    fn a_browser_too_many_is_told_so() {
        let (address, _) = served();
        let request = format!("GET /stream HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let open: Vec<TcpStream> = (0..CLIENTS).map(|_| ask(address, &request)).collect();
        for stream in &open {
            assert!(BufReader::new(stream).lines().map_while(Result::ok).any(|line| line == "event: hello"));
        }
        let refused = answer(address, "/stream", &format!("Host: {address}\r\n"));
        assert!(refused.starts_with("HTTP/1.0 503"), "{refused}");
    }
}
