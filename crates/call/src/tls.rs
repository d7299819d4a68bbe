//! The TLS handshake, in which a server proves who it is.

use std::{fmt, io, net::IpAddr, sync::Arc};

use hookmitt_event::NoConnection;
use rustls::{
    ClientConfig, InvalidMessage,
    pki_types::{InvalidDnsNameError, ServerName},
};
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
    #[error("{name} can't be verified by TLS: {error}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        error: InvalidDnsNameError,
    },
    /// The server answers without TLS, so it seems to speak http.
    #[error("the server speaks no TLS")]
    Plain,
    /// The server is not trusted, or speaks no TLS that we speak.
    #[error("{0}")]
    Refused(io::Error),
    /// The connection broke.
    #[error("{0}")]
    Broken(io::Error),
}

impl TlsError {
    /// Returns why there is no connection.
    pub fn why(&self) -> NoConnection {
        match self {
            Self::Name { .. } | Self::Plain | Self::Refused(_) => NoConnection::Untrusted,
            Self::Broken(_) => NoConnection::BrokenOff,
        }
    }
}

impl From<io::Error> for TlsError {
    fn from(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            // Where a TLS record should begin, there is something else, such as the text of an answer.
            Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => Self::Plain,
            _ if is_of_tls(&error) => Self::Refused(error),
            _ => Self::Broken(error),
        }
    }
}

/// Whether an error is of TLS itself: the other side is not trusted, or speaks no TLS that we speak.
pub fn is_of_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_of_tls(inner))
}

impl Tls {
    /// Makes a TLS client for HTTP/1.1 that accepts the servers for which `trust` vouches.
    pub fn new(trust: Trust) -> Self {
        Self(TlsConnector::from(Arc::new(trust.into_config())))
    }

    /// Returns its configuration.
    pub(crate) fn config(&self) -> ClientConfig {
        (**self.0.config()).clone()
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
