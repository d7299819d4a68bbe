//! Providers that look alike can be told apart.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use hookmitt_event::{HeaderLines, HttpVersion, Request};
use hookmitt_verify::recognise;

fn request(headers: &[(&str, &str)], body: &str) -> Request {
    Request {
        method: "POST".to_owned(),
        path: "/in".to_owned(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers.iter().copied()).unwrap(),
        body: body.to_owned().into(),
    }
}

fn told(headers: &[(&str, &str)], body: &str) -> Option<&'static str> {
    recognise(&request(headers, body)).map(|provider| provider.id.as_str())
}

#[test]
fn the_hub_signature_is_read_with_what_comes_along() {
    let sha1 = ("X-Hub-Signature", "sha1=00");
    let sha256 = ("X-Hub-Signature", "sha256=00");
    let modern = ("X-Hub-Signature-256", "sha256=00");
    let table = [
        (&[sha1, modern, ("X-GitHub-Event", "push")][..], "{}", Some("github")),
        (&[sha1, modern, ("X-GitHub-Event", "push"), ("X-Gitea-Event", "push")], "{}", Some("gitea")),
        (&[modern, ("X-GitHub-Event", "push"), ("X-Forgejo-Event", "push")], "{}", Some("gitea")),
        (&[sha256, ("X-Event-Key", "repo:push")], "{}", Some("bitbucket")),
        (
            &[sha1],
            r#"{"type":"notification_event","app_id":"a1","topic":"contact.user.created"}"#,
            Some("intercom"),
        ),
        (&[sha256], r#"{"event":"meeting.transcribed","meeting_id":"m1"}"#, Some("fireflies")),
        (&[sha1, modern], r#"{"object":"page","entry":[{"id":"1","time":1}]}"#, Some("meta")),
        (&[modern], r#"{"object":"user","entry":[{"id":"1","time":1}]}"#, Some("meta")),
        (&[modern], r#"{"hello":"there"}"#, None),
    ];
    for (headers, body, expected) in table {
        assert_eq!(told(headers, body), expected, "{headers:?} {body}");
    }
}

#[test]
fn the_case_of_a_header_s_name_tells_nothing() {
    let hex = "0f".repeat(32);
    let batch = r#"{"events":[{"id":"EV1","resource_type":"payments","action":"confirmed"}]}"#;
    for name in ["Webhook-Signature", "webhook-signature", "WEBHOOK-SIGNATURE"] {
        assert_eq!(told(&[(name, &hex)], batch), Some("gocardless"), "{name}");
        let standard = [(name, "v1,AAAA"), ("Webhook-Id", "msg_1"), ("Webhook-Timestamp", "1750000000")];
        assert_eq!(told(&standard, batch), Some("standardwebhooks"), "{name}");
        assert_eq!(told(&[(name, "v1,AAAA")], "{}"), Some("standardwebhooks"), "{name}");
    }
}

#[test]
fn who_adds_headers_of_its_own_to_the_standard_ones_is_told() {
    let standard =
        [("webhook-id", "msg_1"), ("webhook-timestamp", "1750000000"), ("webhook-signature", "v1,AAAA")];
    let with = |name| [&standard[..], &[(name, "x")]].concat();
    assert_eq!(told(&standard, "{}"), Some("standardwebhooks"));
    assert_eq!(told(&with("X-Gitlab-Event"), "{}"), Some("gitlab"));
    assert_eq!(told(&with("svix-id"), "{}"), Some("svix"));
}

#[test]
fn discord_s_headers_alone_are_not_discord() {
    let pair = [("X-Signature-Ed25519", "00"), ("X-Signature-Timestamp", "1750000000")];
    assert_eq!(told(&pair, r#"{"id":"1","application_id":"2","type":1,"version":1}"#), Some("discord"));
    assert_eq!(told(&pair, r#"{"update":"from another sender"}"#), None);
}

#[test]
fn signatures_that_look_like_stripe_s_are_not_stripe_s() {
    let value = "t=1750000000,v1=00";
    let table = [
        ("Stripe-Signature", "stripe"),
        ("WorkOS-Signature", "workos"),
        ("Mux-Signature", "mux"),
        ("Calendly-Webhook-Signature", "calendly"),
        ("Paddle-Signature", "paddle"),
        ("ElevenLabs-Signature", "elevenlabs"),
    ];
    for (name, expected) in table {
        assert_eq!(told(&[(name, value)], r#"{"id":"evt_1","type":"x"}"#), Some(expected), "{name}");
    }
}

#[test]
fn a_lost_signature_header_leaves_the_body() {
    let table = [
        (
            r#"{"id":"evt_1","object":"event","api_version":"2026-09-30","type":"charge.failed"}"#,
            Some("stripe"),
        ),
        (
            r#"{"type":"event_callback","team_id":"T1","api_app_id":"A1","event":{"type":"message"}}"#,
            Some("slack"),
        ),
        (r#"{"update_id":1,"message":{"message_id":2}}"#, Some("telegram")),
        (r#"{"id":1,"name":"nobody's"}"#, None),
        ("", None),
    ];
    for (body, expected) in table {
        assert_eq!(told(&[("Content-Type", "application/json")], body), expected, "{body}");
    }
}
