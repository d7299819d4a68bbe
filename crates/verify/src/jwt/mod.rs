//! Tokens in JSON Web Signature's compact form (RFC 7515), as webhooks carry them.
//!
//! The scheme sets the algorithm, never the token. This code reads no clock. Signature and claims are checked
//! separately, so that a verdict can name which of them is wrong.

mod claims;
mod rules;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use claims::{ClaimFault, Expected};
pub(crate) use rules::JwtRules;
pub(crate) use token::{JwsAlgorithm, Token, TokenFault};
