//! Turns the text of a secret into key bytes.

use std::borrow::Cow;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD},
};
use sha1::{Digest as _, Sha1};

use crate::scheme::KeyMode;

const PREFIX: &[u8] = b"whsec_";

/// Returns the key bytes of a secret. Returns `None` if the mode needs base64, hex or a prefix that the secret doesn't
/// have, or if it needs a public key.
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

/// Decodes HTML's five entities, as WooCommerce does in its secrets.
fn without_entities(secret: &[u8]) -> Cow<'_, [u8]> {
    let Some(text) = std::str::from_utf8(secret).ok().filter(|text| text.contains('&')) else {
        return secret.into();
    };
    let table =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#039;", "'"), ("&amp;", "&")];
    let decoded = table.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter));
    Cow::Owned(decoded.into_bytes())
}

/// Decodes standard base64, with or without padding. Ignores white space at the ends, as the SDKs' decoders do. Returns
/// `None` if the text isn't base64 or is empty.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii();
    let decoded = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text)).ok()?;
    (!decoded.is_empty()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

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
