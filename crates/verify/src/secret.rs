//! What a source's signatures are checked with.

use std::{borrow::Cow, fmt};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD},
};

use sha1::{Digest as _, Sha1};
use zeroize::Zeroizing;

use crate::{PublicKey, Scheme, TestKeyPair, mac::same, parse_public_key, scheme::KeyMode};

/// A secret's bytes, as they were configured. They are never printed, and overwritten when they are dropped.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl PartialEq for SecretBytes {
    /// Takes as long for a near miss as for a far one.
    fn eq(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}

impl Eq for SecretBytes {}

impl SecretBytes {
    /// The bytes, for those who compute with them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl<T: Into<Vec<u8>>> From<T> for SecretBytes {
    fn from(bytes: T) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretBytes(…)")
    }
}

/// One secret or public key of a source, with the label under which a verdict names it.
#[derive(Clone, Debug)]
pub struct Secret {
    /// What a verdict calls it.
    pub label: String,
    value: SecretBytes,
    public: Option<PublicKey>,
}

impl Secret {
    /// What was configured, byte for byte. Where it reads as a public key it serves as one: Discord and SendGrid show
    /// theirs as a plain text that a shared secret might be as well. The private half of a test key serves as the
    /// public one.
    pub fn new(label: impl Into<String>, value: impl Into<SecretBytes>) -> Self {
        let value = value.into();
        let public = if is_private_key(value.expose()) {
            TestKeyPair::from_secret(value.expose()).ok().map(|pair| pair.public_key().clone())
        } else {
            parse_public_key(value.expose()).ok()
        };
        Self { label: label.into(), value, public }
    }

    /// A public key, for providers that sign with the private one.
    pub fn public_key(label: impl Into<String>, key: PublicKey) -> Self {
        Self { label: label.into(), value: SecretBytes::from(Vec::new()), public: Some(key) }
    }

    /// The configured bytes; empty where it is only a public key.
    pub fn value(&self) -> &SecretBytes {
        &self.value
    }

    /// The public key, where it is one.
    pub(crate) fn as_public(&self) -> Option<&PublicKey> {
        self.public.as_ref()
    }

    /// Whether it can be used with that scheme at all (it may still be malformed).
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

/// Whether these are 32 bytes as they are, in hex or in base64: what else reads as a public key can't be a shared secret.
fn is_bare_key(value: &[u8]) -> bool {
    let text = std::str::from_utf8(value).map_or(value, |text| text.trim().as_bytes());
    let is_hex = text.len() == 64 && text.iter().all(u8::is_ascii_hexdigit);
    value.len() == 32 || is_hex || decode_base64(text).is_some_and(|key| key.len() == 32)
}

/// Whether a secret is the private half of a key pair.
pub(crate) fn is_private_key(secret: &[u8]) -> bool {
    secret.starts_with(b"whsk_") || secret.trim_ascii_start().starts_with(b"-----BEGIN PRIVATE KEY-----")
}

const PREFIX: &[u8] = b"whsec_";

/// A secret's bytes as key bytes; `None` where the mode wants base64 or hex and they are not.
pub(crate) fn key_bytes(secret: &[u8], mode: KeyMode) -> Option<Cow<'_, [u8]>> {
    let after_prefix = secret.strip_prefix(PREFIX);
    match (mode, after_prefix) {
        (KeyMode::Utf8 | KeyMode::Compare, _) | (KeyMode::WhsecOrUtf8, None) => Some(secret.into()),
        (KeyMode::Public, _) | (KeyMode::WhsecRequired, None) => None,
        (KeyMode::Whsec | KeyMode::WhsecRequired | KeyMode::WhsecOrUtf8, _) => {
            decode_base64(after_prefix.unwrap_or(secret)).map(Into::into)
        }
        (KeyMode::Base64, _) => decode_base64(secret).map(Into::into),
        (KeyMode::Hex, _) => {
            hex::decode(secret.trim_ascii()).ok().filter(|key| !key.is_empty()).map(Into::into)
        }
        (KeyMode::Sha1, _) => Some(Cow::Owned(Sha1::digest(secret).to_vec())),
        (KeyMode::Html, _) => Some(without_entities(secret)),
        (KeyMode::Basic, _) => Some(Cow::Owned(STANDARD.encode(secret).into_bytes())),
    }
}

/// A text with HTML's five entities decoded, as WooCommerce does with its secrets.
pub(crate) fn without_entities(secret: &[u8]) -> Cow<'_, [u8]> {
    let Some(text) = std::str::from_utf8(secret).ok().filter(|text| text.contains('&')) else {
        return secret.into();
    };
    let table =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#039;", "'"), ("&amp;", "&")];
    let decoded = table.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter));
    Cow::Owned(decoded.into_bytes())
}

/// Decodes standard base64, with or without padding; `None` where it isn't, or holds nothing. White space at the ends
/// is passed over, as the SDKs' decoders do.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii();
    let decoded = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text)).ok()?;
    (!decoded.is_empty()).then_some(decoded)
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
        // Ed25519's SubjectPublicKeyInfo, then the key in it alone, which a shared secret may look like.
        let spki = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
        assert_eq!(suits(spki), Some(false));
        assert_eq!(suits(&format!(" {spki}\n")), Some(false));
        for bare in ["Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=", &"19".repeat(32), "a plain secret"] {
            assert_eq!(suits(bare), Some(true), "{bare}");
        }
    }

    #[test]
    fn key_modes_read_secrets_as_the_sdks_do() {
        let table: [(&str, KeyMode, Option<&[u8]>); 14] = [
            ("text", KeyMode::Utf8, Some(b"text")),
            ("whsec_Zm9v", KeyMode::Utf8, Some(b"whsec_Zm9v")),
            ("whsec_Zm9v", KeyMode::Whsec, Some(b"foo")),
            ("Zm9v", KeyMode::Whsec, Some(b"foo")),
            ("whsec_Zm9v\n", KeyMode::Whsec, Some(b"foo")),
            ("Zm9v", KeyMode::WhsecRequired, None),
            ("Zm9v", KeyMode::WhsecOrUtf8, Some(b"Zm9v")),
            ("whsec_Zm9v", KeyMode::WhsecOrUtf8, Some(b"foo")),
            ("whsec_", KeyMode::Whsec, None),
            ("Zm9v", KeyMode::Base64, Some(b"foo")),
            ("666f6F", KeyMode::Hex, Some(b"foo")),
            ("not hex", KeyMode::Hex, None),
            ("a &amp; b", KeyMode::Html, Some(b"a & b")),
            ("user:pass", KeyMode::Basic, Some(b"dXNlcjpwYXNz")),
        ];
        for (secret, mode, expected) in table {
            assert_eq!(key_bytes(secret.as_bytes(), mode).as_deref(), expected, "{secret} {mode:?}");
        }
    }
}
