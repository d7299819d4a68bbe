//! A provider's host on this machine, with TLS and a self-signed certificate.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU16, Ordering},
    },
};

use hookmitt_engine::Network;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, crypto::ring};

use crate::wait::LONG;

/// A host that answers every request with one settable status and body, and records the request heads.
#[derive(Clone)]
pub struct ProviderHost {
    address: SocketAddr,
    roots: RootCertStore,
    status: Arc<AtomicU16>,
    body: Arc<Mutex<String>>,
    /// Locked while the host must not answer.
    held: Arc<Mutex<()>>,
    heads: Arc<Mutex<Vec<String>>>,
}

/// As long as this guard exists, the host doesn't answer. Only the host's own thread waits for it, never a story's
/// task.
pub struct Silence<'h> {
    _held: MutexGuard<'h, ()>,
}

impl ProviderHost {
    /// Starts a host with this name that answers 200.
    pub fn start(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).expect("a certificate");
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
        let status = Arc::new(AtomicU16::new(200));
        let (body, held, heads) = <_>::default();
        let host = Self { address, roots, status, body, held, heads };
        let (served, config) = (host.clone(), Arc::new(config));
        // This thread ends with the test's process.
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| served.serve(stream, &config));
        });
        host
    }

    /// Returns a network in which every host name leads to this host, only its certificate is trusted, and a host that
    /// [`holds`](Self::holds) its answer isn't given up while the story goes on.
    pub fn network(&self) -> Network {
        Network::of_test(self.address, self.roots.clone()).patient(LONG)
    }

    /// Answers with this status from now on.
    pub fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// Serves this text as the body of every answer from now on.
    pub fn publishes(&self, text: &str) {
        text.clone_into(&mut self.body.lock().expect("no poison"));
    }

    /// Stops answering until the returned guard is dropped.
    pub fn holds(&self) -> Silence<'_> {
        Silence { _held: self.held.lock().expect("no poison") }
    }

    /// Returns the heads of all requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.heads.lock().expect("no poison").clone()
    }

    fn serve(&self, stream: TcpStream, config: &Arc<ServerConfig>) {
        let connection = ServerConnection::new(config.clone()).expect("a complete configuration");
        let mut stream = StreamOwned::new(connection, stream);
        let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut buffer) {
                Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
                _ => return, // the client ended the connection, for example because it rejects the certificate
            }
        }
        self.heads.lock().expect("no poison").push(String::from_utf8_lossy(&head).into_owned());
        drop(self.holds());
        let (status, body) =
            (self.status.load(Ordering::SeqCst), self.body.lock().expect("no poison").clone());
        let answer = format!(
            "HTTP/1.1 {status} As told\r\nLocation: https://evil.example.com/\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()); // the client may be gone
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }
}
