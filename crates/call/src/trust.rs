//! Which certificates TLS trusts.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    client::WebPkiServerVerifier,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use crate::system_store::BesideSystem;

/// The certificate authorities that TLS trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    roots: RootCertStore,
    with_system: bool,
}

impl Trust {
    /// Trusts only Mozilla's roots, as built into this version of hookmitt: for providers and public authorities. A
    /// root that somebody has added to the system's store, such as mkcert's, doesn't vouch for these (Threat 13).
    pub fn built_in() -> Self {
        Self::only(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect())
    }

    /// Also trusts what the system of this machine trusts: for servers that the user names. The system's store is read
    /// once, when the first certificate arrives for which no other root vouches.
    pub fn with_system() -> Self {
        Self { with_system: true, ..Self::built_in() }
    }

    /// Trusts only these roots.
    pub fn only(roots: RootCertStore) -> Self {
        Self { roots, with_system: false }
    }

    /// Also trusts the certificates in a PEM file.
    ///
    /// # Errors
    /// Returns the reason in words; `none` is the text for a file without a certificate.
    pub fn and_file(mut self, path: &Path, none: &str) -> Result<Self, String> {
        let before = self.roots.len();
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())? {
            let certificate = certificate.map_err(|error| error.to_string())?;
            self.roots.add(certificate).map_err(|error| error.to_string())?;
        }
        if self.roots.len() == before { Err(none.to_owned()) } else { Ok(self) }
    }

    /// Returns a TLS configuration for HTTP/1.1 that accepts the servers for which this trust vouches.
    ///
    /// # Panics
    /// Never panics, because ring supports the default protocol versions and Mozilla's roots are not empty.
    pub fn into_config(self) -> ClientConfig {
        let ring = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&ring));
        let builder = builder.with_safe_default_protocol_versions().expect("ring supports TLS 1.2 and 1.3");
        let builder = match self.with_system {
            false => builder.with_root_certificates(self.roots),
            true => {
                let ours = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots), ring).build();
                let verifier = BesideSystem::new(ours.expect("Mozilla's roots are some"));
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &str = "there is none in it";

    fn certificate() -> String {
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.pem()
    }

    /// Returns the outcome of adding a file with that text, and how many certificates are then trusted beside
    /// Mozilla's.
    fn added(text: &str) -> (Result<(), String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, text).unwrap();
        let before = Trust::built_in().roots.len();
        match Trust::built_in().and_file(&path, NONE) {
            Ok(trust) => (Ok(()), trust.roots.len() - before),
            Err(why) => (Err(why), 0),
        }
    }

    #[test]
    fn every_certificate_of_a_file_is_trusted_beside_mozillas() {
        assert!(!Trust::built_in().roots.is_empty());
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
        let missing = Trust::built_in().and_file(&folder.path().join("ca.pem"), NONE).map(drop);
        assert!(missing.as_ref().is_err_and(|why| why != NONE), "{missing:?}");
    }

    #[test]
    fn http_1_1_is_asked_for() {
        for trust in [Trust::built_in(), Trust::with_system()] {
            assert_eq!(trust.into_config().alpn_protocols, [b"http/1.1"]);
        }
    }
}
