//! Why a request can't be signed.

use hookmitt_event::{Explain, HeaderError};

use crate::generic_error::VerifyError;

/// Why a request can't be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The provider signs nothing.
    #[error("{0} signs nothing, so there is nothing to sign")]
    SignsNothing(String),
    /// Only the provider has the key that signs.
    #[error("{0}'s key is private, so this can't be re-signed")]
    PrivateKey(String),
    /// The body has no place for the signature.
    #[error("{0} signs inside the body, and this body has no place for the signature: {1}")]
    NoPlace(String, String),
    /// The secret is empty.
    #[error("the secret is empty")]
    EmptySecret,
    /// The secret can't be used as a signing key for this provider.
    #[error("the secret isn't a valid {0} key")]
    BadSecret(String),
    /// The generic settings can't be used for signing.
    #[error(transparent)]
    Settings(#[from] VerifyError),
    /// The scheme signs an id, but the request has none and none was given.
    #[error("{0} signs an id, but the request has none")]
    IdNeeded(String),
    /// A value that can't stand in a header.
    #[error(transparent)]
    Header(#[from] HeaderError),
}

impl Explain for SignError {
    fn code(&self) -> &'static str {
        match self {
            Self::SignsNothing(_) => "signs-nothing",
            Self::PrivateKey(_) => "private-key",
            Self::NoPlace(..) => "no-place-for-signature",
            Self::EmptySecret | Self::BadSecret(_) => "bad-secret",
            Self::Settings(error) => error.code(),
            Self::IdNeeded(_) => "id-needed",
            Self::Header(_) => "bad-header",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Settings(error) => error.hint(),
            Self::BadSecret(_) => {
                Some("enter the signing secret exactly as the provider shows it, such as whsec_…".to_owned())
            }
            Self::EmptySecret => Some("set a secret, or use the public test secret".to_owned()),
            Self::IdNeeded(_) => Some("ask for a fresh id".to_owned()),
            Self::PrivateKey(_) => {
                Some("create a local test key with `hookmitt secret test-key NAME`, and give its public key to your \
                      handler".to_owned())
            }
            Self::NoPlace(..) => Some("keep the provider's envelope in an edited body".to_owned()),
            Self::SignsNothing(_) | Self::Header(_) => None,
        }
    }
}
