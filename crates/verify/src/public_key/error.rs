//! Why a text is not a public key that can verify signatures.

use hookmitt_event::Explain;

/// Why a text is not a public key that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// The text doesn't look like a key.
    #[error("not a public key")]
    Unreadable,
    /// The text is a private key, which only the sender may have.
    #[error("this is a private key")]
    Private,
    /// A kind of key that no provider signs with.
    #[error("{0} can't be used")]
    Kind(&'static str),
    /// An RSA modulus that is too short to be trusted or too long to compute with.
    #[error("an RSA key of {0} bits can't be used")]
    RsaSize(usize),
    /// The bytes are not a point of their curve.
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
            Self::Private => "use its public half: the private one stays with the sender".to_owned(),
            Self::Unreadable | Self::Point(_) => {
                "use PEM (certificate or public key), base64 SPKI, hex or base64 of 32 bytes, whpk_…, a JWK or a JWKS"
                    .to_owned()
            }
        })
    }
}
