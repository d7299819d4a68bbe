//! The secrets and public keys that verify a source's signatures.

use crate::{
    key_bytes::decode_base64,
    public_key::{PublicKey, parse_public_key},
    scheme::Scheme,
    secret_bytes::SecretBytes,
    test_pair::{TestKeyPair, is_private_key},
};

/// A secret or public key of a source, with the label that identifies it in a verdict.
#[derive(Clone, Debug)]
pub struct Secret {
    /// The label in a verdict.
    pub label: String,
    value: SecretBytes,
    public: Option<PublicKey>,
}

impl Secret {
    /// Stores what was configured, byte for byte. If it parses as a public key, it can serve as one, because Discord
    /// and SendGrid show their keys as plain text that might as well be a shared secret. The private half of a test key
    /// serves as its public half.
    pub fn new(label: impl Into<String>, value: impl Into<SecretBytes>) -> Self {
        let value = value.into();
        let public = if is_private_key(value.expose()) {
            TestKeyPair::from_secret(value.expose()).ok().map(|pair| pair.public_key().clone())
        } else {
            parse_public_key(value.expose()).ok()
        };
        Self { label: label.into(), value, public }
    }

    /// Stores a public key, for providers that sign with the private half.
    pub fn public_key(label: impl Into<String>, key: PublicKey) -> Self {
        Self { label: label.into(), value: SecretBytes::from(Vec::new()), public: Some(key) }
    }

    /// Returns the configured bytes; empty if only a parsed public key was given.
    pub fn value(&self) -> &SecretBytes {
        &self.value
    }

    /// Returns the public key, if it is one.
    pub(crate) fn as_public(&self) -> Option<&PublicKey> {
        self.public.as_ref()
    }

    /// Whether it is of the right kind for that scheme. It may still be malformed.
    pub(crate) fn suits(&self, scheme: &Scheme) -> bool {
        if scheme.algorithm.is_asymmetric() {
            return self.public.is_some();
        }
        let value = self.value.expose();
        let one_sided: [&[u8]; 3] = [b"whpk_", b"whsk_", b"-----BEGIN "];
        let is_key = self.public.is_some() && !is_bare_key(value);
        !value.is_empty() && !is_key && !one_sided.iter().any(|start| value.starts_with(start))
    }
}

/// Whether a value is 32 bytes, raw, in hex or in base64. A public key in any longer form can't be a shared secret.
fn is_bare_key(value: &[u8]) -> bool {
    let text = std::str::from_utf8(value).map_or(value, |text| text.trim().as_bytes());
    let is_hex = text.len() == 64 && text.iter().all(u8::is_ascii_hexdigit);
    value.len() == 32 || is_hex || decode_base64(text).is_some_and(|key| key.len() == 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::new("main", "hush-hush");
        assert!(!format!("{secret:?}").contains("hush"));
    }

    #[test]
    fn threat_11_what_reads_as_a_public_key_in_full_is_no_shared_secret() {
        let github = crate::provider("github").and_then(|provider| provider.schemes.first());
        let suits = |secret: &str| github.map(|scheme| Secret::new("main", secret).suits(scheme));
        // Ed25519's SubjectPublicKeyInfo. The key inside it alone could also be a shared secret.
        let spki = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
        assert_eq!(suits(spki), Some(false));
        assert_eq!(suits(&format!(" {spki}\n")), Some(false));
        for bare in ["Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=", &"19".repeat(32), "a plain secret"] {
            assert_eq!(suits(bare), Some(true), "{bare}");
        }
    }
}
