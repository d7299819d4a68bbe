//! What signatures are made with, and how their bytes are written.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde::Deserialize;

/// What a signature is made with.
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
    /// A plain hash over content that holds the secret.
    Sha256,
    /// An Ed25519 signature, checked with a public key.
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
    /// The secret itself, compared as it is.
    Token,
    /// The provider signs nothing.
    None,
}

impl Algorithm {
    /// Whether a public key checks it.
    pub(crate) fn is_asymmetric(self) -> bool {
        use Algorithm::*;
        matches!(self, Ed25519 | EcdsaP256Sha256 | RsaSha256 | RsaSha1 | JwtRs256 | JwtEs256)
    }

    /// Whether it is a token in JSON Web Signature's compact form.
    pub(crate) fn is_jwt(self) -> bool {
        matches!(self, Self::JwtHs256 | Self::JwtRs256 | Self::JwtEs256)
    }

    /// Its usual name.
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

/// How signature bytes are written.
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
    /// The bytes as text.
    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => hex::encode(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base64url => URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}
