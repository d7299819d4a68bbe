//! Why a published key is not available.

use hookmitt_event::Explain;
use hookmitt_verify::{PublicKeyError, UntrustedUrl};

/// Why a published key is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// The URL is not one where a provider publishes keys.
    #[error("it isn't fetched from there: {0}")]
    Untrusted(#[from] UntrustedUrl),
    /// Plaid gives its keys only to clients with a client id and a secret, and hookmitt has neither.
    #[error("the provider gives it only to customers, with their API credentials")]
    Credentials,
    /// Nobody answers at the URL, or not over trusted TLS.
    #[error("{0}")]
    Unreachable(String),
    /// The answer did not arrive in time.
    #[error("there was no answer within 5 seconds")]
    Slow,
    /// The answer was a redirect, which is not followed.
    #[error("the answer was a redirect, which is not followed")]
    Redirect,
    /// The answer had a status other than 200.
    #[error("the answer was {0}")]
    Status(u16),
    /// The answer was larger than a key can be.
    #[error("the answer was larger than 10 KB")]
    TooLarge,
    /// The answer was not a key.
    #[error("the answer was {0}")]
    NoKey(#[from] PublicKeyError),
}

impl Explain for KeyProblem {
    fn code(&self) -> &'static str {
        match self {
            Self::Untrusted(_) => "untrusted-key-url",
            Self::Credentials => "key-needs-credentials",
            Self::Unreachable(_) | Self::Slow => "key-unreachable",
            Self::Redirect | Self::Status(_) | Self::TooLarge | Self::NoKey(_) => "bad-key-answer",
        }
    }

    fn hint(&self) -> Option<String> {
        Some("download the key yourself and provide it as a file".to_owned())
    }
}
