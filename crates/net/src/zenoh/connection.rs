//! One Zenoh session, with everything that belongs to it.
#![allow(clippy::disallowed_methods, reason = "what waits to leave is waited for in real time")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zenoh::pubsub::Subscriber;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use super::session::open_session;
use crate::config::Config;
use crate::greeting::Greeting;
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::refusals::RefusalReason;
use crate::transport::OpenError;

/// A session, its subscriptions, and a queue for each pair of agents that has exchanged anything.
///
/// Keys are `fabnet/RUN/FROM/TO`, by agents; and `fabnet/RUN/hello/NODE`, by which nodes find out
/// whether they run the same.
pub(super) struct Connection {
    session: Session,
    prefix: String,
    outboxes: BTreeMap<(u32, u32), Outbox>,
    _subscribers: Vec<Subscriber<()>>,
}

impl Connection {
    pub(super) fn open(config: &Config, inbox: &Arc<Inbox>) -> Result<Self, OpenError> {
        let me = config.me().ok_or_else(|| OpenError("this node is no member".into()))?;
        let session = open_session(config, inbox.longest())?;
        let prefix = format!("fabnet/{}", config.run);
        let mut subscribers = Vec::new();
        for &to in &me.agents {
            let inbox = inbox.clone();
            let arrived = move |sample: Sample| message_arrived(&inbox, to, &sample);
            subscribers.push(session.declare_subscriber(format!("{prefix}/*/{to}")).callback(arrived).wait()?);
        }
        let inbox = inbox.clone();
        let greeted = move |sample: Sample| greeting_arrived(&inbox, &sample);
        subscribers.push(session.declare_subscriber(format!("{prefix}/hello/*")).callback(greeted).wait()?);
        Ok(Self { session, prefix, outboxes: BTreeMap::new(), _subscribers: subscribers })
    }

    pub(super) fn send(&mut self, from: u32, to: u32, bytes: Vec<u8>) {
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
            // Whether it arrives is the business of the ledger, which repairs what was lost.
            let _ = publisher.put(bytes).wait();
        };
        Outbox::new(format!("to {to}"), send).map_err(|error| OpenError(error.to_string()))
    }

    pub(super) fn greet(&self, node: &str, greeting: &Greeting) {
        // Whoever does not hear it is greeted again.
        let _ = self.session.put(format!("{}/hello/{node}", self.prefix), greeting.to_string()).wait();
    }

    /// Ends after what waits has left, or after this time.
    pub(super) fn close(mut self, within: Duration) {
        let until = Instant::now() + within;
        for outbox in self.outboxes.values() {
            outbox.drain(until);
        }
        self.outboxes.clear();
        if let Err(error) = self.session.close().wait() {
            tracing::warn!(%error, "the session did not close");
        }
    }
}

fn message_arrived(inbox: &Inbox, to: u32, sample: &Sample) {
    let from = sample.key_expr().as_str().rsplit('/').nth(1).and_then(|from| from.parse().ok());
    match from {
        Some(from) => inbox.message(from, to, sample.payload().len(), || sample.payload().to_bytes().into_owned()),
        None => inbox.refusals().count(RefusalReason::Forged),
    }
}

fn greeting_arrived(inbox: &Inbox, sample: &Sample) {
    let node = sample.key_expr().as_str().rsplit('/').next().unwrap_or_default();
    inbox.greeting(node, &sample.payload().to_bytes());
}
