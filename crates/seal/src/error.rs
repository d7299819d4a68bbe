//! Errors in sealing and opening.

use hookmitt_event::Explain;

/// Why something can't be sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The public or private key is not valid for X25519.
    #[error("the tunnel's key isn't an X25519 key")]
    Key,
    /// The text is longer than anything that is ever sealed, or the cipher failed in another way.
    #[error("the event can't be encrypted")]
    Unsealable,
    /// The letter was sealed for another key or tunnel, or was changed since.
    #[error("it was encrypted for someone else, or has been changed")]
    Foreign,
}

impl Explain for SealError {
    fn code(&self) -> &'static str {
        match self {
            Self::Key => "bad-sealing-key",
            Self::Unsealable => "unsealable",
            Self::Foreign => "sealed-for-another",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Key => Some("remove the tunnel and add it again".into()),
            Self::Unsealable => None,
            Self::Foreign => {
                Some("this tunnel's key can't decrypt it; join the tunnel again with an invitation".into())
            }
        }
    }
}
