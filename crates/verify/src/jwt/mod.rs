//! Tokens in JSON Web Signature's compact form (RFC 7515), as webhooks carry them.
//!
//! The algorithm is the scheme's, never the token's; there is no clock in here; and signature and claims are looked at
//! apart, so that a verdict can name which of them is wrong.

mod claims;
mod rules;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use claims::{ClaimFault, Expected};
pub(crate) use rules::JwtRules;
pub(crate) use token::{JwsAlgorithm, Token, TokenFault};
