//! Secrets in callers' requests.

use std::fmt;

use base64::{DecodeError, Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer, ser::Error as _};
use zeroize::{Zeroize as _, Zeroizing};

/// A secret as text. It is never printed, and its memory is overwritten when it is dropped.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// Returns the text, to pass it on.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Decodes the text as base64.
    ///
    /// # Errors
    /// Fails if the text isn't base64. Show nobody the error itself, because it names a byte of the secret.
    pub fn decoded(&self) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
        STANDARD.decode(&self.0).map(Zeroizing::new)
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// Exists because the OpenAPI schema of a request contains its default value, which has to be serializable. The default
/// holds no secret; serializing a secret fails.
impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("a secret is never written"))
    }
}

impl Drop for SecretText {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretText(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promise_7_a_secret_in_an_order_is_never_printed() {
        let text: SecretText = serde_json::from_str("\"aHVzaA==\"").unwrap();
        assert_eq!((text.expose(), text.decoded().unwrap().as_slice()), ("aHVzaA==", &b"hush"[..]));
        assert!(!format!("{text:?}").contains("aHVz"));
        assert!(serde_json::to_string(&text).is_err());
    }
}
