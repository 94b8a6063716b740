//! What a node does about its certificates while it runs.

use std::sync::Arc;

use crate::clock::Clock;
use crate::pki::{CertificateNews, CertificateWatch};
use crate::status::CertificateStatus;
use crate::transport::Reconnect;

/// Warns before certificates expire, and connects again when their files have changed. As long as
/// no file changes, nothing here touches the transport.
pub(super) struct CertificateKeeper {
    /// None for a node without certificates.
    watch: Option<CertificateWatch>,
    reconnect: Option<Arc<dyn Reconnect>>,
    /// Whether a new certificate waits for a connection of its own.
    is_connection_due: bool,
}

impl CertificateKeeper {
    pub(super) fn new(watch: Option<CertificateWatch>, reconnect: Option<Arc<dyn Reconnect>>) -> Self {
        Self { watch, reconnect, is_connection_due: false }
    }

    /// Says what is new, which is returned as well, and connects again if that is due.
    pub(super) fn check(&mut self, clock: &dyn Clock) -> Vec<CertificateNews> {
        let Some(watch) = &mut self.watch else { return Vec::new() };
        let news = watch.look(clock.now(), clock.unix_time());
        for news in &news {
            self.is_connection_due |= matches!(news, CertificateNews::Renewed { needs_connection: true, .. });
            news.log();
        }
        if let Some(reconnect) = self.reconnect.as_ref().filter(|_| self.is_connection_due) {
            // The transport refuses while it connects for another reason: it is asked again then.
            self.is_connection_due = !reconnect.reopen();
        }
        news
    }

    /// What the node says of its certificates.
    pub(super) fn status(&self, clock: &dyn Clock) -> Option<CertificateStatus> {
        self.watch.as_ref().map(|watch| CertificateStatus::of(&watch.expiry(clock.unix_time())))
    }
}
