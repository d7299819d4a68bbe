//! Compares a token's claims with the expected ones.

use serde_json::Value;

use super::token::Token;

/// The claims that a token must have.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Expected<'a> {
    /// The allowed issuers. Any issuer is allowed if the list is empty.
    pub(crate) issuers: &'a [String],
    /// The value that `aud` must equal or contain.
    pub(crate) audience: Option<&'a str>,
    /// The value that `email` must equal. The issuer must have verified it.
    pub(crate) email: Option<&'a str>,
    /// The name of the claim with the hex SHA-256 of the body, and that hash.
    pub(crate) body: Option<(&'a str, &'a str)>,
    /// Whether `exp` is checked. If so, the tolerance is leeway for clocks that differ; if not, it is the maximum age.
    pub(crate) expires: bool,
    /// In seconds. If `None`, `iat` is not checked.
    pub(crate) tolerance: Option<i64>,
    /// Whether a token that was issued in the future is rejected.
    pub(crate) future_checked: bool,
}

/// A claim that breaks the rules, or is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClaimFault {
    /// A claim is absent or has the wrong type.
    Missing(&'static str),
    /// The claim with the body's hash is absent.
    NoBodyHash(String),
    /// The token comes from another issuer.
    Issuer(String),
    /// The token is meant for another audience.
    Audience(String),
    /// The token belongs to another account, or its issuer did not verify the address.
    Account(String),
    /// The token expired this many seconds ago.
    Expired(i64),
    /// The token was issued too long ago. In seconds.
    Old { age: i64, limit: i64 },
    /// The token was issued in the future. In seconds.
    Future { ahead: i64, limit: i64 },
    /// The claimed hash, which isn't the body's.
    Body(String),
}

impl Token<'_> {
    /// Returns the first claim that is not as expected at the time `now`, in Unix seconds. Checks issuer, audience and
    /// account first, then the times, then the body.
    pub(crate) fn fault(&self, expected: &Expected<'_>, now: i64) -> Option<ClaimFault> {
        self.wrong_issuer(expected.issuers)
            .or_else(|| expected.audience.and_then(|audience| self.wrong_audience(audience)))
            .or_else(|| expected.email.and_then(|email| self.wrong_account(email)))
            .or_else(|| self.off_clock(expected, now))
            .or_else(|| expected.body.and_then(|(claim, hash)| self.wrong_body(claim, hash)))
    }

    /// Returns the time when the token says it was issued, in Unix seconds.
    pub(crate) fn issued_at(&self) -> Option<i64> {
        self.number("iat")
    }

    fn wrong_issuer(&self, issuers: &[String]) -> Option<ClaimFault> {
        if issuers.is_empty() {
            return None;
        }
        match self.claim("iss") {
            None => Some(ClaimFault::Missing("iss")),
            Some(found) if issuers.iter().any(|issuer| issuer == found) => None,
            Some(found) => Some(ClaimFault::Issuer(found.to_owned())),
        }
    }

    fn wrong_audience(&self, audience: &str) -> Option<ClaimFault> {
        match self.claims.get("aud") {
            Some(Value::String(found)) if found == audience => None,
            Some(Value::String(found)) => Some(ClaimFault::Audience(found.clone())),
            Some(Value::Array(several)) if several.iter().any(|found| found == audience) => None,
            Some(several @ Value::Array(_)) => Some(ClaimFault::Audience(several.to_string())),
            _ => Some(ClaimFault::Missing("aud")),
        }
    }

    fn wrong_account(&self, email: &str) -> Option<ClaimFault> {
        let verified = self.claims.get("email_verified").is_some_and(|value| value == true);
        match self.claim("email") {
            None => Some(ClaimFault::Missing("email")),
            Some(found) if found == email && verified => None,
            Some(found) => Some(ClaimFault::Account(found.to_owned())),
        }
    }

    fn off_clock(&self, expected: &Expected<'_>, now: i64) -> Option<ClaimFault> {
        let leeway = expected.tolerance.unwrap_or(0);
        if expected.expires {
            match self.number("exp") {
                None => return Some(ClaimFault::Missing("exp")),
                Some(end) if now > end.saturating_add(leeway) => {
                    return Some(ClaimFault::Expired(now.saturating_sub(end)));
                }
                Some(_) => {}
            }
        }
        let limit = expected.tolerance?;
        let Some(issued) = self.issued_at() else { return Some(ClaimFault::Missing("iat")) };
        let age = now.saturating_sub(issued);
        if age > limit && !expected.expires {
            return Some(ClaimFault::Old { age, limit });
        }
        let ahead = age.saturating_neg();
        (ahead > limit && expected.future_checked).then_some(ClaimFault::Future { ahead, limit })
    }

    fn wrong_body(&self, claim: &str, hash: &str) -> Option<ClaimFault> {
        match self.claim(claim) {
            None => Some(ClaimFault::NoBodyHash(claim.to_owned())),
            Some(found) if found == hash => None,
            Some(found) => Some(ClaimFault::Body(found.to_owned())),
        }
    }

    /// Returns a time claim. Fractions of a second are allowed (RFC 7519, 2) and cut off.
    fn number(&self, name: &str) -> Option<i64> {
        let value = self.claims.get(name)?;
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and no clock comes near the ends")]
        value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
    }
}
