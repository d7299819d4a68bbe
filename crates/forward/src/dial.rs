//! Opens the connection to a target, with TLS if its URL says so, and never through a proxy.

use std::{net::SocketAddr, time::Duration};

use hookmitt_call::{ConnectError, Stream, Tls, TlsError, Trust, resolve};
use hookmitt_event::{NoConnection, Silence};
use tokio::time::{Instant, timeout_at};

use crate::TargetUrl;

/// How long [`answers`] waits.
const PROBE: Duration = Duration::from_secs(1);

/// Why no connection could be made.
#[derive(Debug)]
pub(crate) enum DialError {
    /// Nobody listens there. Nothing was sent.
    Unreachable(Silence),
    /// Somebody may listen there.
    Broken(String),
    /// This machine has no file descriptor left to try with.
    Hindered(String),
}

/// Why nothing was found to listen at a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody answers there.
    Silent(Silence),
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
    let stream =
        hookmitt_call::connect(&addresses, deadline).await.map_err(|error| no_connection(target, &error))?;
    if !target.is_tls() {
        return Ok(Box::new(stream));
    }
    match timeout_at(deadline, tls.handshake(target.parsed_host(), stream)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error @ TlsError::Name { .. })) => Err(DialError::Broken(error.to_string())),
        Ok(Err(error)) => Err(DialError::Broken(format!("TLS with {} failed: {error}", target.authority()))),
        Err(_) => {
            Err(DialError::Broken(format!("the TLS handshake with {} took too long", target.authority())))
        }
    }
}

/// Checks that somebody listens at the target: a TCP connection to one of its addresses must open within a second.
/// Nothing is sent over it.
///
/// # Errors
/// Returns why none opens.
pub async fn probe(target: &TargetUrl) -> Result<(), Unanswered> {
    let deadline = Instant::now() + PROBE;
    let addresses = resolved(target, deadline).await.map_err(Unanswered::Silent)?;
    match hookmitt_call::connect(&addresses, deadline).await {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.why() {
            NoConnection::Hindered => Unanswered::Hindered(error.to_string()),
            why => Unanswered::Silent(Silence { why, error: error.in_words(target.authority()) }),
        }),
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

async fn resolved(target: &TargetUrl, deadline: Instant) -> Result<Vec<SocketAddr>, Silence> {
    let why = NoConnection::UnknownName;
    let found = timeout_at(deadline, resolve(target.parsed_host(), target.port())).await;
    let slow = |_| Silence { why, error: format!("the name {} took too long to resolve", target.host()) };
    found.map_err(slow)?.map_err(|error| Silence { why, error: error.to_string() })
}

fn no_connection(target: &TargetUrl, error: &ConnectError) -> DialError {
    let words = error.in_words(target.authority());
    match error.why() {
        NoConnection::Hindered => DialError::Hindered(error.to_string()),
        NoConnection::NoAnswer => DialError::Broken(words),
        _ if error.is_slow() => {
            DialError::Broken(format!("no connection to {} ({error})", target.authority()))
        }
        why => DialError::Unreachable(Silence { why, error: words }),
    }
}
