//! Connects to a relay.

use std::{net::SocketAddr, time::Duration};

use hookmitt_call::{ConnectError, Stream, TlsError, connect, resolve};
use tokio::time::Instant;
use url::Url;

use crate::{Network, TunnelError, check_relay};

/// How long connecting to any of a relay's addresses may take.
const CONNECT: Duration = Duration::from_secs(4);

/// A connection to a relay.
pub(crate) struct Dialled {
    pub(crate) stream: Box<dyn Stream>,
    /// The relay's address.
    pub(crate) peer: SocketAddr,
}

/// Connects to a relay. The caller sets the time limit.
pub(crate) async fn dial(relay: &Url, network: &Network) -> Result<Dialled, TunnelError> {
    check_relay(relay)?;
    let host = relay.host().ok_or(TunnelError::Url("it names no host"))?;
    let port = relay.port_or_known_default().unwrap_or(443);
    let addresses =
        resolve(&host, port).await.map_err(|error| TunnelError::Unreachable(error.to_string()))?;
    let tcp =
        connect(&addresses, Instant::now() + CONNECT).await.map_err(|error| no_connection(relay, &error))?;
    let peer = tcp.peer_addr().map_err(|error| TunnelError::Unreachable(error.to_string()))?;
    if relay.scheme() == "http" {
        return Ok(Dialled { stream: Box::new(tcp), peer });
    }
    match network.tls.handshake(&host, tcp).await {
        Ok(stream) => Ok(Dialled { stream: Box::new(stream), peer }),
        Err(TlsError::Name { .. }) => {
            Err(TunnelError::Url("its host is no name that a certificate can have"))
        }
        Err(TlsError::Refused(error)) => Err(TunnelError::Tls(error.to_string())),
        Err(TlsError::Broken(error)) => {
            Err(TunnelError::Unreachable(format!("TLS with {} failed: {error}", authority(relay))))
        }
    }
}

/// Returns host and port as in a `Host` header line.
pub(crate) fn authority(relay: &Url) -> &str {
    &relay[url::Position::BeforeHost..url::Position::AfterPort]
}

fn no_connection(relay: &Url, error: &ConnectError) -> TunnelError {
    let words = format!("nothing answers at {} ({error})", authority(relay));
    if error.is_refused() { TunnelError::NotRunning(words) } else { TunnelError::Unreachable(words) }
}
