//! How relays are reached.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::Path,
    sync::Arc,
};

use hookmitt_call::{Tls, Trust};

use crate::{CA_VARIABLE, TunnelError};

/// How relays are reached: by TLS, never through a proxy.
#[derive(Clone)]
pub struct Network {
    pub(crate) tls: Tls,
    ways: Ways,
}

/// From which of this machine's addresses a peer is reached now.
type Ways = Arc<dyn Fn(SocketAddr) -> Option<IpAddr> + Send + Sync>;

impl Network {
    /// Trusts Mozilla's roots as this version of hookmitt carries them, and whom the system trusts.
    pub fn new() -> Self {
        Self::by(Trust::with_system())
    }

    /// Trusts those of [`CA_VARIABLE`] as well, where it is set.
    ///
    /// # Errors
    /// [`TunnelError::Certificates`].
    pub fn from_env() -> Result<Self, TunnelError> {
        match std::env::var_os(CA_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::with_authorities(Path::new(&path)),
            None => Ok(Self::new()),
        }
    }

    /// Trusts the certificates in a PEM file as well.
    ///
    /// # Errors
    /// [`TunnelError::Certificates`].
    pub fn with_authorities(path: &Path) -> Result<Self, TunnelError> {
        let trust = Trust::with_system().and_file(path, "there is none in it");
        let trust =
            trust.map_err(|reason| TunnelError::Certificates { path: path.display().to_string(), reason })?;
        Ok(Self::by(trust))
    }

    /// For tests: ways are what `ways` says.
    #[doc(hidden)]
    pub fn with_ways(mut self, ways: impl Fn(SocketAddr) -> Option<IpAddr> + Send + Sync + 'static) -> Self {
        self.ways = Arc::new(ways);
        self
    }

    /// From which of this machine's addresses a peer is reached now: another one, or none, means another network.
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

/// Asks the routing table alone; nothing is sent.
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
