//! What a genuine signature doesn't cover.

use std::sync::LazyLock;

use hookmitt_event::{GenericScheme, Request, Verdict};
use hookmitt_verify::{Inquiry, Secret, SignBy, evidence, judge, provider, sample, sign};
use proptest::prelude::*;

use crate::{AT, Case, URL, is_valid, paypal};

#[test]
fn a_valid_verdict_says_what_the_signature_leaves_open() {
    let form = Case::of_sample("twilio", "auth-token");
    assert!(is_valid(&form) && !form.sentence().contains("covered"), "{}", form.sentence());
    // Only the URL is signed, so any body fits.
    let bare = Case::new(
        "twilio",
        Request { body: Vec::new().into(), ..form.request.clone() },
        "auth-token",
        Vec::new(),
    );
    let json = bare.with(&[("Content-Type", Some("application/json"))]).with_body(br#"{"paid":true}"#);
    assert!(is_valid(&json), "{:?}", json.judged().causes);
    assert!(json.sentence().contains("The signature doesn't cover the body"), "{}", json.sentence());
    let hashed = Request { query: Some("bodySHA256=0".to_owned()), ..json.request.clone() };
    let hashed = Case::new("twilio", hashed, "auth-token", Vec::new());
    assert!(is_valid(&hashed) && !hashed.sentence().contains("covered"), "{}", hashed.sentence());
    let open = [
        ("mailgun", "key", "only its timestamp and token"),
        ("telegram", "A1_b-2", "signs nothing"),
        ("figma", "pass", "signs nothing"),
    ];
    for (id, secret, words) in open {
        let case = Case::of_sample(id, secret);
        assert!(
            case.sentence().starts_with("Valid. ") && case.sentence().contains(words),
            "{}",
            case.sentence()
        );
        let judgement = case.judged();
        assert_eq!(
            evidence(&case.inquiry(), &judgement).uncovered.as_deref().map(|says| says.contains(words)),
            Some(true)
        );
    }
    assert!(paypal().sentence().contains("Only a CRC-32"), "{}", paypal().sentence());
    assert!(!Case::of_sample("stripe", "whsec_x").sentence().contains("covered"));
}

#[test]
fn a_scheme_of_ones_own_says_what_it_leaves_open_too() {
    let set = |text: &str| Some(text.to_owned());
    let header = set("X-Signature");
    let table = [
        (GenericScheme { signature_header: header.clone(), ..GenericScheme::default() }, None),
        (
            GenericScheme {
                signature_header: header.clone(),
                algorithm: set("token"),
                ..GenericScheme::default()
            },
            Some("signs nothing"),
        ),
        (
            GenericScheme {
                signature_header: header.clone(),
                signed_content: set("{/id}"),
                ..GenericScheme::default()
            },
            Some("not the whole body"),
        ),
        (
            GenericScheme {
                signature_header: header,
                signed_content: set("{crc32}"),
                ..GenericScheme::default()
            },
            Some("CRC-32"),
        ),
    ];
    for (generic, words) in table {
        let github = provider("github").unwrap();
        let made = sample(github, None, "0197-a", AT).unwrap();
        let by = SignBy { generic: Some(&generic), ..SignBy::new(github, b"hush", AT) };
        let request = sign(&by, &Request { body: br#"{"id":"a"}"#.to_vec().into(), ..made }).unwrap();
        let case = Case {
            provider: github,
            request,
            secrets: vec![Secret::new("main", "hush")],
            params: Vec::new(),
            url: URL.to_owned(),
        };
        let inquiry = Inquiry { generic: Some(&generic), provider: None, ..case.inquiry() };
        let said = evidence(&inquiry, &judge(&inquiry)).uncovered;
        assert_eq!(judge(&inquiry).verdict, Verdict::Valid);
        assert_eq!(said.is_some(), words.is_some(), "{said:?}");
        assert!(words.is_none_or(|words| said.unwrap().contains(words)));
    }
}

/// Returns the body with four bytes appended that give it the wanted CRC-32.
fn with_crc(body: &[u8], wanted: u32) -> Vec<u8> {
    let table: Vec<u32> = (0..256u32)
        .map(|byte| {
            (0..8).fold(byte, |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
        })
        .collect();
    let (mut state, mut at) = (!wanted, Vec::new());
    for _ in 0..4 {
        let index = table.iter().position(|entry| entry >> 24 == state >> 24).unwrap();
        at.push(index);
        state = (state ^ table[index]) << 8;
    }
    let mut crc = !crc32fast::hash(body);
    let mut out = body.to_vec();
    for index in at.into_iter().rev() {
        let low = u32::try_from(index).unwrap() ^ (crc & 0xff);
        out.push(u8::try_from(low & 0xff).unwrap());
        crc = (crc >> 8) ^ table[index];
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// The signature can't tell these bodies apart, so the verdict returns the signed id, which only one body may have.
    #[test]
    fn threat_6_another_paypal_body_with_the_same_crc_is_bound_to_its_transmission(forged in "[a-z{}\":,0-9]{1,80}") {
        static PAYPAL: LazyLock<Case> = LazyLock::new(paypal);
        let genuine = PAYPAL.judged();
        let body = with_crc(forged.as_bytes(), crc32fast::hash(&PAYPAL.request.body));
        let other = PAYPAL.with_body(&body);
        prop_assert!(is_valid(&other));
        prop_assert_eq!(other.judged().single_use, genuine.single_use.clone());
        prop_assert!(genuine.single_use.is_some());
    }
}
