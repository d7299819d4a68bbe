//! How relays are reached over the network.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::Path,
    sync::Arc,
};

use hookmitt_call::{Tls, Trust};

use crate::{CA_VARIABLE, TunnelError};

/// How relays are reached: directly over TLS, never through a proxy.
#[derive(Clone)]
pub struct Network {
    pub(crate) tls: Tls,
    ways: Ways,
}

/// Returns the local address from which a peer is reached at the moment.
type Ways = Arc<dyn Fn(SocketAddr) -> Option<IpAddr> + Send + Sync>;

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
    pub fn with_ways(mut self, ways: impl Fn(SocketAddr) -> Option<IpAddr> + Send + Sync + 'static) -> Self {
        self.ways = Arc::new(ways);
        self
    }

    /// Returns the local address from which a peer is reached at the moment. If it changes or disappears, the network
    /// changed.
    pub(crate) fn way_to(&self, peer: SocketAddr) -> Option<IpAddr> {
        (self.ways)(peer)
    }

    fn by(trust: Trust) -> Self {
        Self { tls: Tls::new(trust), ways: Arc::new(routed) }
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

/// Asks the routing table, and sends nothing.
fn routed(peer: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr =
        if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(peer).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_by_its_own_address() {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(Network::new().way_to(SocketAddr::new(loopback, 4410)), Some(loopback));
    }

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
