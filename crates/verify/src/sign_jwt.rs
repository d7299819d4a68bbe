//! Makes the tokens that some providers sign with.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hookmitt_event::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    algorithm::{Algorithm, Encoding},
    content::Parts,
    key_bytes::key_bytes,
    mac::Mac,
    public_key::Signing,
    scheme::Scheme,
    test_pair::TestKeyPair,
};

/// The lifetime of tokens that expire, in seconds. Google's last an hour.
const LASTS_S: i64 = 3600;

/// The key id of a test key, if the configuration names none.
const TEST_KEY: &str = "hookmitt-test";

/// Returns a token with the claims that the scheme checks, or `None` if the secret is no key of the right kind.
pub(crate) fn token(scheme: &Scheme, parts: &Parts<'_>, secret: &[u8], at: Timestamp) -> Option<String> {
    let kid = parts.view.param("kid").unwrap_or(TEST_KEY);
    let header = match scheme.algorithm {
        Algorithm::JwtRs256 => json!({ "alg": "RS256", "kid": kid, "typ": "JWT" }),
        Algorithm::JwtEs256 => json!({ "alg": "ES256", "kid": kid, "typ": "JWT" }),
        _ => json!({ "alg": "HS256", "typ": "JWT" }),
    };
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let claims = claims(scheme, parts, at.as_seconds());
    let signed = format!("{}.{}", text(header.to_string().as_bytes()), text(claims.to_string().as_bytes()));
    let way = match scheme.algorithm {
        Algorithm::JwtRs256 => Signing::RsaSha256,
        Algorithm::JwtEs256 => Signing::P256Fixed,
        _ => {
            let mut mac = Mac::new(Algorithm::HmacSha256, &key_bytes(secret, scheme.key)?)?;
            mac.update(signed.as_bytes());
            let tag = mac.finish(Encoding::Base64url);
            return Some(format!("{signed}.{}", String::from_utf8_lossy(tag.as_bytes())));
        }
    };
    let signature = TestKeyPair::from_secret(secret).ok()?.sign(way, signed.as_bytes()).ok()?;
    Some(format!("{signed}.{}", text(&signature)))
}

fn claims(scheme: &Scheme, parts: &Parts<'_>, now: i64) -> Value {
    let rules = scheme.jwt.clone().unwrap_or_default();
    let setting = |name: &str| parts.view.param(name);
    let mut claims = Map::new();
    let mut say = |name: &str, value: Value| claims.insert(name.to_owned(), value);
    if let Some(issuer) = rules.issuers.first() {
        say("iss", issuer.as_str().into());
    }
    if let Some(claim) = &rules.body_hash {
        say(claim, hex::encode(Sha256::digest(parts.view.body)).into());
    }
    if let Some(audience) = &rules.audience {
        say("aud", setting(audience).or(parts.view.url).unwrap_or_default().into());
    }
    if let Some(email) = &rules.email {
        say("email", setting(email).unwrap_or_default().into());
        say("email_verified", true.into());
    }
    if rules.expires {
        say("exp", (now + LASTS_S).into());
    }
    say("iat", now.into());
    claims.into()
}
