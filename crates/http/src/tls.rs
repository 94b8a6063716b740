//! Pages over TLS.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::connection::REQUEST_WITHIN;

/// A certificate and its key, as files in PEM form.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// The certificate itself.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl CertificateFiles {
    /// What shakes hands with this certificate.
    pub(crate) fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let wrong = |path: &Path, error: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        };
        let certificates = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect)
            .map_err(|error| wrong(&self.certificate, &error))?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| wrong(&self.key, &error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| wrong(&self.certificate, &error))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Shakes hands; none if the other side does not, or takes too long.
pub(crate) async fn shake_hands(tls: &TlsAcceptor, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
    timeout(REQUEST_WITHIN, tls.accept(stream)).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    use super::*;
    use crate::HttpServer;

    /// Asks for a page over TLS, with trust in this certificate alone.
    async fn ask(port: u16, trusted: &[u8]) -> io::Result<String> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(trusted).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let name = "localhost".try_into().unwrap();
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }

    #[test]
    fn a_page_is_served_over_tls_to_those_who_trust_its_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let made = || rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let (own, other) = (made(), made());
        let files = CertificateFiles { certificate: folder.path().join("pem"), key: folder.path().join("key") };
        std::fs::write(&files.certificate, own.cert.pem()).unwrap();
        std::fs::write(&files.key, own.signing_key.serialize_pem()).unwrap();
        let server = HttpServer::listen(([127, 0, 0, 1], 0).into()).unwrap().with_tls(&files).unwrap();
        let port = server.address().unwrap().port();
        server.serve("test", Router::new().route("/", get(|| async { "hello" }))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        assert!(runtime.block_on(ask(port, own.cert.pem().as_bytes())).unwrap().ends_with("hello"));
        assert!(runtime.block_on(ask(port, other.cert.pem().as_bytes())).is_err());
    }

    #[test]
    fn files_that_are_no_certificates_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = CertificateFiles { certificate: folder.path().join("none.pem"), key: folder.path().join("key") };
        let error = files.acceptor().err().unwrap().to_string();
        assert!(error.contains("none.pem"), "{error}");
    }
}
