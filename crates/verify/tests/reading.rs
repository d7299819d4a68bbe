//! The facts that are read from requests, by provider, and from the samples.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use hookmitt_event::{GenericScheme, HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_verify::{facts, provider};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

fn request(headers: &[(&str, &str)], body: &str) -> Request {
    Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers.iter().copied()).unwrap(),
        body: body.to_owned().into(),
    }
}

#[test]
fn forms_are_read_like_json() {
    let form =
        [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"), ("X-GitHub-Event", "issues")];
    let body =
        "payload=%7B%22action%22%3A%22opened%22%2C%22repository%22%3A%7B%22full_name%22%3A%22a%2Fb%22%7D%7D";
    let facts_of = |id, request: &Request| facts(request, provider(id), None);
    let github = facts_of("github", &request(&form, body));
    assert_eq!((github.event_type.as_deref(), github.title.as_deref()), (Some("issues.opened"), Some("a/b")));
    // `curl -d '{…}'` announces a form but sends JSON.
    let curl = facts_of("github", &request(&form, r#" {"action":"closed"}"#));
    assert_eq!(curl.event_type.as_deref(), Some("issues.closed"));
    let slash = facts_of("slack", &request(&form, "command=%2Fweather&text=94070+CA&trigger_id=13.37"));
    assert_eq!(slash.event_type.as_deref(), Some("/weather"));
    assert_eq!((slash.title.as_deref(), slash.event_id.as_deref()), (Some("94070 CA"), Some("13.37")));
    let action = facts_of(
        "slack",
        &request(&form, "payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%221.2%22%7D"),
    );
    assert_eq!(
        (action.event_type.as_deref(), action.event_id.as_deref()),
        (Some("block_actions"), Some("1.2"))
    );
}

#[test]
fn a_large_or_broken_body_leaves_the_headers() {
    let headers = [("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "d1")];
    for body in
        ["{\"broken\":", "", "\u{0}", &format!("{{\"action\":\"x\",\"pad\":\"{}\"}}", "x".repeat(5 << 20))]
    {
        let facts = facts(&request(&headers, body), provider("github"), None);
        assert_eq!((facts.event_type.as_deref(), facts.event_id.as_deref()), (Some("push"), Some("d1")));
    }
    let long = request(&[], &format!("{{\"id\":\"{}\",\"type\":\"t\"}}", "x".repeat(5000)));
    let facts = facts(&long, provider("stripe"), None);
    assert_eq!(
        (facts.event_id, facts.event_type.as_deref()),
        (None, Some("t")),
        "a cut id would be another id"
    );
}

#[test]
fn a_generic_source_names_its_places() {
    let generic = GenericScheme {
        id_at: Some("header:X-Id".to_owned()),
        type_at: Some("/event/name".to_owned()),
        time_at: Some("/at".to_owned()),
        object_at: Some("/items/0".to_owned()),
        ..GenericScheme::default()
    };
    let request = request(&[("x-id", "7")], r#"{"event":{"name":"made"},"at":1750000000,"items":["k"]}"#);
    let facts = facts(&request, None, Some(&generic));
    let texts = (facts.event_id.as_deref(), facts.event_type.as_deref(), facts.object.as_deref());
    assert_eq!((texts, facts.event_time), ((Some("7"), Some("made"), Some("k")), Some(AT)));
}
