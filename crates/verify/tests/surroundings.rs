//! Causes that the request alone doesn't show: a setting of the source, and other requests that came in.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use hookmitt_event::{CauseState, Explanation, Request, Timestamp};
use hookmitt_verify::{Context, Inquiry, Secret, SignBy, explain, provider, sample, sign, test_secret};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

fn webhook_id(id: &str) -> Vec<(String, String)> {
    vec![("webhook_id".to_owned(), id.to_owned())]
}

fn signed(name: &str, params: &[(String, String)]) -> Request {
    let provider = provider(name).unwrap();
    let by = SignBy { params, ..SignBy::new(provider, test_secret(provider).value.as_bytes(), AT) };
    sign(&by, &sample(provider, None, "0197-a", AT).unwrap()).unwrap()
}

fn explained(name: &str, request: &Request, params: &[(String, String)], others: &[Request]) -> Explanation {
    let provider = provider(name).unwrap();
    let inquiry = Inquiry {
        request,
        url: None,
        provider: Some(provider),
        generic: None,
        scheme: None,
        secrets: &[Secret::new("main", test_secret(provider).value)],
        tolerance: None,
        at: AT,
        params,
        published: None,
    };
    explain(&inquiry, &Context { requests: others, ..Context::default() })
}

#[test]
fn a_webhook_id_that_may_be_another_is_named() {
    let request = signed("paypal", &webhook_id("1JE4291016473214C"));
    let found = explained("paypal", &request, &webhook_id("8PT597110X687430L"), &[]);
    let first = &found.causes[0];
    assert_eq!(first.code, "no_match");
    assert!(first.message.contains("the Webhook ID that is set here"), "{}", first.message);
    assert!(first.fix.starts_with("First compare the Webhook ID with PayPal's"), "{}", first.fix);
}

#[test]
fn a_webhook_id_that_can_t_be_one_is_the_first_cause() {
    let request = signed("paypal", &webhook_id("1JE4291016473214C"));
    for wrong in ["1JE4291016473214", "1je4291016473214c", "WH-2WR32451HC0233532-67976317FL4543714"] {
        let found = explained("paypal", &request, &webhook_id(wrong), &[]);
        let [first, second] = &found.causes[..2] else { panic!("{:?}", found.causes) };
        assert_eq!(
            (first.code.as_str(), first.state),
            ("wrong_configuration", CauseState::Likely),
            "{wrong}"
        );
        assert_eq!(second.code, "no_match", "nothing proves it");
    }
}

#[test]
fn a_body_cut_short_is_told_by_the_whole_one_that_came_before() {
    let whole = signed("github", &[]);
    let cut = Request { body: whole.body.slice(..whole.body.len() - 7), ..whole.clone() };
    let found = explained("github", &cut, &[], std::slice::from_ref(&whole));
    assert_eq!(
        (found.causes[0].code.as_str(), found.causes[0].state),
        ("body_truncated", CauseState::Proven)
    );
    // This body is not the beginning of the other event's body.
    let other = Request { body: "{}".into(), ..whole.clone() };
    let found = explained("github", &other, &[], std::slice::from_ref(&whole));
    assert_eq!(found.causes[0].code, "other_event");
}

/// Explains a sample that was signed with `signed_by`, for a source whose only secret is `own`.
fn sample_explained(id: &str, signed_by: &str, own: &str) -> Explanation {
    let provider = provider(id).unwrap();
    let by = SignBy::new(provider, signed_by.as_bytes(), AT);
    let request = sign(&by, &sample(provider, None, "0197-a", AT).unwrap()).unwrap();
    let inquiry = Inquiry {
        request: &request,
        url: None,
        provider: Some(provider),
        generic: None,
        scheme: None,
        secrets: &[Secret::new("main", own)],
        tolerance: None,
        at: AT,
        params: &[],
        published: None,
    };
    explain(&inquiry, &Context::default())
}

#[test]
fn what_is_signed_with_the_public_test_secret_is_said_to_be() {
    for (id, own) in
        [("stripe", "whsec_my_own"), ("github", "own"), ("svix", "whsec_bXkgb3duIHNlY3JldCwgMjQgYg==")]
    {
        let public = test_secret(provider(id).unwrap()).value;
        let found = sample_explained(id, public, own);
        assert_eq!(found.sentence, "Invalid: signed with the public test secret.", "{id}");
        let first = &found.causes[0];
        assert_eq!((first.code.as_str(), first.state), ("public_secret", CauseState::Proven), "{id}");
        assert!(first.fix.contains(public), "{}", first.fix);
        let accepted = sample_explained(id, public, public);
        assert!(accepted.sentence.starts_with("Valid. Signed by"), "{}", accepted.sentence);
        assert!(accepted.sentence.ends_with("anyone could have sent it."), "{}", accepted.sentence);
    }
}

#[test]
fn a_secret_that_nobody_here_knows_is_said_in_one_sentence_with_one_line_of_evidence() {
    let found = sample_explained("stripe", "whsec_of_somebody_else", "whsec_my_own");
    assert_eq!(found.sentence, "Invalid: no known secret fits.");
    assert_eq!(found.detail, "Tried 1 secret and every known variation.");
    assert!(found.causes[0].fix.starts_with("Copy this endpoint's signing secret from Stripe again."));
    let others = found.causes.iter().filter(|cause| cause.code != "no_match");
    assert_eq!(found.tried as usize, others.count(), "the conclusion is not counted as a cause");
}
