//! Asking a node for its status.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use fabnet_watch::Hello;
use serde::de::DeserializeOwned;

use super::node_status::NodeStatus;

/// Asks the node that serves its status at an address (host:port).
pub fn ask(address: &str) -> io::Result<NodeStatus> {
    get(address, "/status")
}

/// Asks the node that serves its status at an address what is run.
pub fn ask_hello(address: &str) -> io::Result<Hello> {
    get(address, "/hello")
}

/// Reads a page of JSON.
fn get<C: DeserializeOwned>(address: &str, page: &str) -> io::Result<C> {
    const PATIENCE: Duration = Duration::from_secs(2);
    const LONGEST: u64 = 16 << 20;
    let resolved = address.to_socket_addrs()?.next();
    let resolved = resolved.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such host"))?;
    let mut stream = TcpStream::connect_timeout(&resolved, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // HTTP 1.0 is enough: the answer ends with the connection.
    write!(stream, "GET {page} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
