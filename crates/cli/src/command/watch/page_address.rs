//! Where the page of `fabnet watch` is served, and to whom.

use std::net::SocketAddr;
#[cfg(feature = "net")]
use std::path::PathBuf;

use clap::Args;
use fabnet_http::HttpServer;
use fabnet_watch::WatchServer;

use crate::exit_code::UsageError;

/// Where the page is served: on this machine, or over TLS to those who have the token.
#[derive(Args, Default)]
pub(crate) struct PageAddress {
    /// The port of the page on this machine; if not given, a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Serve the page to other machines at this address, over TLS with the certificate of a node;
    /// whoever sees it needs the token that is printed
    #[cfg(feature = "net")]
    #[arg(long, value_name = "ADDRESS", requires = "certificate_of", conflicts_with = "port")]
    listen: Option<SocketAddr>,
    /// The file of the node whose certificate the page is served with
    #[cfg(feature = "net")]
    #[arg(long, value_name = "NODE.toml", requires = "listen")]
    certificate_of: Option<PathBuf>,
}

impl PageAddress {
    /// Serves a page; returns its address for a browser.
    pub(super) fn serve(&self, page: WatchServer) -> anyhow::Result<String> {
        #[cfg(feature = "net")]
        if let (Some(address), Some(file)) = (self.listen, &self.certificate_of) {
            return super::page_for_others::serve(address, file, page);
        }
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let wrong = |error| UsageError(format!("--port {}: {error}", self.port));
        let served = HttpServer::listen(address).and_then(|server| page.serve(server)).map_err(wrong)?;
        Ok(format!("http://{served}/"))
    }
}
