//! Opening a connection to a relay: every address in turn, and TLS.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use url::{Host, Url};

use crate::{Network, TunnelError, check_relay, relay_url::is_localhost};

/// How long one of several addresses may take.
const ONE_ADDRESS: Duration = Duration::from_secs(4);

/// A connection, plain or within TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection to a relay.
pub(crate) struct Dialled {
    pub(crate) stream: Box<dyn Stream>,
    /// Where the relay is.
    pub(crate) peer: SocketAddr,
}

/// Connects to a relay. The caller limits how long it takes.
pub(crate) async fn dial(relay: &Url, network: &Network) -> Result<Dialled, TunnelError> {
    check_relay(relay)?;
    let (tcp, peer) = connect(relay, &resolve(relay).await?).await?;
    let _ = tcp.set_nodelay(true); // only a matter of speed
    if relay.scheme() == "http" {
        return Ok(Dialled { stream: Box::new(tcp), peer });
    }
    match network.tls.connect(server_name(relay)?, tcp).await {
        Ok(stream) => Ok(Dialled { stream: Box::new(stream), peer }),
        Err(error) if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            Err(TunnelError::Tls(error.to_string()))
        }
        Err(error) => Err(TunnelError::Unreachable(format!("TLS with {} failed: {error}", authority(relay)))),
    }
}

/// Host and port as a `Host` line has them.
pub(crate) fn authority(relay: &Url) -> &str {
    &relay[url::Position::BeforeHost..url::Position::AfterPort]
}

async fn resolve(relay: &Url) -> Result<Vec<SocketAddr>, TunnelError> {
    let port = relay.port_or_known_default().unwrap_or(443);
    let at = |address| SocketAddr::new(address, port);
    let name = match relay.host() {
        Some(Host::Ipv4(address)) => return Ok(vec![at(address.into())]),
        Some(Host::Ipv6(address)) => return Ok(vec![at(address.into())]),
        Some(Host::Domain(name)) if is_localhost(name) => {
            return Ok(vec![at(Ipv4Addr::LOCALHOST.into()), at(Ipv6Addr::LOCALHOST.into())]);
        }
        Some(Host::Domain(name)) => name,
        None => return Err(TunnelError::Url("it names no host")),
    };
    match lookup_host((name, port)).await.map(Iterator::collect::<Vec<_>>) {
        Ok(found) if found.is_empty() => {
            Err(TunnelError::Unreachable(format!("the name {name} has no address")))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(TunnelError::Unreachable(format!("the name {name} does not resolve: {error}"))),
    }
}

async fn connect(relay: &Url, addresses: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), TunnelError> {
    let (mut errors, mut is_refused) = (Vec::new(), false);
    for &address in addresses {
        match timeout(ONE_ADDRESS, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok((stream, address)),
            Ok(Err(error)) => {
                // By the machine itself: the network works.
                is_refused |= error.kind() == io::ErrorKind::ConnectionRefused;
                errors.push(format!("{address}: {}", said(&error)));
            }
            Err(_) => errors.push(format!("{address}: no connection in time")),
        }
    }
    let words = format!("nothing answers at {} ({})", authority(relay), errors.join("; "));
    Err(if is_refused { TunnelError::NotRunning(words) } else { TunnelError::Unreachable(words) })
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => "no route".to_owned(),
        _ => error.to_string(),
    }
}

fn server_name(relay: &Url) -> Result<ServerName<'static>, TunnelError> {
    match relay.host() {
        Some(Host::Ipv4(address)) => Ok(IpAddr::V4(address).into()),
        Some(Host::Ipv6(address)) => Ok(IpAddr::V6(address).into()),
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned())
            .map_err(|_| TunnelError::Url("its host is no name that a certificate can have")),
        None => Err(TunnelError::Url("it names no host")),
    }
}
