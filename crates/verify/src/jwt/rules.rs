//! What a JSON Web Token must contain, as data.

use serde::Deserialize;

/// The claims that a scheme checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JwtRules {
    /// The allowed issuers. Any issuer is allowed if the list is empty.
    pub(crate) issuers: Vec<String>,
    /// The claim that holds the hex SHA-256 of the body.
    pub(crate) body_hash: Option<String>,
    /// The name of the signature parameter whose value the claim `aud` must have.
    pub(crate) audience: Option<String>,
    /// The name of the signature parameter whose value the claim `email` must have; the email must be verified, too.
    pub(crate) email: Option<String>,
    /// Whether `exp` is checked.
    pub(crate) expires: bool,
}
