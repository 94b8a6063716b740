//! What shows others who a node is.

use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{SealScheme, Unsealed};
use fabnet_files::Files;
use fabnet_net::{CertificateWatch, Config, MemberKeys, PkiError};

/// The certificates of a node, and the keys by which it seals and checks seals.
pub(crate) struct Credentials {
    /// None for a node without certificates.
    pub(crate) watch: Option<CertificateWatch>,
    /// None in a run without seals.
    pub(crate) keys: Option<Arc<MemberKeys>>,
}

impl Credentials {
    /// Reads what the configuration of a node names, at this time.
    pub(crate) fn open(files: Arc<dyn Files>, config: &Config, unix_time: Duration) -> Result<Self, PkiError> {
        let open_watch = |tls| CertificateWatch::open(files.clone(), tls, unix_time);
        let watch = config.tls.as_ref().map(open_watch).transpose()?;
        let keys = MemberKeys::open(files, config)?.map(Arc::new);
        if watch.is_some() && keys.is_none() {
            tracing::warn!(
                "no seals: others than the authority of the run have issued the certificate, so each member is \
                 believed in what it says of the lives of others"
            );
        }
        Ok(Self { watch, keys })
    }

    /// The seals of the run.
    pub(crate) fn scheme(&self) -> Arc<dyn SealScheme> {
        match &self.keys {
            Some(keys) => keys.clone(),
            None => Arc::new(Unsealed),
        }
    }
}
