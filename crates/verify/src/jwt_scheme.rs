//! Schemes whose signature is a JSON Web Token. The signature follows the token's own rules, the claims follow the
//! scheme's.

use std::time::Duration;

use hookmitt_event::{Cause, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::{
    algorithm::Algorithm,
    cause::{self, cause},
    jwt::{ClaimFault, Expected, JwsAlgorithm, Token, TokenFault},
    key_bytes::key_bytes,
    scheme::Scheme,
    secret::Secret,
    signature::Signed,
};

/// Whether a token is signed with that secret and, if the scheme's tokens contain a hash of the body, covers this body.
pub(crate) fn holds(signed: &Signed<'_>, secret: &Secret) -> bool {
    tokens(signed).any(|token| covers_body(&token, signed) && fits(&token, signed, secret).is_ok())
}

/// Like [`holds`], with the bytes of a shared key.
pub(crate) fn holds_with_key(signed: &Signed<'_>, key: &[u8]) -> bool {
    tokens(signed).any(|token| token.fits_secret(key).is_ok() && covers_body(&token, signed))
}

/// Returns the id of the key that the token names.
pub(crate) fn key_id(signed: &Signed<'_>) -> Option<String> {
    tokens(signed).find_map(|token| token.key_id().map(str::to_owned))
}

/// Returns a cause if the claims of a correctly signed token break the scheme's rules at that time.
pub(crate) fn claim_fault(
    signed: &Signed<'_>,
    tolerance: Option<Duration>,
    at: Timestamp,
    sender: &str,
) -> Option<Cause> {
    let scheme = signed.scheme;
    let rules = scheme.jwt.as_ref()?;
    let view = &signed.parts.view;
    let setting = |name: &Option<String>| name.as_deref().and_then(|name| view.param(name));
    let expected = Expected {
        issuers: &rules.issuers,
        audience: setting(&rules.audience),
        email: setting(&rules.email),
        body: None, // checked together with the signature
        expires: rules.expires,
        tolerance: tolerance.map(|span| i64::try_from(span.as_secs()).unwrap_or(i64::MAX)),
        future_checked: scheme.clock.as_ref().is_none_or(|clock| clock.future_checked),
    };
    let fault = tokens(signed).next()?.fault(&expected, at.as_seconds())?;
    Some(of_claim(fault, &expected, sender))
}

/// Returns why no secret matches if the token itself shows it; `None` if the secret or the body may be at fault.
pub(crate) fn cause_of(signed: &Signed<'_>, secrets: &[Secret], sender: &str) -> Option<Cause> {
    let place = signed.place_words();
    let Some(token) = tokens(signed).next() else {
        return Some(cause(
            "signature_format",
            format!("{place} isn't a token of three parts separated by dots, as {sender} sends it."),
            format!("Pass {place} on exactly as {sender} sent it."),
        ));
    };
    let suited = secrets.iter().filter(|secret| secret.suits(signed.scheme));
    let mut faults = suited.filter_map(|secret| fits(&token, signed, secret).err());
    of_fault(faults.next()?, &place, sender)
}

fn of_fault(fault: TokenFault, place: &str, sender: &str) -> Option<Cause> {
    match fault {
        TokenFault::NoMatch => None,
        TokenFault::Truncated => Some(cause(
            "signature_truncated",
            format!("The token in {place} is cut off: its signature is too short."),
            format!("Look for a length limit on {place} in a proxy, log or database column on the way."),
        )),
        TokenFault::Algorithm { found, expected } => Some(cause(
            "algorithm_mismatch",
            match found.as_str() {
                "" => format!("The token names no algorithm; {sender} signs with {expected}."),
                found => {
                    format!("The token names the algorithm {found:?}; {sender} signs with {expected}.")
                }
            },
            format!("Accept only {expected}, whatever a token says about itself: this one isn't {sender}'s."),
        )),
        TokenFault::UnknownKey(kid) => Some(cause(
            "untrusted_key",
            format!("The token names the key {kid:?}, which isn't one of {sender}'s known keys."),
            format!(
                "Fetch {sender}'s keys again in case they changed. Otherwise, someone else made this token."
            ),
        )),
    }
}

/// Returns a cause if a token names another algorithm than its provider's tokens use.
pub(crate) fn named_otherwise(signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let algorithm = jws(signed.scheme.algorithm)?;
    let fault = tokens(signed).find_map(|token| token.names(algorithm).err())?;
    // A token that names no algorithm matches no key, but it doesn't name another algorithm either.
    let is_named = matches!(&fault, TokenFault::Algorithm { found, .. } if !found.is_empty());
    if is_named { of_fault(fault, &signed.place_words(), sender) } else { None }
}

fn tokens<'s>(signed: &'s Signed<'_>) -> impl Iterator<Item = Token<'s>> {
    signed.accepted().filter_map(|text| Token::read(std::str::from_utf8(text).ok()?))
}

/// Returns the JWS algorithm of a scheme's tokens; `None` if the scheme has no tokens.
fn jws(algorithm: Algorithm) -> Option<JwsAlgorithm> {
    match algorithm {
        Algorithm::JwtHs256 => Some(JwsAlgorithm::Hs256),
        Algorithm::JwtRs256 => Some(JwsAlgorithm::Rs256),
        Algorithm::JwtEs256 => Some(JwsAlgorithm::Es256),
        _ => None,
    }
}

fn fits(token: &Token<'_>, signed: &Signed<'_>, secret: &Secret) -> Result<(), TokenFault> {
    let algorithm = match jws(signed.scheme.algorithm) {
        Some(algorithm @ (JwsAlgorithm::Rs256 | JwsAlgorithm::Es256)) => algorithm,
        _ => {
            let key = key_bytes(secret.value().expose(), signed.scheme.key);
            return token.fits_secret(&key.ok_or(TokenFault::NoMatch)?);
        }
    };
    let key = secret.as_public().ok_or(TokenFault::NoMatch)?;
    match signed.parts.view.param("kid") {
        Some(kid) => token.fits_key(algorithm, &key.clone().with_key_id(kid)),
        None => token.fits_key(algorithm, key),
    }
}

fn covers_body(token: &Token<'_>, signed: &Signed<'_>) -> bool {
    let claim = |scheme: &Scheme| scheme.jwt.as_ref()?.body_hash.clone();
    claim(signed.scheme).is_none_or(|claim| {
        let own = hex::encode(Sha256::digest(signed.parts.view.body));
        token.claim(&claim).is_some_and(|said| said == own)
    })
}

fn of_claim(fault: ClaimFault, expected: &Expected<'_>, sender: &str) -> Cause {
    match fault {
        ClaimFault::Missing(name) => missing(name, sender),
        ClaimFault::NoBodyHash(name) => missing(&name, sender),
        ClaimFault::Issuer(found) => cause(
            "untrusted_key",
            format!(
                "The token was issued by {found:?}, but {sender}'s are issued by {}.",
                expected.issuers.join(" or ")
            ),
            "Always compare the issuer of such tokens: anyone can get one from another issuer.",
        ),
        ClaimFault::Audience(found) => cause(
            "url_mismatch",
            format!(
                "The token is meant for {found:?}, but the configured audience is {:?}.",
                expected.audience.unwrap_or_default()
            ),
            format!(
                "Set the audience to {sender}'s value. If that is the webhook's URL, a tunnel changes it."
            ),
        ),
        ClaimFault::Account(found) => cause(
            "untrusted_key",
            format!(
                "The token belongs to {found:?}, but the configured account is {:?}, verified.",
                expected.email.unwrap_or_default()
            ),
            format!(
                "Always compare the account of {sender}'s tokens: any customer can get one for any audience."
            ),
        ),
        ClaimFault::Expired(seconds) => cause(
            "timestamp_old",
            format!("The token had expired {} before it was received.", cause::span(seconds)),
            "Verify tokens when they arrive; replay an old event with --resign.",
        ),
        ClaimFault::Old { age, limit } => cause::timestamp_old(sender, age, limit),
        ClaimFault::Future { ahead, limit } => cause::timestamp_future(sender, ahead, limit),
        ClaimFault::Body(_) => cause::no_match(sender, "the body", 1),
    }
}

fn missing(claim: &str, sender: &str) -> Cause {
    cause(
        "part_missing",
        format!("{sender}'s tokens contain {claim:?}, and this one doesn't."),
        format!("Check that the token is {sender}'s, and that it arrives complete."),
    )
}
