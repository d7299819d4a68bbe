//! How relays are reached over the network.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
};

use hookmitt_call::{Tls, Trust, way_out, way_to};

use crate::{CA_VARIABLE, TunnelError};

/// How relays are reached: directly over TLS, never through a proxy.
#[derive(Clone)]
pub struct Network {
    pub(crate) tls: Tls,
    ways: Ways,
}

/// Returns the local address from which a peer, or the internet, is reached at the moment.
type Ways = Arc<dyn Fn(Option<SocketAddr>) -> Option<IpAddr> + Send + Sync>;

impl Network {
    /// Trusts Mozilla's root certificates, which are built into hookmitt, and the system's store.
    pub fn new() -> Self {
        Self::by(Trust::with_system())
    }

    /// Like [`Network::new`]; also trusts the certificate authorities in the file that [`CA_VARIABLE`] names, if it is
    /// set.
    ///
    /// # Errors
    /// Returns [`TunnelError::Certificates`] if the file can't be used.
    pub fn from_env() -> Result<Self, TunnelError> {
        match std::env::var_os(CA_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::with_authorities(Path::new(&path)),
            None => Ok(Self::new()),
        }
    }

    /// Like [`Network::new`]; also trusts the certificate authorities in a PEM file.
    ///
    /// # Errors
    /// Returns [`TunnelError::Certificates`] if the file can't be used.
    pub fn with_authorities(path: &Path) -> Result<Self, TunnelError> {
        let trust = Trust::with_system().and_file(path, "there is none in it");
        let trust =
            trust.map_err(|reason| TunnelError::Certificates { path: path.display().to_string(), reason })?;
        Ok(Self::by(trust))
    }

    /// For tests: takes local addresses from `ways` instead of the routing table.
    #[doc(hidden)]
    pub fn with_ways(
        mut self,
        ways: impl Fn(Option<SocketAddr>) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.ways = Arc::new(ways);
        self
    }

    /// Returns the local address from which a peer is reached at the moment, or the internet as long as no peer is
    /// known. If it changes or disappears, the network changed.
    pub(crate) fn way_to(&self, peer: Option<SocketAddr>) -> Option<IpAddr> {
        (self.ways)(peer)
    }

    fn by(trust: Trust) -> Self {
        Self { tls: Tls::new(trust), ways: Arc::new(|peer| peer.map_or_else(way_out, way_to)) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let refused = || Network::with_authorities(&path).unwrap_err().to_string();
        assert!(refused().contains("HOOKMITT_RELAY_CA="), "{}", refused());
        std::fs::write(&path, "nothing").unwrap();
        assert!(refused().ends_with("there is none in it"), "{}", refused());
        std::fs::write(&path, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
        assert!(refused().contains("can't be used"), "{}", refused());
    }
}
