//! What can go wrong with sealing and opening.

use hookmitt_event::Explain;

/// Why something can't be sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// A public or private key that X25519 can't work with.
    #[error("the tunnel's key is no X25519 key")]
    Key,
    /// Longer than anything that is ever sealed, or another failure of the cipher.
    #[error("a letter that can't be sealed")]
    Unsealable,
    /// The letter was sealed for another key or tunnel, or is not what was sealed.
    #[error("the letter was sealed for somebody else, or has been changed")]
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
            Self::Key => Some("remove the tunnel and add it anew".into()),
            Self::Unsealable => None,
            Self::Foreign => {
                Some("the key of this tunnel can't open it; join the tunnel by an invite once more".into())
            }
        }
    }
}
