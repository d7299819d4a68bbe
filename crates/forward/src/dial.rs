//! Opens the connection to a target, with TLS if its URL says so, and never through a proxy.

use std::{net::SocketAddr, time::Duration};

use hookmitt_call::{AddressError, ConnectError, Stream, Tls, TlsError, Trust, resolve};
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

use crate::TargetUrl;

/// How long [`answers`] waits.
const PROBE: Duration = Duration::from_secs(1);

/// Why no connection could be made.
#[derive(Debug)]
pub(crate) enum DialError {
    /// Nobody listens there. Nothing was sent.
    Unreachable(String),
    /// Somebody may listen there.
    Broken(String),
    /// This machine has no file descriptor left to try with.
    Hindered(String),
}

/// Returns the TLS settings for targets. The user chose the targets, so the system's certificate store is trusted, too.
pub fn tls() -> Tls {
    Tls::new(Trust::with_system())
}

/// Connects to `target`; fails once `deadline` has passed.
pub(crate) async fn open(
    target: &TargetUrl,
    deadline: Instant,
    tls: &Tls,
) -> Result<Box<dyn Stream>, DialError> {
    let addresses = resolved(target, deadline).await.map_err(DialError::Unreachable)?;
    let stream = connected(target, &addresses, deadline).await?;
    if !target.is_tls() {
        return Ok(Box::new(stream));
    }
    match timeout_at(deadline, tls.handshake(target.parsed_host(), stream)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error @ TlsError::Name { .. })) => Err(DialError::Broken(error.to_string())),
        Ok(Err(error)) => Err(DialError::Broken(format!("TLS with {} failed: {error}", target.authority()))),
        Err(_) => Err(DialError::Broken(format!("no TLS handshake with {} in time", target.authority()))),
    }
}

/// Checks that somebody listens at the target: a TCP connection to one of its addresses must open within a second.
///
/// # Errors
/// Returns the reason in words if none opens.
pub async fn probe(target: &TargetUrl) -> Result<(), String> {
    let deadline = Instant::now() + PROBE;
    let addresses = resolved(target, deadline).await?;
    match connected(target, &addresses, deadline).await {
        Ok(_) => Ok(()),
        Err(DialError::Unreachable(error) | DialError::Broken(error) | DialError::Hindered(error)) => {
            Err(error)
        }
    }
}

/// Returns whether [`probe`] succeeds.
pub async fn answers(target: &TargetUrl) -> bool {
    probe(target).await.is_ok()
}

/// Returns the target's addresses; none if its name doesn't resolve.
pub async fn addresses(target: &TargetUrl) -> Vec<SocketAddr> {
    resolve(target.parsed_host(), target.port()).await.unwrap_or_default()
}

async fn resolved(target: &TargetUrl, deadline: Instant) -> Result<Vec<SocketAddr>, String> {
    let found = timeout_at(deadline, resolve(target.parsed_host(), target.port())).await;
    let found = found.map_err(|_| format!("the name {} did not resolve in time", target.host()))?;
    found.map_err(|error| error.to_string())
}

async fn connected(
    target: &TargetUrl,
    addresses: &[SocketAddr],
    deadline: Instant,
) -> Result<TcpStream, DialError> {
    hookmitt_call::connect(addresses, deadline).await.map_err(|error| no_connection(target, &error))
}

fn no_connection(target: &TargetUrl, error: &ConnectError) -> DialError {
    let no_handle = error.reasons().find(|why| matches!(why, AddressError::NoHandle(_)));
    if let Some(why) = no_handle {
        return DialError::Hindered(why.to_string());
    }
    let words = format!("nothing answers at {} ({error})", target.authority());
    if error.is_slow() { DialError::Broken(words) } else { DialError::Unreachable(words) }
}
