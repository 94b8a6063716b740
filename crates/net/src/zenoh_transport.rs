//! Messages over Zenoh.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zenoh::pubsub::Subscriber;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use crate::config::{Config, Manifest};
use crate::engine::{self, OpenError, answers};
use crate::inbox::{Inbox, Input};
use crate::outbox::Outbox;
use crate::refusals::Reason;
use crate::transport::Transport;

/// Keys are `fabnet/RUN/FROM/TO`, by agents; and `fabnet/RUN/hello/NODE`, by which nodes find out whether they run the same.
#[derive(Clone)]
pub struct ZenohTransport {
    config: Config,
    inbox: Arc<Inbox>,
    /// None while it connects anew: what is sent meanwhile is lost, and made good later.
    connection: Arc<Mutex<Option<Connection>>>,
    renewals: Arc<AtomicU64>,
    /// Whether a thread is about it.
    renewing: Arc<AtomicBool>,
}

impl ZenohTransport {
    /// How long what waits may take to leave at the end.
    const FAREWELL: Duration = Duration::from_secs(2);
    /// Addresses that are tried, at most, to see whether anybody can be reached.
    const TRIED: usize = 8;
    /// The time between two attempts to connect anew.
    const RETRY: Duration = Duration::from_secs(1);

    /// Joins the other members of a run; what arrives goes into the inbox.
    pub fn open(config: &Config, inbox: &Arc<Inbox>) -> Result<Self, OpenError> {
        let connection = Connection::open(config, inbox)?;
        Ok(Self {
            config: config.clone(),
            inbox: inbox.clone(),
            connection: Arc::new(Mutex::new(Some(connection))),
            renewals: Arc::default(),
            renewing: Arc::default(),
        })
    }

    /// Until it works: the port may not be free at once.
    fn insist(config: &Config, inbox: &Arc<Inbox>) -> Connection {
        loop {
            match Connection::open(config, inbox) {
                Ok(connection) => return connection,
                Err(error) => tracing::warn!(%error, "not connected yet"),
            }
            std::thread::sleep(Self::RETRY);
        }
    }

    /// Says which manifest this node has.
    pub fn greet(&self, node: &str, manifest: &Manifest) {
        if let Some(connection) = &*lock(&self.connection) {
            // Who does not hear it is greeted again.
            let _ = connection.session.put(format!("{}/hello/{node}", connection.prefix), manifest.to_string()).wait();
        }
    }
}

impl Transport for ZenohTransport {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        if let Some(connection) = &mut *lock(&self.connection) {
            connection.send(from, to, bytes);
        }
    }

    fn renew(&self, ways: Vec<String>) {
        if self.renewing.swap(true, Ordering::Relaxed) {
            return;
        }
        let Self { config, inbox, connection, renewals, renewing } = self.clone();
        let renew = move || {
            let reached = ways.iter().take(Self::TRIED).any(|way| answers(way));
            // Not held while it connects: nobody who sends is to wait for that.
            let old = if reached { lock(&connection).take() } else { None };
            if let Some(old) = old {
                tracing::warn!("connecting anew: somebody can be reached and is not heard");
                old.close(Duration::ZERO);
                let new = Self::insist(&config, &inbox);
                *lock(&connection) = Some(new);
                renewals.fetch_add(1, Ordering::Relaxed);
            }
            renewing.store(false, Ordering::Relaxed);
        };
        if let Err(error) = std::thread::Builder::new().name("connect".into()).spawn(renew) {
            tracing::error!(%error, "cannot connect anew");
            self.renewing.store(false, Ordering::Relaxed);
        }
    }

    fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed)
    }

    fn close(&self) {
        if let Some(connection) = lock(&self.connection).take() {
            connection.close(Self::FAREWELL);
        }
    }
}

/// A session, with everything that belongs to it.
struct Connection {
    session: Session,
    prefix: String,
    outboxes: BTreeMap<(u32, u32), Outbox>,
    _subscribers: Vec<Subscriber<()>>,
}

impl Connection {
    fn open(config: &Config, inbox: &Arc<Inbox>) -> Result<Self, OpenError> {
        let me = config.me().ok_or_else(|| OpenError("this node is no member".into()))?;
        let session = engine::open(config, inbox.longest())?;
        let prefix = format!("fabnet/{}", config.run);
        let mut subscribers = Vec::new();
        for &to in &me.agents {
            let inbox = inbox.clone();
            let arrived = move |sample: Sample| arrived(&inbox, to, &sample);
            subscribers.push(session.declare_subscriber(format!("{prefix}/*/{to}")).callback(arrived).wait()?);
        }
        let hello = inbox.clone();
        let greeted = move |sample: Sample| {
            let node = sample.key_expr().as_str().rsplit('/').next().unwrap_or_default().to_owned();
            if sample.payload().len() <= 64
                && let Ok(manifest) = sample.payload().try_to_string()
            {
                hello.put(Input::Hello { node, manifest: manifest.into_owned() });
            }
        };
        subscribers.push(session.declare_subscriber(format!("{prefix}/hello/*")).callback(greeted).wait()?);
        Ok(Self { session, prefix, outboxes: BTreeMap::new(), _subscribers: subscribers })
    }

    fn send(&mut self, from: u32, to: u32, bytes: Vec<u8>) {
        if let Some(outbox) = self.outboxes.get(&(from, to)) {
            return outbox.put(bytes);
        }
        match self.outbox(from, to) {
            Ok(outbox) => {
                outbox.put(bytes);
                self.outboxes.insert((from, to), outbox);
            }
            Err(error) => tracing::warn!(from, to, %error, "no way to a neighbour"),
        }
    }

    fn outbox(&self, from: u32, to: u32) -> Result<Outbox, OpenError> {
        let key = format!("{}/{from}/{to}", self.prefix);
        let publisher = self.session.declare_publisher(key).congestion_control(CongestionControl::Block).wait()?;
        let send = move |bytes: Vec<u8>| {
            // It is certain of nothing: the ledger is.
            let _ = publisher.put(bytes).wait();
        };
        Outbox::new(format!("to {to}"), send).map_err(|error| OpenError(error.to_string()))
    }

    /// Ends, after what waits has left or this time has passed.
    fn close(mut self, farewell: Duration) {
        let until = Instant::now() + farewell;
        for outbox in self.outboxes.values() {
            outbox.drain(until);
        }
        self.outboxes.clear();
        if let Err(error) = self.session.close().wait() {
            tracing::warn!(%error, "the session did not close");
        }
    }
}

fn lock(connection: &Mutex<Option<Connection>>) -> MutexGuard<'_, Option<Connection>> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn arrived(inbox: &Inbox, to: u32, sample: &Sample) {
    let from = sample.key_expr().as_str().rsplit('/').nth(1).and_then(|from| from.parse().ok());
    match from {
        Some(from) => inbox.message(from, to, sample.payload().len(), || sample.payload().to_bytes().into_owned()),
        None => inbox.refusals().count(Reason::Forged),
    }
}
