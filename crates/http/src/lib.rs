//! Pages over HTTP within bounds: what a stranger can take up of connections, memory and time is
//! limited, whatever it sends and however slowly it reads.

mod connection;
mod server;
#[cfg(feature = "tls")]
mod tls;

pub use server::{CONNECTIONS, HttpServer};
#[cfg(feature = "tls")]
pub use tls::CertificateFiles;
