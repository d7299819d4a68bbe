//! TLS, with a certificate from files, which are read again when they change, or from an ACME server.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use hookmitt_catch::Opener;
use hookmitt_event::{Explain, Timestamp};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::Acceptor,
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use tokio_rustls::{LazyConfigAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

use crate::{
    acme::{Acme, AcmeError, Desk},
    certificates::{ACME_TLS, Certificates, Held, comes_with_a_challenge},
};

/// How often the files are checked for changes.
const LOOK: Duration = Duration::from_secs(2);

/// Why the certificate can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct TlsError {
    path: PathBuf,
    why: String,
}

impl Explain for TlsError {
    fn code(&self) -> &'static str {
        "bad-certificate"
    }

    fn hint(&self) -> Option<String> {
        Some("put the whole chain into --tls-cert and its private key into --tls-key, both as PEM".to_owned())
    }
}

/// The relay's TLS.
#[derive(Clone, Debug)]
pub struct Tls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    certificates: Arc<Certificates>,
    usual: Arc<ServerConfig>,
    challenge: Arc<ServerConfig>,
    source: Source,
}

/// Where certificates come from.
#[derive(Debug)]
enum Source {
    Files { chain: PathBuf, key: PathBuf },
    Acme(Box<Desk>),
}

impl Tls {
    /// Reads a chain and its key.
    ///
    /// # Errors
    /// Returns [`TlsError`] if a file can't be read or they can't be used together.
    pub fn of_files(chain: &Path, key: &Path) -> Result<Self, TlsError> {
        let certificates = Arc::new(Certificates::default());
        certificates.show(read(chain, key)?);
        let source = Source::Files { chain: chain.to_owned(), key: key.to_owned() };
        Ok(Self::new(certificates, source))
    }

    /// Uses the certificate that an ACME server issued earlier, if there is one. [`serve`](crate::serve) gets and
    /// renews it.
    ///
    /// # Errors
    /// Returns [`AcmeError`] if the settings or the folder can't be used.
    pub fn by_acme(acme: Acme) -> Result<Self, AcmeError> {
        let certificates = Arc::new(Certificates::default());
        let desk = Desk::open(acme, Arc::clone(&certificates))?;
        Ok(Self::new(certificates, Source::Acme(Box::new(desk))))
    }

    fn new(certificates: Arc<Certificates>, source: Source) -> Self {
        let (usual, challenge) = (config(&certificates, b"http/1.1"), config(&certificates, ACME_TLS));
        Self(Arc::new(Inner { certificates, usual, challenge, source }))
    }

    /// Returns when the certificate expires, if there is one.
    pub fn good_until(&self) -> Option<Timestamp> {
        self.0.certificates.current().map(|held| held.until)
    }

    /// Keeps the certificate up to date until `stop`.
    pub(crate) async fn keep_fresh(self, stop: CancellationToken) {
        match &self.0.source {
            Source::Files { chain, key } => self.keep_reading(chain, key, stop).await,
            Source::Acme(desk) => desk.keep_asking(stop).await,
        }
    }

    /// Reads the files again whenever they have changed. If the new ones can't be used, the old certificate stays.
    async fn keep_reading(&self, chain: &Path, key: &Path, stop: CancellationToken) {
        let mut seen = stamp(chain, key);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            let now = stamp(chain, key);
            if now == seen {
                continue;
            }
            seen = now;
            match read(chain, key) {
                Ok(held) => {
                    self.0.certificates.show(held);
                    tracing::info!("the certificate was reloaded");
                }
                Err(error) => {
                    tracing::error!(%error, "the new certificate can't be used; the old one stays in use")
                }
            }
        }
    }
}

impl Opener for Tls {
    type Stream = TlsStream<TcpStream>;

    async fn open(&self, stream: TcpStream) -> io::Result<Self::Stream> {
        let begun = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
        if !comes_with_a_challenge(&begun.client_hello()) {
            return begun.into_stream(Arc::clone(&self.0.usual)).await;
        }
        // The challenge consists of the handshake alone: no request follows, and the client was no sender.
        let mut stream = begun.into_stream(Arc::clone(&self.0.challenge)).await?;
        let _gone = stream.shutdown().await;
        Err(io::Error::other("an ACME server's challenge was answered"))
    }
}

fn stamp(chain: &Path, key: &Path) -> [Option<(SystemTime, u64)>; 2] {
    [chain, key].map(|path| {
        let found = fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len()))
    })
}

fn config(certificates: &Arc<Certificates>, protocol: &[u8]) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports TLS 1.2 and 1.3");
    let resolver = Arc::clone(certificates);
    let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
    config.alpn_protocols = vec![protocol.to_vec()];
    Arc::new(config)
}

fn read(chain: &Path, key: &Path) -> Result<Held, TlsError> {
    let wrong =
        |path: &Path, why: &dyn std::fmt::Display| TlsError { path: path.to_owned(), why: why.to_string() };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    let certificates = certificates.map_err(|error| wrong(chain, &error))?;
    if certificates.is_empty() {
        return Err(wrong(chain, &"there is no certificate in it"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    Held::of(certificates, secret).map_err(|error| wrong(key, &error))
}
