//! Trust in the certificates of the system's store, such as mkcert's or a company's, beside our own roots.

use std::sync::{Arc, LazyLock};

use rustls::{
    CertificateError, DigitallySignedStruct, Error, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use rustls_platform_verifier::Verifier;
use tracing::warn;

/// The system's store. It is read once, and only when it is needed, because it may be hundreds of files.
static SYSTEM: LazyLock<Option<Verifier>> = LazyLock::new(|| {
    let read = Verifier::new(Arc::new(ring::default_provider()));
    read.inspect_err(|error| {
        warn!("the system's certificates can't be used, so only Mozilla's are trusted: {error}")
    })
    .ok()
});

/// A verifier that asks the system about certificates for which our own roots don't vouch.
#[derive(Debug)]
pub(crate) struct BesideSystem {
    ours: Arc<WebPkiServerVerifier>,
}

impl BesideSystem {
    pub(crate) fn new(ours: Arc<WebPkiServerVerifier>) -> Self {
        Self { ours }
    }
}

impl ServerCertVerifier for BesideSystem {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let by = |verifier: &dyn ServerCertVerifier| {
            verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        by(&*self.ours).or_else(|error| {
            let Some(system) = &*SYSTEM else { return Err(error) };
            // If our roots know the issuer, our error says more than the system's: for example a wrong name or an
            // expired certificate.
            let is_unknown = error == Error::InvalidCertificate(CertificateError::UnknownIssuer);
            by(system).map_err(|theirs| if is_unknown { theirs } else { error })
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.ours.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.ours.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.ours.supported_verify_schemes()
    }
}
