use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use hookmitt_event::Timestamp;
use rcgen::{CertificateParams, DnType, KeyPair, PublicKeyData as _};
use ring::{rand::SystemRandom, signature::KeyPair as _};

use super::*;

/// RFC 8032, 7.1, test 1.
const HEX: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

/// The start of an Ed25519 key in SPKI (RFC 8410, 10.1). The key's 32 bytes follow.
const ED25519_SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

#[test]
fn one_key_is_read_in_every_writing() {
    let raw = hex::decode(HEX).unwrap();
    let base64 = STANDARD.encode(&raw);
    let spki = STANDARD.encode([&ED25519_SPKI[..], &raw].concat());
    let x = URL_SAFE_NO_PAD.encode(&raw);
    let writings = [
        HEX.to_owned(),
        HEX.to_ascii_uppercase(),
        format!("{base64}\n"),
        format!("whpk_{base64}"),
        spki.clone(),
        format!("-----BEGIN PUBLIC KEY-----\n{spki}\n-----END PUBLIC KEY-----\n"),
        format!("-----BEGIN PUBLIC KEY-----\\n{spki}\\n-----END PUBLIC KEY-----\\n"),
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#),
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}]}}"#),
        format!(r#"{{"key":{{"kty":"OKP","crv":"Ed25519","x":"{x}"}},"request_id":"r"}}"#),
    ];
    let key = PublicKey::from_bytes(&raw).unwrap();
    for writing in writings {
        assert_eq!(parse_public_key(writing.as_bytes()).as_ref(), Ok(&key), "{writing}");
    }
    assert_eq!(parse_public_key(&raw), Ok(key));
}

#[test]
fn a_p256_key_checks_signatures_in_der_and_as_two_numbers() {
    let pair = KeyPair::generate().unwrap(); // P-256, rcgen's default
    let point = pair.public_key_raw();
    let [x, y] = [&point[1..33], &point[33..]].map(|half| URL_SAFE_NO_PAD.encode(half));
    let writings = [
        pair.public_key_pem(),
        STANDARD.encode(pair.subject_public_key_info()),
        format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#),
    ];
    let random = SystemRandom::new();
    let signed = |algorithm| {
        let pair =
            ring::signature::EcdsaKeyPair::from_pkcs8(algorithm, &pair.serialize_der(), &random).unwrap();
        assert_eq!(pair.public_key().as_ref(), point);
        pair.sign(&random, b"message").unwrap().as_ref().to_vec()
    };
    let in_der = signed(&ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING);
    let fixed = signed(&ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING);
    for writing in writings {
        let key = parse_public_key(writing.as_bytes()).unwrap();
        assert!(key.verifies(Signing::P256Der, None, b"message", &in_der), "{writing}");
        assert!(key.verifies(Signing::P256Fixed, None, b"message", &fixed), "{writing}");
        assert!(!key.verifies(Signing::P256Fixed, None, b"message", &in_der));
        assert!(!key.verifies(Signing::P256Der, None, b"messagf", &in_der));
        assert!(!key.verifies(Signing::Ed25519, None, b"message", &fixed));
    }
}

#[test]
fn a_certificate_gives_its_key_its_name_and_its_time() {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "messageverificationcerts.paypal.com");
    params.not_before = rcgen::date_time_ymd(2025, 1, 1);
    params.not_after = rcgen::date_time_ymd(2027, 1, 1);
    let pair = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&pair).unwrap().pem();
    let key = parse_public_key(certificate.as_bytes()).unwrap();
    let facts = key.certificate(None).unwrap();
    assert_eq!(facts.common_name.as_deref(), Some("messageverificationcerts.paypal.com"));
    assert_eq!(facts.not_before, "2025-01-01T00:00:00Z".parse().unwrap());
    assert!(!key.ended(None, "2026-12-31T00:00:00Z".parse().unwrap()));
    assert!(key.ended(None, "2027-01-01T00:00:01Z".parse().unwrap()));
    let plain = parse_public_key(pair.public_key_pem().as_bytes()).unwrap();
    assert_eq!(key.first().unwrap().key, plain.first().unwrap().key);
    // The form in which Google publishes them, by key id.
    let map = serde_json::json!({ "k1": certificate, "k2": certificate }).to_string();
    let set = parse_public_key(map.as_bytes()).unwrap();
    assert_eq!(set.key_ids().collect::<Vec<_>>(), ["k1", "k2"]);
    assert!(set.knows(Some("k2")) && set.knows(None) && !set.knows(Some("k3")));
}

#[test]
fn a_set_is_told_apart_by_key_ids() {
    let raw = hex::decode(HEX).unwrap();
    let x = URL_SAFE_NO_PAD.encode(&raw);
    let set = format!(
        r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"a","expired_at":1000}},
            {{"kty":"OKP","crv":"Ed448","x":"AA","kid":"b"}},{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"c"}}]}}"#
    );
    let set = parse_public_key(set.as_bytes()).unwrap();
    assert_eq!(set.key_ids().collect::<Vec<_>>(), ["a", "c"]);
    let later = Timestamp::from_seconds(1001);
    assert!(set.ended(Some("a"), later) && !set.ended(Some("c"), later) && !set.ended(None, later));
    let named = PublicKey::from_bytes(&raw).unwrap().with_key_id("k1");
    assert!(named.knows(Some("k1")) && !named.knows(Some("k9")));
    assert_eq!(named.clone().with_key_id("k2"), named, "a key keeps the id that it has");
    assert!(PublicKey::from_bytes(&raw).unwrap().knows(Some("any")));
}

#[test]
fn what_can_t_be_used_says_so() {
    let short = URL_SAFE_NO_PAD.encode([0xff; 64]);
    let table = [
        (String::new(), PublicKeyError::Unreadable),
        ("hello".to_owned(), PublicKeyError::Unreadable),
        ("{}".to_owned(), PublicKeyError::Unreadable),
        (pem("CERTIFICATE", b"AAAA"), PublicKeyError::Unreadable),
        (pem("PRIVATE KEY", b"AAAA"), PublicKeyError::Private),
        (r#"{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}"#.to_owned(), PublicKeyError::Private),
        (r#"{"kty":"RSA","e":"AQAB"}"#.to_owned(), PublicKeyError::Unreadable),
        (format!(r#"{{"kty":"RSA","n":"{short}","e":"AQAB"}}"#), PublicKeyError::RsaSize(512)),
        (r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#.to_owned(), PublicKeyError::Point("P-256")),
        (
            r#"{"kty":"EC","crv":"P-521"}"#.to_owned(),
            PublicKeyError::Kind("elliptic-curve keys other than P-256 and Ed25519"),
        ),
    ];
    for (text, error) in table {
        assert_eq!(parse_public_key(text.as_bytes()), Err(error), "{text}");
    }
}
