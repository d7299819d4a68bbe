//! Every sample event, signed with the public test secret, is recognised and valid.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use hookmitt_event::{Timestamp, Verdict};
use hookmitt_verify::{
    Inquiry, Provider, Secret, SignBy, SignError, judge, providers, sample, sample_types, sign, test_secret,
};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const URL: &str = "https://hooks.example.com/in";

/// Returns what is wrong with a signed sample; `None` if it is valid, or unsigned because its provider signs nothing.
fn complaint(provider: &'static Provider, kind: &str) -> Option<String> {
    let made = sample(provider, Some(kind), "0197-sample", AT).unwrap();
    let secret = test_secret(provider).value;
    let url = made.query.as_ref().map_or_else(|| URL.to_owned(), |query| format!("{URL}?{query}"));
    // The sample itself contains the topic.
    let body: serde_json::Value = serde_json::from_slice(&made.body).unwrap_or_default();
    let topic = body["TopicArn"].as_str().unwrap_or_default();
    let value = |name: &str| if name == "topic_arn" { topic } else { "configured" }.to_owned();
    let params: Vec<_> =
        provider.params.iter().map(|param| (param.name.clone(), value(&param.name))).collect();
    let by = SignBy { url: Some(&url), params: &params, ..SignBy::new(provider, secret.as_bytes(), AT) };
    let (signed, expected) = match sign(&by, &made) {
        Ok(signed) => (signed, Verdict::Valid),
        Err(SignError::SignsNothing(_)) => (made, Verdict::Unsigned),
        Err(error) => return Some(format!("{} {kind}: {error}", provider.id)),
    };
    let url = signed.query.as_ref().map_or_else(|| URL.to_owned(), |query| format!("{URL}?{query}"));
    let judged = judge(&Inquiry {
        request: &signed,
        url: Some(&url),
        provider: Some(provider),
        generic: None,
        scheme: None,
        secrets: &[Secret::new("test", secret)],
        tolerance: None,
        at: AT,
        params: &params,
        published: None,
    });
    (judged.verdict != expected)
        .then(|| format!("{} {kind}: {} {:?}", provider.id, judged.verdict, judged.causes))
}

#[test]
fn every_sample_is_valid_once_it_is_signed() {
    let complaints: Vec<_> = providers()
        .flat_map(|provider| {
            sample_types(provider).into_iter().filter_map(move |kind| complaint(provider, kind))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
