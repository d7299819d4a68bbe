//! Hostile input causes no panic and never makes an unsigned request valid.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use bytes::Bytes;
use hookmitt_event::{GenericScheme, HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{
    Context, Inquiry, Provider, Secret, explain, facts, judge, providers, recognise, validate_generic,
};
use proptest::prelude::*;

const NAMES: [&str; 22] = [
    "X-GitHub-Event",
    "X-GitHub-Delivery",
    "X-Hub-Signature-256",
    "X-Hub-Signature",
    "Stripe-Signature",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "svix-id",
    "svix-timestamp",
    "svix-signature",
    "X-Slack-Signature",
    "X-Slack-Request-Timestamp",
    "X-Shopify-Hmac-Sha256",
    "X-Shopify-Topic",
    "X-Shopify-Triggered-At",
    "X-Telegram-Bot-Api-Secret-Token",
    "X-Gitea-Event",
    "Content-Type",
    "X-Signature",
    "X-Time",
    "X-Id",
];

fn value() -> impl Strategy<Value = Vec<u8>> {
    let shaped = "(sha256=|sha1=|v0=|v1=|v1,|v1a,|t=[0-9-]{0,20},v1=|t=)?[0-9a-fA-F+/=_ ,.-]{0,140}";
    let bytes = prop::collection::vec(
        any::<u8>().prop_filter("line", |byte| !matches!(byte, 0 | b'\r' | b'\n')),
        0..80,
    );
    prop_oneof![
        3 => shaped.prop_map(String::into_bytes),
        1 => "[0-9]{1,25}".prop_map(String::into_bytes),
        1 => Just(b"application/x-www-form-urlencoded".to_vec()),
        1 => bytes,
    ]
}

fn headers() -> impl Strategy<Value = HeaderLines> {
    let name =
        prop_oneof![4 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => "[a-zA-Z0-9-]{1,90}"];
    prop::collection::vec((name, value()), 0..12).prop_map(|pairs| HeaderLines::from_pairs(pairs).unwrap())
}

fn body() -> impl Strategy<Value = Bytes> {
    let json = r#"[\{\["]?[\{\}\[\]:,"0-9a-z\\u/\n .%=&+é🚀-]{0,400}"#;
    let known = prop::sample::select(
        &[
            r#"{"type":"url_verification","challenge":"x"}"#,
            r#"{"id":1,"data":{"object":{"amount":-9223372036854775808,"currency":"usd"}}}"#,
            r#"{"update_id":1,"message":{"date":1e400,"chat":{"id":[]}}}"#,
            "payload=%7B%22action%22%3A%22x%22%7D&=&%&a=%zz",
            "{\"a\":\"\\ud800\",\"id\":\"\u{0}\"}",
        ][..],
    );
    prop_oneof![
        json.prop_map(Bytes::from),
        known.prop_map(|text| Bytes::from_static(text.as_bytes())),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    (headers(), body()).prop_map(|(headers, body)| Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers,
        body,
    })
}

fn inquiry<'a>(
    request: &'a Request,
    provider: Option<&'static Provider>,
    secrets: &'a [Secret],
) -> Inquiry<'a> {
    Inquiry {
        request,
        url: None,
        provider,
        generic: None,
        scheme: None,
        secrets,
        tolerance: None,
        at: Timestamp::from_seconds(1_750_000_000),
        params: &[],
        published: None,
    }
}

fn generic() -> GenericScheme {
    GenericScheme {
        signature_header: Some("X-Signature".to_owned()),
        prefix: Some("v1=".to_owned()),
        signed_content: Some("{id}.{timestamp}.{body}".to_owned()),
        timestamp_header: Some("X-Time".to_owned()),
        id_at: Some("header:X-Id".to_owned()),
        type_at: Some("/type".to_owned()),
        time_at: Some("/a/0/b".to_owned()),
        ..GenericScheme::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_request_is_judged_without_panic_and_never_valid(request in request(), secret in "[ -~]{1,40}") {
        let secrets = [Secret::new("a", secret), Secret::new("b", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3")];
        let _ = recognise(&request);
        for provider in providers() {
            let judgement = judge(&inquiry(&request, Some(provider), &secrets));
            prop_assert_ne!(judgement.verdict, Verdict::Valid);
            prop_assert!(judgement.verdict != Verdict::Invalid || !judgement.causes.is_empty());
            let _ = facts(&request, Some(provider), None);
        }
        let generic = generic();
        prop_assert_eq!(validate_generic(&generic), Ok(()));
        let own = Inquiry { generic: Some(&generic), ..inquiry(&request, None, &secrets) };
        prop_assert_ne!(judge(&own).verdict, Verdict::Valid);
        let _ = facts(&request, None, Some(&generic));
    }

    #[test]
    fn without_secrets_nothing_is_valid(request in request()) {
        for provider in providers() {
            let verdict = judge(&inquiry(&request, Some(provider), &[])).verdict;
            prop_assert_ne!(verdict, Verdict::Valid);
        }
    }

    #[test]
    fn an_empty_secret_never_counts(request in request()) {
        let secrets = [Secret::new("empty", "")];
        for provider in providers() {
            prop_assert_ne!(judge(&inquiry(&request, Some(provider), &secrets)).verdict, Verdict::Valid);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_request_is_explained_without_panic(request in request(), which in any::<prop::sample::Index>()) {
        let all: Vec<_> = providers().collect();
        let secrets = [Secret::new("a", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3")];
        let nearby = [request.clone()];
        let context = Context { secrets: &secrets, requests: &nearby, ..Context::default() };
        let found = explain(&inquiry(&request, Some(*which.get(&all)), &secrets), &context);
        prop_assert_ne!(found.verdict, Verdict::Valid);
        prop_assert!(found.verdict != Verdict::Invalid || !found.kept_causes().is_empty());
    }
}

#[test]
fn a_large_body_costs_bounded_work() {
    let body = format!("{{\"k\":\"{}\"}}", "x/<é>".repeat(150_000));
    let headers =
        [("X-GitHub-Event", "push"), ("X-Hub-Signature-256", &format!("sha256={}", "0a".repeat(32)))];
    let request = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers).unwrap(),
        body: body.into(),
    };
    let secrets: Vec<_> = (0..20).map(|at| Secret::new("s", format!("secret {at}"))).collect();
    let judgement = judge(&inquiry(&request, recognise(&request), &secrets));
    assert_eq!((judgement.verdict, judgement.causes[0].code.as_str()), (Verdict::Invalid, "no_match"));
}
