//! A sender over TLS that trusts only the given certificates.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::net::TcpSocket;

use crate::{Reply, parse_reply};

/// How long a peer may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of an exchange over TLS.
#[derive(Clone, Debug)]
pub struct Secured {
    /// The answer, unparsed.
    pub answer: Vec<u8>,
    /// The certificate that the peer showed.
    pub shown: CertificateDer<'static>,
}

impl Secured {
    /// Parses the answer.
    pub fn reply(&self) -> Reply {
        parse_reply(&self.answer)
    }
}

/// Connects to `address` under the host name `name`, trusts only `roots`, writes `bytes`, and reads until the peer
/// closes. Returns `None` if there is no connection, no trusted TLS, or no answer.
pub async fn secured(
    address: SocketAddr,
    name: &str,
    roots: Vec<CertificateDer<'static>>,
    bytes: Vec<u8>,
) -> Option<Secured> {
    secured_from(Ipv4Addr::LOCALHOST, address, name, roots, bytes).await
}

/// Like [`secured`], from this address of the loopback network.
pub async fn secured_from(
    from: Ipv4Addr,
    address: SocketAddr,
    name: &str,
    roots: Vec<CertificateDer<'static>>,
    bytes: Vec<u8>,
) -> Option<Secured> {
    let name = ServerName::try_from(name.to_owned()).expect("a host name");
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind((from, 0).into()).expect("an address of this machine");
    let tcp = socket.connect(address).await.ok()?.into_std().ok()?;
    let asked = tokio::task::spawn_blocking(move || exchange(tcp, name, roots, &bytes));
    asked.await.expect("it comes to an end")
}

fn exchange(
    tcp: TcpStream,
    name: ServerName<'static>,
    roots: Vec<CertificateDer<'static>>,
    bytes: &[u8],
) -> Option<Secured> {
    let mut trusted = RootCertStore::empty();
    roots.into_iter().for_each(|root| trusted.add(root).expect("a root"));
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), name).ok()?;
    tcp.set_nonblocking(false).ok()?;
    tcp.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut stream = StreamOwned::new(connection, tcp);
    // A server may answer and close before it has read everything.
    let _cut = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _cut = stream.read_to_end(&mut answer);
    let shown = stream.conn.peer_certificates()?.first()?.clone().into_owned();
    (!answer.is_empty()).then_some(Secured { answer, shown })
}
