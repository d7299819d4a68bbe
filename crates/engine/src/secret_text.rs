//! Secrets in what callers order.

use std::fmt;

use base64::{DecodeError, Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer, ser::Error as _};
use zeroize::{Zeroize as _, Zeroizing};

/// A secret as text. It is never printed, and overwritten when it is dropped.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// The text, for those who pass it on.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The bytes, where the text is base64.
    ///
    /// # Errors
    /// It is none. Nobody is to be told more than that: the error names a byte of the secret.
    pub fn decoded(&self) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
        STANDARD.decode(&self.0).map(Zeroizing::new)
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// The description of an order needs one that can be written; what is described is an order without a secret.
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
