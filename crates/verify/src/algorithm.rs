//! Signature algorithms, and the encodings of signature bytes.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde::Deserialize;

/// The algorithm that makes a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// HMAC with SHA-1.
    HmacSha1,
    /// HMAC with SHA-256.
    #[default]
    HmacSha256,
    /// HMAC with SHA-512.
    HmacSha512,
    /// A plain SHA-256 hash over content that includes the secret.
    Sha256,
    /// An Ed25519 signature, verified with a public key.
    Ed25519,
    /// ECDSA over P-256 with SHA-256, written in DER.
    EcdsaP256Sha256,
    /// RSA (PKCS #1 v1.5) with SHA-256.
    RsaSha256,
    /// RSA (PKCS #1 v1.5) with SHA-1.
    RsaSha1,
    /// A JSON Web Token, HMAC with SHA-256.
    JwtHs256,
    /// A JSON Web Token, RSA with SHA-256.
    JwtRs256,
    /// A JSON Web Token, ECDSA over P-256 with SHA-256.
    JwtEs256,
    /// The secret itself is sent and compared as it is.
    Token,
    /// The provider signs nothing.
    None,
}

impl Algorithm {
    /// Whether a public key verifies this algorithm's signatures.
    pub(crate) fn is_asymmetric(self) -> bool {
        use Algorithm::*;
        matches!(self, Ed25519 | EcdsaP256Sha256 | RsaSha256 | RsaSha1 | JwtRs256 | JwtEs256)
    }

    /// Whether the signature is a token in the compact form of JSON Web Signature.
    pub(crate) fn is_jwt(self) -> bool {
        matches!(self, Self::JwtHs256 | Self::JwtRs256 | Self::JwtEs256)
    }

    /// Returns the algorithm's usual name.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::HmacSha1 => "HMAC-SHA1",
            Self::HmacSha256 => "HMAC-SHA256",
            Self::HmacSha512 => "HMAC-SHA512",
            Self::Sha256 => "SHA-256",
            Self::Ed25519 => "Ed25519",
            Self::EcdsaP256Sha256 => "ECDSA P-256 with SHA-256",
            Self::RsaSha256 => "RSA with SHA-256",
            Self::RsaSha1 => "RSA with SHA-1",
            Self::JwtHs256 => "JWT, HMAC-SHA256",
            Self::JwtRs256 => "JWT, RSA with SHA-256",
            Self::JwtEs256 => "JWT, ECDSA P-256 with SHA-256",
            Self::Token => "shared token",
            Self::None => "nothing",
        }
    }
}

/// How signature bytes are encoded as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    /// Lower-case hex.
    #[default]
    Hex,
    /// Standard base64 with padding.
    Base64,
    /// Base64 with `-` and `_`, without padding.
    Base64url,
}

impl Encoding {
    /// Encodes bytes as text.
    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => hex::encode(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base64url => URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}
