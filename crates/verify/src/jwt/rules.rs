//! What a JSON Web Token must say, as data.

use serde::Deserialize;

/// The claims that a scheme looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JwtRules {
    /// Who may have issued it; anybody where the list is empty.
    pub(crate) issuers: Vec<String>,
    /// The claim that holds the hex SHA-256 of the body.
    pub(crate) body_hash: Option<String>,
    /// The configuration that `aud` must equal.
    pub(crate) audience: Option<String>,
    /// The configuration that `email` must equal.
    pub(crate) email: Option<String>,
    /// Whether `exp` is looked at.
    pub(crate) expires: bool,
}
