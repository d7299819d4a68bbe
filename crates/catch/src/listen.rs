//! Opens a port on loopback, IPv4 and IPv6.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
};

use hookmitt_event::Explain;
use tokio::net::TcpListener;

use crate::Holder;

/// How many connections the system queues while we are busy.
const BACKLOG: i32 = 1_024;

/// Why a port can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another program has it.
    #[error("port {port} is taken by {holder}")]
    Taken {
        /// The port.
        port: u16,
        /// Who has it.
        holder: Holder,
    },
    /// The host is not an address of this machine.
    #[error("can't listen on {host}: {why}")]
    Host {
        /// The host that was asked for.
        host: String,
        /// The system's error.
        why: String,
    },
    /// Another error.
    #[error("can't listen on port {port}: {why}")]
    Refused {
        /// The port.
        port: u16,
        /// The system's error.
        why: String,
    },
}

impl Explain for ListenError {
    fn code(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "port-taken",
            Self::Host { .. } => "host-unusable",
            Self::Refused { .. } => "port-refused",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Taken { .. } => {
                "stop it, or choose another port with --port or --api-port; 0 picks a free one".to_owned()
            }
            Self::Host { .. } => "use an address of this machine, such as 127.0.0.1 or 0.0.0.0".to_owned(),
            Self::Refused { .. } => "choose a port from 1024 to 65535, or 0 for a free one".to_owned(),
        })
    }
}

/// The listeners of one port.
#[derive(Debug)]
pub struct Bound {
    /// One listener for each address.
    pub listeners: Vec<TcpListener>,
    /// The port number.
    pub port: u16,
}

impl Bound {
    /// Returns the addresses that are listened on.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }
}

/// Opens `port` (0 means a free one) on `host`, or, without a host, on 127.0.0.1 and on ::1 if there is IPv6.
///
/// # Errors
/// Fails with [`ListenError`].
pub fn bind(host: Option<&str>, port: u16) -> Result<Bound, ListenError> {
    if let Some(host) = host {
        return on_host(host, port);
    }
    // A port that is free on IPv4 may be taken on IPv6, so try until one is free on both.
    let tries = if port == 0 { 16 } else { 1 };
    let mut left = tries;
    loop {
        left -= 1;
        match on_loopback(port) {
            Err(_) if left > 0 => {}
            tried => return tried,
        }
    }
}

fn on_loopback(port: u16) -> Result<Bound, ListenError> {
    let first =
        listen(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)).map_err(|why| refused(port, &why))?;
    let port = first.local_addr().map_err(|why| refused(port, &why))?.port();
    let mut listeners = vec![first];
    match listen(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port)) {
        Ok(second) => listeners.push(second),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(taken(port)),
        Err(error) => tracing::debug!(%error, "no IPv6 loopback"),
    }
    Ok(Bound { listeners, port })
}

fn on_host(host: &str, port: u16) -> Result<Bound, ListenError> {
    let unusable =
        |why: &dyn std::fmt::Display| ListenError::Host { host: host.to_owned(), why: why.to_string() };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = match bare.parse::<IpAddr>() {
        Ok(address) => SocketAddr::new(address, port),
        Err(_) => (host, port)
            .to_socket_addrs()
            .map_err(|why| unusable(&why))?
            .next()
            .ok_or_else(|| unusable(&"the name has no address"))?,
    };
    let listener = listen(address).map_err(|why| match why.kind() {
        io::ErrorKind::AddrInUse => taken(port),
        _ => unusable(&why),
    })?;
    let port = listener.local_addr().map_err(|why| unusable(&why))?.port();
    Ok(Bound { listeners: vec![listener], port })
}

fn taken(port: u16) -> ListenError {
    ListenError::Taken { port, holder: Holder::of(port) }
}

fn refused(port: u16, why: &io::Error) -> ListenError {
    match why.kind() {
        io::ErrorKind::AddrInUse => taken(port),
        _ => ListenError::Refused { port, why: why.to_string() },
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(
        socket2::Domain::for_address(address),
        socket2::Type::STREAM,
        Some(socket2::Protocol::TCP),
    )?;
    // With this option a restart isn't refused because connections of the last run are still closing. On Windows the
    // same option would let two programs share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    if address.is_ipv6() && !address.ip().is_unspecified() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
