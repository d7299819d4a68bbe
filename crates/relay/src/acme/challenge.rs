//! The answer to a TLS-ALPN-01 challenge (RFC 8737): a certificate for the name that carries the challenge's digest.

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::{
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    sign::CertifiedKey,
};

use super::failure::OrderError;

/// Returns the certificate that answers a challenge.
pub(super) fn answer(name: &str, digest: &[u8]) -> Result<CertifiedKey, OrderError> {
    let wrong = |error: &dyn std::fmt::Display| OrderError::Other(error.to_string());
    let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(|error| wrong(&error))?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate().map_err(|error| wrong(&error))?;
    let made = params.self_signed(&key).map_err(|error| wrong(&error))?;
    let secret = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    // Built without rustls's check of the certificate, which knows only the usual extensions and would refuse the
    // critical one that is needed here.
    let secret = ring::sign::any_ecdsa_type(&secret).map_err(|error| wrong(&error))?;
    Ok(CertifiedKey::new(vec![made.der().clone()], secret))
}

#[cfg(test)]
mod tests {
    use x509_cert::{Certificate, der::Decode as _};

    use super::*;

    #[test]
    fn the_answer_is_the_digest_in_a_critical_extension() {
        let answer = answer("relay.test", &[7; 32]).unwrap();
        let certificate = Certificate::from_der(&answer.cert[0]).unwrap();
        let all = certificate.tbs_certificate().extensions().unwrap();
        let found = all.iter().find(|one| one.extn_id.to_string() == "1.3.6.1.5.5.7.1.31").unwrap();
        // A DER OCTET STRING of 32 bytes.
        let expected: Vec<u8> = [4, 32].into_iter().chain([7; 32]).collect();
        assert!(found.critical && found.extn_value.as_bytes() == expected);
    }
}
