//! Connects to a relay.

use std::{net::SocketAddr, time::Duration};

use hookmitt_call::{ConnectError, Stream, TlsError, connect, resolve};
use hookmitt_event::NoConnection;
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
    let host = relay.host().ok_or(TunnelError::Url("it has no host"))?;
    let port = relay.port_or_known_default().unwrap_or(443);
    let addresses = resolve(&host, port)
        .await
        .map_err(|error| TunnelError::unreachable(NoConnection::UnknownName, error))?;
    let tcp =
        connect(&addresses, Instant::now() + CONNECT).await.map_err(|error| no_connection(relay, &error))?;
    let peer = tcp.peer_addr().map_err(|error| TunnelError::unreachable(NoConnection::BrokenOff, error))?;
    if relay.scheme() == "http" {
        return Ok(Dialled { stream: Box::new(tcp), peer });
    }
    match network.tls.handshake(&host, tcp).await {
        Ok(stream) => Ok(Dialled { stream: Box::new(stream), peer }),
        Err(TlsError::Name { .. }) => Err(TunnelError::Url("its host can't be in a certificate")),
        Err(TlsError::Plain) => Err(TunnelError::SpeaksHttp(authority(relay).to_owned())),
        Err(TlsError::Refused(error)) => Err(TunnelError::Tls(error.to_string())),
        Err(TlsError::Broken(error)) => {
            let words = format!("TLS with {} failed: {error}", authority(relay));
            Err(TunnelError::unreachable(NoConnection::BrokenOff, words))
        }
    }
}

/// Returns host and port as in a `Host` header line.
pub(crate) fn authority(relay: &Url) -> &str {
    &relay[url::Position::BeforeHost..url::Position::AfterPort]
}

fn no_connection(relay: &Url, error: &ConnectError) -> TunnelError {
    TunnelError::unreachable(error.why(), error.in_words(authority(relay)))
}
