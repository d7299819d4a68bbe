//! Why a text is no public key that signatures can be checked with.

use hookmitt_event::Explain;

/// A text that is not a public key we can use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// Nothing that looks like a key.
    #[error("not a public key")]
    Unreadable,
    /// The half that only the sender may have.
    #[error("this is a private key")]
    Private,
    /// A kind of key that no provider signs with.
    #[error("{0} can't be used")]
    Kind(&'static str),
    /// An RSA modulus that is too short to be trusted or too long to be computed with.
    #[error("an RSA key of {0} bits can't be used")]
    RsaSize(usize),
    /// Bytes that are no point of their curve.
    #[error("not a point of the {0} curve")]
    Point(&'static str),
}

impl Explain for PublicKeyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Kind(_) | Self::RsaSize(_) => "unsupported-key",
            Self::Unreadable | Self::Private | Self::Point(_) => "bad-public-key",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Kind(_) => "use an Ed25519, P-256 or RSA public key".to_owned(),
            Self::RsaSize(_) => "use an RSA key of 1024 to 8192 bits".to_owned(),
            Self::Private => "give its public half: the private one stays with the sender".to_owned(),
            Self::Unreadable | Self::Point(_) => {
                "use PEM (certificate or public key), base64 SPKI, hex or base64 of 32 bytes, whpk_…, a JWK or a JWKS"
                    .to_owned()
            }
        })
    }
}
