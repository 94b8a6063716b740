//! Messages over Zenoh.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::connection::Connection;
use super::session::accepts_connections;
use crate::config::Config;
use crate::greeting::Greeting;
use crate::inbox::Inbox;
use crate::transport::{OpenError, OpenedTransport, Reconnect, Transport, TransportFactory};

/// Carries messages over a Zenoh session, which it opens again when the node is not heard by
/// somebody within reach: Zenoh can lose one direction between two nodes for good while both count
/// as connected (eclipse-zenoh/zenoh#2806).
#[derive(Clone)]
pub struct ZenohTransport {
    config: Config,
    inbox: Arc<Inbox>,
    /// None while it connects again: what is sent meanwhile is lost, and made good later.
    connection: Arc<Mutex<Option<Connection>>>,
    reconnections: Arc<AtomicU64>,
    /// Whether a thread is connecting again at present.
    is_reconnecting: Arc<AtomicBool>,
}

/// Opens Zenoh transports.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZenohFactory;

impl TransportFactory for ZenohFactory {
    fn open(&self, config: &Config, inbox: &Arc<Inbox>) -> Result<OpenedTransport, OpenError> {
        let zenoh = Arc::new(ZenohTransport::open(config, inbox)?);
        Ok(OpenedTransport { transport: zenoh.clone(), reconnect: Some(zenoh) })
    }
}

impl ZenohTransport {
    /// The time that what waits may take to leave at the end.
    const FAREWELL: Duration = Duration::from_secs(2);
    /// The time that what waits may take to leave before the connection is replaced.
    const CHANGEOVER: Duration = Duration::from_millis(500);
    /// The addresses that are tried at most to see whether anybody can be reached.
    const TRIED: usize = 8;
    /// The time between two attempts to connect again.
    const RETRY: Duration = Duration::from_secs(1);

    /// Joins the other members of a run; what arrives goes into the inbox.
    pub fn open(config: &Config, inbox: &Arc<Inbox>) -> Result<Self, OpenError> {
        let connection = Connection::open(config, inbox)?;
        Ok(Self {
            config: config.clone(),
            inbox: inbox.clone(),
            connection: Arc::new(Mutex::new(Some(connection))),
            reconnections: Arc::default(),
            is_reconnecting: Arc::default(),
        })
    }

    /// Opens a connection in place of the present one, if one of the addresses can be reached.
    fn open_again_if_reached(&self, addresses: &[String]) {
        if addresses.iter().take(Self::TRIED).any(|address| accepts_connections(address)) {
            tracing::warn!("connecting anew: somebody can be reached and is not heard");
            self.open_again(Duration::ZERO);
        }
    }

    /// Opens a connection in place of the present one, from which what waits may leave within this
    /// time.
    fn open_again(&self, farewell: Duration) {
        // The lock is not held while it connects: nobody who sends is to wait for that.
        let old = self.lock().take();
        if let Some(old) = old {
            old.close(farewell);
            let new = self.open_until_it_works();
            *self.lock() = Some(new);
            self.reconnections.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Connects again in a thread of its own, unless one is at it already.
    fn connect_in_background(&self, connect: impl FnOnce(&Self) + Send + 'static) -> bool {
        if self.is_reconnecting.swap(true, Ordering::Relaxed) {
            return false;
        }
        let transport = self.clone();
        let connect = move || {
            connect(&transport);
            transport.is_reconnecting.store(false, Ordering::Relaxed);
        };
        let spawned = std::thread::Builder::new().name("connect".into()).spawn(connect);
        if let Err(error) = &spawned {
            tracing::error!(%error, "cannot connect anew");
            self.is_reconnecting.store(false, Ordering::Relaxed);
        }
        spawned.is_ok()
    }

    /// Tries until it works, because the port may not be free at once.
    fn open_until_it_works(&self) -> Connection {
        loop {
            match Connection::open(&self.config, &self.inbox) {
                Ok(connection) => return connection,
                Err(error) => tracing::warn!(%error, "not connected yet"),
            }
            std::thread::sleep(Self::RETRY);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ZenohTransport {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        if let Some(connection) = &mut *self.lock() {
            connection.send(from, to, bytes);
        }
    }

    fn greet(&self, node: &str, greeting: &Greeting) {
        if let Some(connection) = &*self.lock() {
            connection.greet(node, greeting);
        }
    }

    fn reaches(&self, address: &str) -> bool {
        accepts_connections(address)
    }

    fn close(&self) {
        // Taken out first: the lock is not held while what waits leaves.
        let connection = self.lock().take();
        if let Some(connection) = connection {
            connection.close(Self::FAREWELL);
        }
    }
}

impl Reconnect for ZenohTransport {
    fn reconnect(&self, addresses: Vec<String>) {
        self.connect_in_background(move |transport| transport.open_again_if_reached(&addresses));
    }

    fn reopen(&self) -> bool {
        self.connect_in_background(|transport| transport.open_again(Self::CHANGEOVER))
    }

    fn reconnections(&self) -> u64 {
        self.reconnections.load(Ordering::Relaxed)
    }
}
