use base64::Engine as _;
use serde_json::Value;

use super::{token::BASE64URL, *};
use crate::{
    algorithm::{Algorithm, Encoding},
    mac::Mac,
    public_key::Signing,
    test_pair::{PairKind, TestKeyPair},
};

const NOW: i64 = 1_750_000_000;
const SECRET: &[u8] = b"netlify-test-secret";

fn part(json: &str) -> String {
    BASE64URL.encode(json)
}

fn hs256(header: &str, claims: &str) -> String {
    let signed = format!("{}.{}", part(header), part(claims));
    let mut mac = Mac::new(Algorithm::HmacSha256, SECRET).unwrap();
    mac.update(signed.as_bytes());
    let tag = hex::decode(mac.finish(Encoding::Hex).as_bytes()).unwrap();
    format!("{signed}.{}", BASE64URL.encode(tag))
}

fn signed_by(pair: &TestKeyPair, signing: Signing, header: &str, claims: &str) -> String {
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = pair.sign(signing, signed.as_bytes()).unwrap();
    format!("{signed}.{}", BASE64URL.encode(signature))
}

#[test]
fn the_scheme_pins_the_algorithm_whatever_the_token_says() {
    let good = hs256(r#"{"alg":"HS256"}"#, "{}");
    assert_eq!(Token::read(&good).unwrap().fits_secret(SECRET), Ok(()));
    assert_eq!(Token::read(&good).unwrap().fits_secret(b"other"), Err(TokenFault::NoMatch));
    for (header, found) in [
        (r#"{"alg":"none"}"#, "none"),
        (r#"{"alg":"HS512"}"#, "HS512"),
        (r#"{"alg":"hs256"}"#, "hs256"),
        ("{}", ""),
        (r#"{"alg":"HS256","crit":["b64"],"b64":false}"#, "HS256"),
    ] {
        let token = hs256(header, "{}");
        let fault = TokenFault::Algorithm { found: found.to_owned(), expected: "HS256" };
        assert_eq!(Token::read(&token).unwrap().fits_secret(SECRET), Err(fault), "{header}");
    }
    // A public key used as an HMAC secret: the classic attack on a verifier that trusts the token's algorithm.
    let pair = TestKeyPair::generate(PairKind::P256).unwrap();
    let fault = TokenFault::Algorithm { found: "HS256".to_owned(), expected: "ES256" };
    assert_eq!(Token::read(&good).unwrap().fits_key(JwsAlgorithm::Es256, pair.public_key()), Err(fault));
}

#[test]
fn a_public_key_is_found_by_its_id() {
    let table = [
        (PairKind::P256, Signing::P256Fixed, JwsAlgorithm::Es256),
        (PairKind::Rsa, Signing::RsaSha256, JwsAlgorithm::Rs256),
    ];
    for (kind, signing, algorithm) in table {
        let pair = TestKeyPair::generate(kind).unwrap();
        let header = format!(r#"{{"alg":"{}","kid":"k1"}}"#, algorithm.name());
        let text = signed_by(&pair, signing, &header, r#"{"iat":1}"#);
        let token = Token::read(&text).unwrap();
        let key = pair.public_key().clone();
        assert_eq!(token.fits_key(algorithm, &key), Ok(()));
        assert_eq!(token.fits_key(algorithm, &key.clone().with_key_id("k1")), Ok(()));
        let other = TestKeyPair::generate(PairKind::P256).unwrap().public_key().clone();
        assert_eq!(token.fits_key(algorithm, &other.with_key_id("k1")), Err(TokenFault::NoMatch));
        let unknown = Err(TokenFault::UnknownKey("k1".to_owned()));
        assert_eq!(token.fits_key(algorithm, &key.clone().with_key_id("k2")), unknown);
        for cut in [1, 6] {
            let token = Token::read(&text[..text.len() - cut]).unwrap();
            assert_eq!(token.fits_key(algorithm, &key), Err(TokenFault::Truncated), "{kind:?} {cut}");
        }
    }
}

#[test]
fn no_letter_of_a_token_can_be_changed() {
    let pair = TestKeyPair::generate(PairKind::P256).unwrap();
    let text = signed_by(&pair, Signing::P256Fixed, r#"{"alg":"ES256"}"#, r#"{"iat":1}"#);
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        let holds = Token::read(&changed)
            .is_some_and(|token| token.fits_key(JwsAlgorithm::Es256, pair.public_key()).is_ok());
        assert!(!holds, "{at}: {changed}");
    }
}

#[test]
fn what_is_no_token_is_not_read() {
    for text in ["", ".", "..", "a.b", "e30.e30", "e30=.e30.x", "W10.e30.x", "e30.e30.e30.x"] {
        assert!(Token::read(text).is_none(), "{text}");
    }
    assert!(Token::read("e30.e30.").is_some(), "one without a signature has a fault, not another form");
}

#[test]
fn claims_are_compared_with_what_is_expected() {
    let issuers = ["https://accounts.google.com".to_owned()];
    let expected = Expected {
        issuers: &issuers,
        audience: Some("https://hooks.example.test/in"),
        email: Some("push@demo.iam.gserviceaccount.com"),
        expires: true,
        tolerance: Some(300),
        future_checked: true,
        body: None,
    };
    let good = serde_json::json!({
        "iss": issuers[0], "aud": "https://hooks.example.test/in", "email_verified": true,
        "email": "push@demo.iam.gserviceaccount.com", "iat": NOW - 2000, "exp": NOW + 1600,
    });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let table = [
        (good.clone(), None),
        (with("aud", serde_json::json!(["a", "https://hooks.example.test/in"])), None),
        (with("exp", (NOW - 300).into()), None),
        (with("iss", "https://evil.example".into()), Some(ClaimFault::Issuer("https://evil.example".into()))),
        (with("aud", "other".into()), Some(ClaimFault::Audience("other".into()))),
        (with("aud", serde_json::json!(["a"])), Some(ClaimFault::Audience(r#"["a"]"#.into()))),
        (with("email", "x@y".into()), Some(ClaimFault::Account("x@y".into()))),
        (
            with("email_verified", "true".into()),
            Some(ClaimFault::Account("push@demo.iam.gserviceaccount.com".into())),
        ),
        (with("exp", (NOW - 301).into()), Some(ClaimFault::Expired(301))),
        (with("exp", Value::Null), Some(ClaimFault::Missing("exp"))),
        (with("iat", (NOW + 301).into()), Some(ClaimFault::Future { ahead: 301, limit: 300 })),
        (with("iat", Value::Null), Some(ClaimFault::Missing("iat"))),
    ];
    for (claims, fault) in table {
        let text = hs256(r#"{"alg":"HS256"}"#, &claims.to_string());
        assert_eq!(Token::read(&text).unwrap().fault(&expected, NOW), fault, "{claims}");
    }
}

#[test]
fn age_and_body_are_compared_where_the_scheme_says_so() {
    let hash = "6b9c402fe42894c03197fcb83657141f".to_owned();
    let expected =
        Expected { body: Some(("request_body_sha256", &hash)), tolerance: Some(300), ..Expected::default() };
    let claims = |iat: i64, hash: &str| {
        hs256(r#"{"alg":"HS256"}"#, &format!(r#"{{"iat":{iat}.5,"request_body_sha256":"{hash}"}}"#))
    };
    let table = [
        (claims(NOW - 300, &hash), None),
        (claims(NOW + 900, &hash), None),
        (claims(NOW - 301, &hash), Some(ClaimFault::Old { age: 301, limit: 300 })),
        (claims(NOW, "00"), Some(ClaimFault::Body("00".to_owned()))),
        (
            hs256(r#"{"alg":"HS256"}"#, &format!(r#"{{"iat":{NOW}}}"#)),
            Some(ClaimFault::NoBodyHash("request_body_sha256".to_owned())),
        ),
    ];
    for (text, fault) in table {
        assert_eq!(Token::read(&text).unwrap().fault(&expected, NOW), fault);
    }
}
