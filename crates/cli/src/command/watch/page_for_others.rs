//! The page for other machines.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use fabnet_http::{CertificateFiles, HttpServer};
use fabnet_net::Config;
use fabnet_watch::WatchServer;

use crate::exit_code::UsageError;

/// Serves a page over TLS with the certificate of the node that a file is of, to everybody who has
/// the token; returns its address for a browser, token included.
pub(super) fn serve(address: SocketAddr, file: &Path, page: WatchServer) -> anyhow::Result<String> {
    let config = Config::read(file)?;
    let no_tls = || UsageError(format!("{}: there is no [tls]; a page for other machines needs it", file.display()));
    let tls = config.tls.ok_or_else(no_tls)?;
    let files = CertificateFiles { certificate: tls.certificate, key: tls.key };
    let server = HttpServer::listen(address).with_context(|| format!("--listen {address}"))?.with_tls(&files)?;
    let token = token()?;
    let served = page.with_token(&token).serve(server)?;
    Ok(format!("https://{served}/?token={token}"))
}

/// A token that nobody can guess: 128 random bits.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::from).context("the system has no random numbers")?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
