//! The page over HTTP: live, read-only, and on this machine alone.

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
use futures_util::stream::{self, Stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::follower::{Follower, NamedItem};
use crate::page::{content_security_policy, page};

/// Where the recording is that is shown at present; another one may take its place.
pub type CurrentRecording = Arc<dyn Fn() -> Option<PathBuf> + Send + Sync>;

/// How often a recording is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The largest number of browsers that follow at once.
const CLIENTS: usize = 32;

/// What all requests share.
#[derive(Clone)]
struct Shared {
    files: Arc<dyn Files>,
    current: CurrentRecording,
    clients: Arc<Semaphore>,
}

/// What one browser has been sent.
struct Client {
    shared: Shared,
    follower: Option<Follower>,
    waiting: std::vec::IntoIter<NamedItem>,
    _place: OwnedSemaphorePermit,
}

/// Serves the page from a thread of its own. Returns the address, whose port the system has chosen
/// if 0 was asked for.
pub fn serve(address: SocketAddr, files: Arc<dyn Files>, current: CurrentRecording) -> std::io::Result<SocketAddr> {
    let shared = Shared { files, current, clients: Arc::new(Semaphore::new(CLIENTS)) };
    let pages = axum::Router::new()
        .route("/", get(|| async { Html(page(None)) }))
        .route("/stream", get(follow))
        .with_state(shared)
        .layer(middleware::from_fn(guard));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind(address))?;
    let bound = listener.local_addr()?;
    let serving = move || {
        // It ends with the process; a listener that fails has nothing left to say.
        _ = runtime.block_on(async { axum::serve(listener, pages).await });
    };
    std::thread::Builder::new().name("watch".into()).spawn(serving)?;
    Ok(bound)
}

/// Refuses requests for another host and those of other pages, which a browser sends on behalf of
/// anybody, and adds what the page may do.
async fn guard(request: Request, next: Next) -> Response {
    if !is_for_this_host(request.headers()) || !is_of_this_page(request.headers()) {
        return (StatusCode::FORBIDDEN, "this page is shown on this machine only\n").into_response();
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
    text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://") == text(header::HOST))
}

async fn follow(State(shared): State<Shared>) -> Response {
    let Ok(place) = shared.clients.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many browsers follow this run already\n").into_response();
    };
    let client = Client { shared, follower: None, waiting: Vec::new().into_iter(), _place: place };
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
        let Some(current) = (self.shared.current)() else { return };
        if self.follower.as_ref().is_none_or(|follower| follower.path() != current) {
            self.follower = Some(Follower::new(&current));
        }
        let read = self.follower.as_mut().map(|follower| follower.read(&*self.shared.files));
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
        let current: CurrentRecording = Arc::new(|| Some("watch".into()));
        (serve(([127, 0, 0, 1], 0).into(), files, current).unwrap(), recording)
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
