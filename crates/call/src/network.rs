//! The way to providers' hosts, which is the same for everybody who asks them something.

use std::{fmt, net::SocketAddr, time::Duration};

use rustls::{ClientConfig, RootCertStore};
use tokio::{net::TcpStream, time::Instant};
use url::Host;

use crate::{ConnectError, ResolveError, Stream, Tls, TlsError, Trust, connect, resolve};

/// How to reach the providers' hosts.
#[derive(Clone)]
pub struct Network {
    tls: Tls,
    /// The address that is used for every host, in tests.
    address: Option<SocketAddr>,
    /// How long a call may take at most, if not as long as its caller allows.
    limit: Option<Duration>,
}

/// Why there is no connection to a host.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// Its name has no address.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The caller doesn't allow any of its addresses.
    #[error("{0} leads to an address that isn't called")]
    Forbidden(String),
    /// None of its addresses answers.
    #[error("{host}: {error}")]
    Connect {
        /// The host.
        host: String,
        /// Why not.
        error: ConnectError,
    },
    /// It isn't trusted, or doesn't speak TLS.
    #[error("{host}: {error}")]
    Tls {
        /// The host.
        host: String,
        /// Why not.
        error: TlsError,
    },
}

impl Network {
    /// Uses the internet, and trusts only Mozilla's root certificates that are built into this version of hookmitt.
    pub fn new() -> Self {
        Self { tls: Tls::new(Trust::built_in()), address: None, limit: None }
    }

    /// For tests: connects to `address` for every host, and trusts only `roots`.
    #[doc(hidden)]
    pub fn of_test(address: SocketAddr, roots: RootCertStore) -> Self {
        Self { tls: Tls::new(Trust::only(roots)), ..Self::new() }.at(address)
    }

    /// For tests: connects to `address` for every host, with the trust unchanged.
    #[doc(hidden)]
    pub fn at(self, address: SocketAddr) -> Self {
        Self { address: Some(address), ..self }
    }

    /// For tests: allows a call this much time, so that a busy machine is no slow host.
    #[doc(hidden)]
    pub fn patient(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Returns how long a call may take whose caller allows `usual`.
    pub fn limit(&self, usual: Duration) -> Duration {
        self.limit.unwrap_or(usual)
    }

    /// Returns the address that is used for every host, in tests.
    #[doc(hidden)]
    pub const fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns the TLS configuration, for clients that open connections themselves.
    pub fn tls_config(&self) -> ClientConfig {
        self.tls.config()
    }

    /// Opens a plain connection to a host, at one of those of its addresses that `allows` allows.
    ///
    /// # Errors
    /// Fails if the name has no such address, or if none answers before `deadline`.
    pub async fn connect(
        &self,
        host: &Host<&str>,
        port: u16,
        deadline: Instant,
        allows: impl Fn(&SocketAddr) -> bool,
    ) -> Result<TcpStream, ReachError> {
        let addresses = match self.address {
            Some(address) => vec![address],
            None => resolve(host, port).await?.into_iter().filter(allows).collect(),
        };
        if addresses.is_empty() {
            return Err(ReachError::Forbidden(host.to_string()));
        }
        connect(&addresses, deadline)
            .await
            .map_err(|error| ReachError::Connect { host: host.to_string(), error })
    }

    /// Makes TLS of a connection, in which the host proves who it is.
    ///
    /// # Errors
    /// Fails if the host isn't trusted or speaks no TLS.
    pub async fn secure(&self, host: &Host<&str>, tcp: TcpStream) -> Result<impl Stream + use<>, ReachError> {
        let refused = |error| ReachError::Tls { host: host.to_string(), error };
        self.tls.handshake(host, tcp).await.map_err(refused)
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Network")
    }
}
