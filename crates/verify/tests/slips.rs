//! Each slip that can happen to a signed request on its way gets its own cause.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what is not as it should be, and says what it saw"
)]

mod matrix;

use hookmitt_event::{Timestamp, Verdict};
use hookmitt_verify::{Secret, SignBy, provider, sign};
use matrix::{SIGNED_AT, SUBJECTS, complaint, judged, request, variants};

fn head(id: &str) -> Vec<(String, String)> {
    let names: &[(&str, &str)] = match id {
        "github" => &[("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "1")],
        "shopify" => &[("X-Shopify-Topic", "orders/create")],
        "svix" | "clerk" | "resend" => &[("svix-id", "msg_1")],
        "stripe" | "slack" | "telegram" => &[],
        _ => &[("webhook-id", "msg_1")],
    };
    names.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn every_slip_of_every_provider_is_named() {
    let mut complaints = Vec::new();
    let mut count = 0;
    for subject in &SUBJECTS {
        let mut signer = |secret: &str, body: &[u8]| {
            let unsigned = request(head(subject.id), body);
            let at = Timestamp::from_seconds(SIGNED_AT);
            sign(&SignBy::new(provider(subject.id).unwrap(), secret.as_bytes(), at), &unsigned).unwrap()
        };
        for variant in variants(subject, true, &mut signer) {
            complaints.extend(complaint(subject, &variant));
            count += 1;
        }
    }
    println!("slips: {} named, {} not", count - complaints.len(), complaints.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_static_token_is_compared_and_explained() {
    let telegram = provider("telegram").unwrap();
    let table = [
        ("A1_b-2", "A1_b-2", Verdict::Valid, ""),
        ("A1_b-2", "A1_b-2\n", Verdict::Invalid, "secret_whitespace"),
        ("A1_b-2", "a1_B-2", Verdict::Invalid, "secret_encoding"),
        ("A1_b-2", "A1_b-3", Verdict::Invalid, "no_match"),
        ("A1_b-2", "A1_b-22", Verdict::Invalid, "no_match"),
        ("", "A1_b-2", Verdict::Unsigned, "unsigned"),
        ("A1_b-2", "", Verdict::NoSecret, ""),
    ];
    for (sent, secret, verdict, cause) in table {
        let headers = vec![("X-Telegram-Bot-Api-Secret-Token".to_owned(), sent.to_owned())];
        let judged = judged(telegram, &request(headers, "{}"), &[Secret::new("main", secret)], SIGNED_AT);
        let first = judged.causes.first().map_or("", |cause| cause.code.as_str());
        assert_eq!((judged.verdict, first), (verdict, cause), "{sent:?} {secret:?}");
    }
}
