//! Asking a node for its status.
#![allow(clippy::disallowed_methods, reason = "an answer is waited for in real time")]

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

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
    let resolved = address.to_socket_addrs()?.next();
    let resolved = resolved.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such host"))?;
    let mut stream = TcpStream::connect_timeout(&resolved, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // HTTP 1.0 is enough: the answer ends with the connection.
    write!(stream, "GET {page} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let answer = read_answer(stream)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads to the end, within limits of time and length for the whole: each byte could otherwise come
/// just in time for ever.
fn read_answer(mut stream: TcpStream) -> io::Result<String> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const LONGEST: usize = 16 << 20;
    let (begun, mut answer, mut part) = (Instant::now(), Vec::new(), [0; 1 << 14]);
    loop {
        let length = stream.read(&mut part)?;
        if length == 0 {
            break;
        }
        answer.extend_from_slice(&part[..length]);
        if begun.elapsed() > PATIENCE || answer.len() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the answer is too slow or too long"));
        }
    }
    String::from_utf8(answer).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// An address at which whoever asks gets these bytes, one every some milliseconds.
    fn dripping(bytes: &'static [u8], every: Duration) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // The other side may have hung up.
            while !bytes.is_empty() && bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok()) {
                std::thread::sleep(every);
            }
        });
        address
    }

    #[test]
    fn an_answer_without_an_end_is_given_up() {
        let begun = Instant::now();
        let error = ask(&dripping(b"x", Duration::from_millis(200))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(20));
        let error = ask(&dripping(&[b'x'; 4096], Duration::ZERO)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "it is too long");
    }
}
