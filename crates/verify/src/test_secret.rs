//! What signs if no secret of the provider's is available: public test secrets, and kinds of test keys.

use crate::{
    algorithm::Algorithm,
    provider::Provider,
    scheme::{KeyMode, Scheme},
    test_pair::PairKind,
};

impl PairKind {
    /// Returns the kind of private key that a provider signs with by default; `None` if it uses a shared secret or
    /// signs nothing.
    pub fn of(provider: &Provider) -> Option<Self> {
        by_algorithm(provider.schemes.first()?.algorithm)
    }
}

/// Returns the kind of key pair that an algorithm uses; `None` if it uses a shared secret or signs nothing.
fn by_algorithm(algorithm: Algorithm) -> Option<PairKind> {
    match algorithm {
        Algorithm::Ed25519 => Some(PairKind::Ed25519),
        Algorithm::EcdsaP256Sha256 | Algorithm::JwtEs256 => Some(PairKind::P256),
        Algorithm::RsaSha256 | Algorithm::RsaSha1 | Algorithm::JwtRs256 => Some(PairKind::Rsa),
        _ => None,
    }
}

/// The public secret that signs if none was given. Everybody knows it, so its signature proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSecret {
    /// Its name in fixtures and messages.
    pub name: &'static str,
    /// Its text.
    pub value: &'static str,
}

/// Returns the public test secret of a provider, in the form of the provider's secrets. It is a private test key if the
/// provider only signs with a private key.
pub fn test_secret(provider: &Provider) -> TestSecret {
    let signs = |scheme: &&Scheme| scheme.algorithm != Algorithm::None && !scheme.signature.is_empty();
    let symmetric = provider.schemes.iter().filter(signs).find(|scheme| !scheme.takes_public_key());
    let Some(scheme) = symmetric.or_else(|| provider.schemes.iter().find(signs)) else { return PLAIN };
    match by_algorithm(scheme.algorithm) {
        Some(PairKind::Ed25519) => key("hookmitt-test-ed25519", include_str!("../keys/ed25519.pem")),
        Some(PairKind::P256) => key("hookmitt-test-p256", include_str!("../keys/p256.pem")),
        Some(PairKind::Rsa) => key("hookmitt-test-rsa", include_str!("../keys/rsa.pem")),
        None if provider.id == "stripe" => key("hookmitt-test-stripe", "whsec_hookmitt_test_secret"),
        None => in_writing(scheme.key),
    }
}

const PLAIN: TestSecret = key("hookmitt-test-secret", "hookmitt-test-secret");

const fn key(name: &'static str, value: &'static str) -> TestSecret {
    TestSecret { name, value }
}

fn in_writing(mode: KeyMode) -> TestSecret {
    match mode {
        // The part after `whsec_` is the base64 of "hookmitt-public-test-key".
        KeyMode::Whsec | KeyMode::WhsecOrUtf8 | KeyMode::WhsecRequired => {
            key("hookmitt-test-whsec", "whsec_aG9va21pdHQtcHVibGljLXRlc3Qta2V5")
        }
        KeyMode::Base64 => key("hookmitt-test-base64", "aG9va21pdHQtcHVibGljLXRlc3Qta2V5"),
        KeyMode::Hex => key("hookmitt-test-hex", "686f6f6b6d6974742d7075626c69632d746573742d6b6579"),
        KeyMode::Basic => key("hookmitt-test-password", "hookmitt:test-password"),
        _ => PLAIN,
    }
}
