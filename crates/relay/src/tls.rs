//! TLS from files, read anew when they change.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use hookmitt_catch::Opener;
use hookmitt_event::Explain;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

/// How often we look whether the files have changed.
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
        Some("give the whole chain in --tls-cert and its private key in --tls-key, both as PEM".to_owned())
    }
}

/// Speaks TLS with a certificate from files.
#[derive(Clone, Debug)]
pub struct Tls(Arc<Files>);

#[derive(Debug)]
struct Files {
    chain: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads a chain and its key.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn of_files(chain: &Path, key: &Path) -> Result<Self, TlsError> {
        let config = RwLock::new(read(chain, key)?);
        Ok(Self(Arc::new(Files { chain: chain.to_owned(), key: key.to_owned(), config })))
    }

    /// Reads the files anew whenever they have changed, until `stop`. What can't be used is left aside.
    pub(crate) async fn keep_fresh(self, stop: CancellationToken) {
        let mut seen = self.stamp();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            let now = self.stamp();
            if now == seen {
                continue;
            }
            seen = now;
            match read(&self.0.chain, &self.0.key) {
                Ok(config) => {
                    *self.0.config.write().unwrap_or_else(PoisonError::into_inner) = config;
                    tracing::info!("the certificate was read anew");
                }
                Err(error) => tracing::error!(%error, "the new certificate can't be used; the old one stays"),
            }
        }
    }

    fn stamp(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.0.chain, &self.0.key].map(|path| {
            let found = fs::metadata(path).ok()?;
            Some((found.modified().ok()?, found.len()))
        })
    }
}

impl Opener for Tls {
    type Stream = TlsStream<TcpStream>;

    async fn open(&self, stream: TcpStream) -> io::Result<Self::Stream> {
        let config = Arc::clone(&self.0.config.read().unwrap_or_else(PoisonError::into_inner));
        TlsAcceptor::from(config).accept(stream).await
    }
}

fn read(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let wrong =
        |path: &Path, why: &dyn std::fmt::Display| TlsError { path: path.to_owned(), why: why.to_string() };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    let certificates = certificates.map_err(|error| wrong(chain, &error))?;
    if certificates.is_empty() {
        return Err(wrong(chain, &"there is no certificate in it"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(chain, &error))?
        .with_no_client_auth()
        .with_single_cert(certificates, secret)
        .map_err(|error| wrong(key, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
