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
    assert!(first.message.contains("the configured Webhook ID"), "{}", first.message);
    assert!(first.fix.starts_with("Compare the Webhook ID with PayPal's first"), "{}", first.fix);
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
