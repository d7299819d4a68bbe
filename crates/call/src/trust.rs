//! Whom TLS trusts, and the handshake in which that is found out.

use std::{fmt, io, net::IpAddr, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, InvalidDnsNameError, ServerName, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Host;

/// A connection, plain or within TLS.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// TLS as we call others by it; made once and shared.
#[derive(Clone)]
pub struct Tls(TlsConnector);

/// Why there is no TLS over a connection.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate can be for that name.
    #[error("{name} can't be checked by TLS: {error}")]
    Name {
        /// The name.
        name: String,
        /// Why.
        error: InvalidDnsNameError,
    },
    /// Whoever answers isn't trusted, or speaks no TLS that we speak.
    #[error("{0}")]
    Refused(io::Error),
    /// The connection broke.
    #[error("{0}")]
    Broken(io::Error),
}

impl From<io::Error> for TlsError {
    fn from(error: io::Error) -> Self {
        let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
        if is_tls { Self::Refused(error) } else { Self::Broken(error) }
    }
}

impl Tls {
    /// Trusts Mozilla's roots as this version of hookmitt carries them.
    pub fn new() -> Self {
        Self::trusting(roots())
    }

    /// Trusts the certificates in a PEM file as well.
    ///
    /// # Errors
    /// Why not, in words; `none` where there is no certificate in it.
    pub fn with_authorities(path: &Path, none: &str) -> Result<Self, String> {
        let mut roots = roots();
        add_authorities(&mut roots, path, none)?;
        Ok(Self::trusting(roots))
    }

    /// Trusts `roots` alone.
    pub fn trusting(roots: RootCertStore) -> Self {
        Self(TlsConnector::from(Arc::new(tls(roots))))
    }

    /// Speaks TLS over a connection, with whoever shows that it is `host`. How long it takes is for the caller to limit.
    ///
    /// # Errors
    /// [`TlsError`].
    pub async fn handshake(
        &self,
        host: &Host<impl AsRef<str>>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, TlsError> {
        Ok(self.0.connect(server_name(host)?, stream).await?)
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Tls")
    }
}

fn server_name(host: &Host<impl AsRef<str>>) -> Result<ServerName<'static>, TlsError> {
    match host {
        Host::Ipv4(address) => Ok(IpAddr::V4(*address).into()),
        Host::Ipv6(address) => Ok(IpAddr::V6(*address).into()),
        Host::Domain(name) => {
            let name = name.as_ref().to_owned();
            ServerName::try_from(name.clone()).map_err(|error| TlsError::Name { name, error })
        }
    }
}

/// Mozilla's roots as this version of hookmitt carries them.
pub fn roots() -> RootCertStore {
    webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()
}

fn add_authorities(roots: &mut RootCertStore, path: &Path, none: &str) -> Result<(), String> {
    let before = roots.len();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())? {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.len() == before { Err(none.to_owned()) } else { Ok(()) }
}

/// TLS that trusts `roots` alone, for HTTP/1.1.
///
/// # Panics
/// Never: ring supports the default protocol versions.
pub fn tls(roots: RootCertStore) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("ring supports TLS 1.2 and 1.3");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &str = "there is none in it";

    fn certificate() -> String {
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.pem()
    }

    /// What adding a file with that text comes to, and how many are trusted then beside Mozilla's.
    fn added(text: &str) -> (Result<(), String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, text).unwrap();
        let mut all = roots();
        let outcome = add_authorities(&mut all, &path, NONE);
        (outcome, all.len() - roots().len())
    }

    #[test]
    fn every_certificate_of_a_file_is_trusted_beside_mozillas() {
        assert!(!roots().is_empty());
        assert_eq!(added(&certificate()), (Ok(()), 1));
        assert_eq!(added(&format!("# ours\n{}\n{}", certificate(), certificate())), (Ok(()), 2));
    }

    #[test]
    fn a_file_without_a_certificate_or_with_a_broken_one_is_refused() {
        assert_eq!(added("nothing"), (Err(NONE.to_owned()), 0));
        let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
        assert_eq!(added(&key), (Err(NONE.to_owned()), 0), "a key is no certificate");
        for broken in ["AAAA", "?"] {
            let (outcome, _) =
                added(&format!("-----BEGIN CERTIFICATE-----\n{broken}\n-----END CERTIFICATE-----\n"));
            assert!(outcome.as_ref().is_err_and(|why| why != NONE), "{broken}: {outcome:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let missing = add_authorities(&mut roots(), &folder.path().join("ca.pem"), NONE);
        assert!(missing.as_ref().is_err_and(|why| why != NONE), "{missing:?}");
    }

    #[test]
    fn http_1_1_is_asked_for() {
        assert_eq!(tls(roots()).alpn_protocols, [b"http/1.1"]);
    }
}
