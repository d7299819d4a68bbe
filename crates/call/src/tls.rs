//! The TLS handshake, in which a server proves who it is.

use std::{fmt, io, net::IpAddr, sync::Arc};

use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Host;

use crate::Trust;

/// A plain connection or one within TLS.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A TLS client. It is made once and shared.
#[derive(Clone)]
pub struct Tls(TlsConnector);

/// Why a TLS handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate can be issued for that name.
    #[error("{name} can't be checked by TLS: {error}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        error: InvalidDnsNameError,
    },
    /// The server is not trusted, or speaks no TLS that we speak.
    #[error("{0}")]
    Refused(io::Error),
    /// The connection broke.
    #[error("{0}")]
    Broken(io::Error),
}

impl From<io::Error> for TlsError {
    fn from(error: io::Error) -> Self {
        let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
        if is_tls { Self::Refused(error) } else { Self::Broken(error) }
    }
}

impl Tls {
    /// Makes a TLS client for HTTP/1.1 that accepts the servers for which `trust` vouches.
    pub fn new(trust: Trust) -> Self {
        Self(TlsConnector::from(Arc::new(trust.into_config())))
    }

    /// Performs the TLS handshake over a connection, with a server that must prove to be `host`. The caller has to
    /// limit the time.
    ///
    /// # Errors
    /// Returns a [`TlsError`].
    pub async fn handshake(
        &self,
        host: &Host<impl AsRef<str>>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, TlsError> {
        Ok(self.0.connect(server_name(host)?, stream).await?)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Tls")
    }
}

fn server_name(host: &Host<impl AsRef<str>>) -> Result<ServerName<'static>, TlsError> {
    match host {
        Host::Ipv4(address) => Ok(IpAddr::V4(*address).into()),
        Host::Ipv6(address) => Ok(IpAddr::V6(*address).into()),
        Host::Domain(name) => {
            let name = name.as_ref().to_owned();
            ServerName::try_from(name.clone()).map_err(|error| TlsError::Name { name, error })
        }
    }
}
