//! Opens a connection to whichever of several addresses answers first: Happy Eyeballs (RFC 8305, sections 4 and 5).

use std::{fmt, future::Future, io, net::SocketAddr, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use hookmitt_event::NoConnection;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

/// How long to wait for an address before the next one is tried in parallel.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The failure to connect to any address, with the reason for each, in the order in which they were to be tried.
#[derive(Debug)]
pub struct ConnectError(Vec<(SocketAddr, AddressError)>);

/// Why there is no connection to an address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The machine answered that nobody listens on that port.
    #[error("connection refused")]
    Refused,
    /// There is no route to the address.
    #[error("no route")]
    NoRoute,
    /// No answer came in time, or the address was not tried any more. A server may be there.
    #[error("no connection in time")]
    Slow,
    /// This machine has no file descriptors left to try with.
    #[error("{0}")]
    NoHandle(io::Error),
    /// Any other error.
    #[error("{0}")]
    Other(io::Error),
}

impl ConnectError {
    /// Returns the reason for each address.
    pub fn reasons(&self) -> impl Iterator<Item = &AddressError> {
        self.0.iter().map(|(_, why)| why)
    }

    /// Returns the reason that explains the most: a refusal shows that the network works, and silence that there may be
    /// a server. Without file descriptors nothing is known.
    pub fn why(&self) -> NoConnection {
        let any = |wanted: fn(&AddressError) -> bool| self.reasons().any(wanted);
        if any(|why| matches!(why, AddressError::NoHandle(_))) {
            NoConnection::Hindered
        } else if any(|why| matches!(why, AddressError::Refused)) {
            NoConnection::ConnectionRefused
        } else if self.is_slow() {
            NoConnection::NoAnswer
        } else if any(|why| matches!(why, AddressError::NoRoute)) {
            NoConnection::NoRoute
        } else {
            NoConnection::BrokenOff
        }
    }

    /// Says in words that there is no connection to a host and port, and why: `connection refused by localhost:3000`.
    pub fn in_words(&self, authority: &str) -> String {
        match self.why() {
            NoConnection::ConnectionRefused => format!("connection refused by {authority}"),
            NoConnection::NoAnswer => format!("no answer from {authority} in time"),
            NoConnection::NoRoute => format!("no route to {authority}"),
            _ => format!("no connection to {authority} ({self})"),
        }
    }

    /// Whether an address was silent, so that a server may be there.
    pub fn is_slow(&self) -> bool {
        self.reasons().any(|why| matches!(why, AddressError::Slow))
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (address, why)) in self.0.iter().enumerate() {
            if number > 0 {
                out.write_str("; ")?;
            }
            write!(out, "{address}: {why}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConnectError {}

impl From<io::Error> for AddressError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown => Self::NoRoute,
            io::ErrorKind::TimedOut => Self::Slow,
            _ if lacks_handles(&error) => Self::NoHandle(error),
            _ => Self::Other(error),
        }
    }
}

/// Whether the error is `EMFILE` or `ENFILE`. Their numbers are the same on Linux and macOS.
fn lacks_handles(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// Connects to the first of `addresses` that answers before `deadline`.
///
/// # Errors
/// Returns the reason for each address if none answers in time.
pub async fn connect(addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, ConnectError> {
    let stream = race(addresses, deadline, TcpStream::connect).await?;
    let _ = stream.set_nodelay(true); // a failure only costs speed
    Ok(stream)
}

/// Tries the addresses with `connect`. The next address is tried as soon as one has failed, or, beside those still
/// tried, once they have been silent for [`ATTEMPT_DELAY`]. When the first one connects, the other attempts are
/// dropped.
async fn race<S, F: Future<Output = io::Result<S>>>(
    addresses: &[SocketAddr],
    deadline: Instant,
    connect: impl Fn(SocketAddr) -> F,
) -> Result<S, ConnectError> {
    let order = interleaved(addresses);
    // An address without an answer so far counts as slow.
    let mut reasons: Vec<_> = order.iter().map(|&address| (address, AddressError::Slow)).collect();
    let mut waiting = order.into_iter().enumerate();
    let mut trying = FuturesUnordered::new();
    loop {
        if let Some((number, address)) = waiting.next() {
            let attempt = connect(address);
            trying.push(async move { (number, attempt.await) });
        }
        let next_start = (waiting.len() > 0).then(|| Instant::now() + ATTEMPT_DELAY);
        let until = next_start.map_or(deadline, |start| start.min(deadline));
        match timeout_at(until, trying.next()).await {
            Ok(Some((_, Ok(stream)))) => return Ok(stream),
            Ok(Some((number, Err(error)))) => reasons[number].1 = error.into(),
            Err(_) if until < deadline => {}
            Ok(None) | Err(_) => return Err(ConnectError(reasons)),
        }
    }
}

/// Returns the addresses with IPv4 and IPv6 in turn. Within each family they keep their order, and the first address
/// stays first.
fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v4 = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let of_family = |is_v4| addresses.iter().filter(move |address| address.is_ipv4() == is_v4);
    let (mut preferred, mut others) = (of_family(first_is_v4), of_family(!first_is_v4));
    let mut out = Vec::with_capacity(addresses.len());
    while out.len() < addresses.len() {
        out.extend(preferred.next());
        out.extend(others.next());
    }
    out
}

#[cfg(test)]
mod tests;
