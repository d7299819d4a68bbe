//! A provider's host on this machine, with its own TLS certificate and any answer that a test wants.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hookmitt_keys::Network;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, crypto::ring};

/// The host name for which the certificate is made.
pub(crate) const HOST: &str = "keys.example.test";

type Tls = StreamOwned<ServerConnection, std::net::TcpStream>;

pub(crate) struct Server {
    address: SocketAddr,
    roots: RootCertStore,
    pem: String,
    asked: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server that answers each request with the result of `answer` for its request line.
    pub(crate) fn answering(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::talking(move |line, stream| {
            let _ = stream.write_all(&answer(line)); // a client that refuses the answer may be gone
        })
    }

    /// Starts a server that calls `talk` for each request.
    pub(crate) fn talking(talk: impl Fn(&str, &mut Tls) + Send + Sync + 'static) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![HOST.to_owned()]).expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).expect("a root");
        let key = made.signing_key.serialize_der().try_into().expect("a PKCS #8 key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("the key fits the certificate");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            let config = Arc::new(config);
            for tcp in listener.incoming().flatten() {
                let connection = ServerConnection::new(config.clone()).expect("a complete configuration");
                let mut stream = StreamOwned::new(connection, tcp);
                if let Some(line) = first_line(&mut stream) {
                    counter.fetch_add(1, Ordering::SeqCst);
                    talk(&line, &mut stream);
                    stream.conn.send_close_notify();
                    let _ = stream.flush();
                }
            }
        });
        Self { address, roots, pem: made.cert.pem(), asked }
    }

    pub(crate) fn network(&self) -> Network {
        Network::of_test(self.address, self.roots.clone())
    }

    /// Returns a network that reaches this server but trusts only `roots`.
    pub(crate) fn network_trusting(&self, roots: RootCertStore) -> Network {
        Network::of_test(self.address, roots)
    }

    /// Returns a network that reaches this server with the product's usual trust.
    pub(crate) fn usual_network(&self) -> Network {
        Network::new().at(self.address)
    }

    /// Returns the server's certificate, which is self-signed.
    pub(crate) fn certificate(&self) -> &str {
        &self.pem
    }

    /// Returns how many requests came.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn first_line(stream: &mut Tls) -> Option<String> {
    let mut got = Vec::new();
    let mut buffer = [0; 1024];
    while !got.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => got.extend_from_slice(&buffer[..read]),
            _ => return None, // the client refused the connection
        }
    }
    String::from_utf8(got).ok()?.lines().next().map(str::to_owned)
}

/// Returns an answer with status 200.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nCache-Control: public, max-age=3600\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
