//! Where the page of `fabnet watch` is served, and to whom.

use std::net::SocketAddr;
#[cfg(feature = "net")]
use std::path::PathBuf;

use anyhow::Context;
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
            return serve_to_others(address, file, page);
        }
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let wrong = |error| UsageError(format!("--port {}: {error}", self.port));
        let served = HttpServer::listen(address).and_then(|server| page.serve(server)).map_err(wrong)?;
        Ok(format!("http://{served}/"))
    }
}

/// Serves a page over TLS with the certificate of a node, to everybody who has the token.
#[cfg(feature = "net")]
fn serve_to_others(address: SocketAddr, file: &std::path::Path, page: WatchServer) -> anyhow::Result<String> {
    let config = fabnet_net::Config::read(file)?;
    let no_tls = || UsageError(format!("{}: there is no [tls]; a page for other machines needs it", file.display()));
    let tls = config.tls.ok_or_else(no_tls)?;
    let files = fabnet_http::CertificateFiles { certificate: tls.certificate, key: tls.key };
    let server = HttpServer::listen(address).with_context(|| format!("--listen {address}"))?.with_tls(&files)?;
    let token = token()?;
    let served = page.with_token(&token).serve(server)?;
    Ok(format!("https://{served}/?token={token}"))
}

/// A token that nobody can guess: 128 random bits.
#[cfg(feature = "net")]
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::from).context("the system has no random numbers")?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
