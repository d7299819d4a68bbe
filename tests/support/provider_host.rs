//! A provider's host on this machine: TLS with a certificate of its own.

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

/// A host that answers every request with one status, and remembers their heads.
#[derive(Clone)]
pub struct ProviderHost {
    address: SocketAddr,
    roots: RootCertStore,
    status: Arc<AtomicU16>,
    body: Arc<Mutex<String>>,
    /// Held while nobody is to be answered.
    held: Arc<Mutex<()>>,
    heads: Arc<Mutex<Vec<String>>>,
}

/// While this is there, a host answers nobody. Only the host's own threads wait for it, never a story's task.
pub struct Silence<'h> {
    _held: MutexGuard<'h, ()>,
}

impl ProviderHost {
    /// Starts one that has that name and answers 200.
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
        // Ends with the test's process.
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| served.serve(stream, &config));
        });
        host
    }

    /// The network in which every host is this one.
    pub fn network(&self) -> Network {
        Network::of_test(self.address, self.roots.clone())
    }

    /// Answers with that status from now on.
    pub fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// Publishes that text under every URL.
    pub fn publishes(&self, text: &str) {
        text.clone_into(&mut self.body.lock().expect("no poison"));
    }

    /// Answers nobody until what this returns is dropped.
    pub fn holds(&self) -> Silence<'_> {
        Silence { _held: self.held.lock().expect("no poison") }
    }

    /// The heads of the requests that came.
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
                _ => return, // refused by the client
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
        let _ = stream.write_all(answer.as_bytes()); // who is answered may be gone
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }
}
