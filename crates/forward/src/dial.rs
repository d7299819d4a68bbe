//! Opening the connection: every address in turn, TLS where the target wants it, never a proxy.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use rustls::{RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::TlsConnector;
use url::Host;

use crate::{TargetUrl, target_url::is_localhost};

/// How long [`answers`] waits.
const PROBE: Duration = Duration::from_secs(1);

/// What `https` targets are checked against; made once and shared.
#[derive(Clone)]
pub struct Tls(TlsConnector);

impl Tls {
    /// Trusts Mozilla's roots as this version of hookmitt carries them.
    pub fn new() -> Self {
        Self::trusting(hookmitt_call::roots())
    }

    /// Trusts `roots` alone.
    pub fn trusting(roots: RootCertStore) -> Self {
        Self(TlsConnector::from(Arc::new(hookmitt_call::tls(roots))))
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Tls")
    }
}

/// A connection, plain or within TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum DialError {
    /// Nobody is there; nothing was sent.
    Unreachable(String),
    /// Somebody may be there.
    Broken(String),
    /// This machine has no file handle left to try with.
    Hindered(String),
}

/// Connects to `target`, until `deadline`.
pub(crate) async fn open(
    target: &TargetUrl,
    deadline: Instant,
    tls: &Tls,
) -> Result<Box<dyn Stream>, DialError> {
    let addresses = resolve(target, deadline).await.map_err(DialError::Unreachable)?;
    let stream = connect(target, &addresses, deadline).await?;
    if !target.is_tls() {
        return Ok(Box::new(stream));
    }
    let name = server_name(target)?;
    match timeout_at(deadline, tls.0.connect(name, stream)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error)) => Err(DialError::Broken(format!("TLS with {} failed: {error}", target.authority()))),
        Err(_) => Err(DialError::Broken(format!("no TLS handshake with {} in time", target.authority()))),
    }
}

/// Whether somebody listens at the target: a TCP connection to any of its addresses within a second.
///
/// # Errors
/// Why there is none, in words.
pub async fn probe(target: &TargetUrl) -> Result<(), String> {
    let deadline = Instant::now() + PROBE;
    let addresses = resolve(target, deadline).await?;
    match connect(target, &addresses, deadline).await {
        Ok(_) => Ok(()),
        Err(DialError::Unreachable(error) | DialError::Broken(error) | DialError::Hindered(error)) => {
            Err(error)
        }
    }
}

/// Whether [`probe`] finds somebody.
pub async fn answers(target: &TargetUrl) -> bool {
    probe(target).await.is_ok()
}

async fn resolve(target: &TargetUrl, deadline: Instant) -> Result<Vec<SocketAddr>, String> {
    let at = |address| SocketAddr::new(address, target.port());
    let name = match target.parsed_host() {
        Host::Ipv4(address) => return Ok(vec![at(IpAddr::V4(*address))]),
        Host::Ipv6(address) => return Ok(vec![at(IpAddr::V6(*address))]),
        // Not asked of DNS (RFC 6761), and both: servers listen on either, and hosts files often know only one.
        Host::Domain(name) if is_localhost(name) => {
            return Ok(vec![at(Ipv4Addr::LOCALHOST.into()), at(Ipv6Addr::LOCALHOST.into())]);
        }
        Host::Domain(name) => name,
    };
    match timeout_at(deadline, lookup_host((name.as_str(), target.port()))).await {
        Ok(Ok(found)) => Some(found.collect::<Vec<_>>())
            .filter(|found| !found.is_empty())
            .ok_or_else(|| format!("the name {name} has no address")),
        Ok(Err(error)) => Err(format!("the name {name} does not resolve: {error}")),
        Err(_) => Err(format!("the name {name} did not resolve in time")),
    }
}

/// Tries each address in turn; each gets its share of the time that is left.
async fn connect(
    target: &TargetUrl,
    addresses: &[SocketAddr],
    deadline: Instant,
) -> Result<TcpStream, DialError> {
    let mut errors = Vec::new();
    let mut slow = false;
    for (left, address) in (1..=addresses.len()).rev().zip(addresses) {
        let share = deadline.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap_or(1);
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true); // only a matter of speed
                return Ok(stream);
            }
            Ok(Err(error)) if lacks_handles(&error) => return Err(DialError::Hindered(error.to_string())),
            Ok(Err(error)) => {
                slow |= error.kind() == io::ErrorKind::TimedOut;
                errors.push(format!("{address}: {}", said(&error)));
            }
            Err(_) => {
                slow = true;
                errors.push(format!("{address}: no connection in time"));
            }
        }
    }
    let error = format!("nothing answers at {} ({})", target.authority(), errors.join("; "));
    Err(if slow { DialError::Broken(error) } else { DialError::Unreachable(error) })
}

/// `EMFILE` and `ENFILE`, alike on Linux and macOS.
fn lacks_handles(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => "no route".to_owned(),
        _ => error.to_string(),
    }
}

fn server_name(target: &TargetUrl) -> Result<ServerName<'static>, DialError> {
    match target.parsed_host() {
        Host::Ipv4(address) => Ok(IpAddr::V4(*address).into()),
        Host::Ipv6(address) => Ok(IpAddr::V6(*address).into()),
        Host::Domain(name) => ServerName::try_from(name.clone())
            .map_err(|error| DialError::Broken(format!("{name} can't be checked by TLS: {error}"))),
    }
}
