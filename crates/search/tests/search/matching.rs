//! What a search finds.

use bytes::Bytes;
use hookmitt_event::{EventId, HeaderLines};
use hookmitt_search::{Needs, Query, folded_texts, texts};

use crate::events::{Sample, now};

/// Checks which of some searches find an event.
fn check(sample: &Sample, found: &[&str], missed: &[&str]) {
    for text in found {
        assert!(sample.is_found(text), "{text} should find it");
        assert!(!sample.is_found(&format!("-{text}")), "-{text} shouldn't find it");
    }
    for text in missed {
        assert!(!sample.is_found(text), "{text} shouldn't find it");
        assert!(sample.is_found(&format!("-{text}")), "-{text} should find it");
    }
}

#[test]
fn keys_compare_words_without_case_and_with_globs() {
    let found = [
        "source:SHOP",
        "source:a,shop",
        "source:s*p",
        "Source:shop",
        "provider:str*",
        "method:post",
        "path:/pay/in",
        "path:/pay/*",
        "type:invoice",
        "type:invoice.payment",
        "type:Invoice.Payment.Failed",
        "type:*.failed",
        "tag:refund",
        "target:localhost:3000",
        "target:HTTP://*",
        "verdict:no-secret",
        "verdict:NO_SECRET",
        "verdict:no*",
        "status:completed",
        "via:backup-sync",
        "via:backup_sync",
        "via:*sync",
        "is:first",
        "is:pinned",
        "is:pin*,stale",
        "header.x-try:2",
        "header.X-Try:three",
        "header.user-agent:stripe*",
        "header.X-Try:*",
        "#12",
        "#3..#12",
        "#12..40",
        "#1,#12",
        "after:2h",
        "before:59m",
        "after:2026-11-24T11:00:00Z",
        "response:503",
        "response:2xx",
        "response:>=500",
        "latency:80ms",
        "latency:<1s",
        "latency:50ms..0.1s",
        "size:2",
        "size:<10kb",
        "size:>1",
    ];
    let missed = [
        "source:sho",
        "source:\"s*p\"",
        "path:/pay",
        "type:invoice.pay",
        "type:inv",
        "type:failed",
        "tag:ref",
        "target:/hooks/",
        "target:*3000",
        "verdict:valid",
        "status:failed,skipped",
        "via:direct",
        "is:duplicate",
        "is:deleted",
        "is:edited",
        "is:handshake,browser,conflict,stale",
        "header.X-Try:t",
        "header.X-Tr:*",
        "#13",
        "#1..#11",
        "after:59m",
        "before:2026-11-24T11:00:00Z",
        "response:500",
        "latency:>1s",
        "size:>10kb",
        "size:<2",
    ];
    check(&Sample::new("{}"), &found, &missed);
}

#[test]
fn the_full_text_is_body_head_facts_and_note() {
    let body = "{\"name\":\"Z\\u00FCRICH\",\"url\":\"https:\\/\\/a.example\",\"n\":\"\u{130}x K\"}";
    let found = [
        "zürich",
        "z\\u00fcrich",
        "https://a.example",
        "\"https:\\/\\/a\"",
        "\"user-agent: stripe\"",
        "\"X-Try: 2\"",
        "/pay/in",
        "mode=test",
        "/pay/in?mode=test",
        "payment.failed",
        "ärger",
        "STRASSE,straße",
        "zoë",
        "\"zoë\nabout\"",
        "name",
        "i\u{307}x",
    ];
    let missed = [
        "strasse",
        "refund",
        "localhost",
        "backup",
        "\"in\nmode\"",
        "\"mode=test\nask\"",
        "shop",
        "\"POST\"",
    ];
    check(&Sample::new(body), &found, &missed);
}

#[test]
fn the_index_sees_the_text_that_a_search_sees() {
    let sample = Sample::new("{\"a\":\"\\u00C4\"}\r\nä\u{0}".as_bytes().to_vec());
    let mut joined = String::new();
    folded_texts(&sample.seen(), &mut joined);
    let each: String = texts(&sample.seen()).map(|text| hookmitt_search::fold(&text) + "\n").collect();
    assert_eq!(joined, each);
}

#[test]
fn a_body_is_searched_as_it_came_if_it_is_no_text() {
    let sample = Sample::new(Bytes::from_static(b"\xff\xfeABC\x00def"));
    check(&sample, &["abc", "def"], &["abcdef", "body./a:*", "body.:*"]);
}

#[test]
fn parts_of_a_json_body_compare_exactly() {
    let body = r#"{"data":{"id":9007199254740993,"big":1e400,"price":12.50,"text":"12.5","ok":true,"none":null,
        "list":["a","B"],"a:b":"c d","a/b~c":"~","":"empty"},"twice":1,"twice":2}"#;
    let found = [
        "body./data/id:9007199254740993",
        "body./data/id:>9007199254740992",
        "body./data/id:<=9007199254740993",
        "body./data/id>9007199254740992",
        "body./data/big:>1e399",
        "body./data/price:12.5",
        "body./data/price:12.50",
        "body./data/price:>=12.5",
        "body./data/text:12.5",
        "body./data/ok:TRUE",
        "body./data/none:null",
        "body./data/list/1:b",
        "body./data/list:*",
        "body./data:*",
        "body.\"/data/a:b\":\"c d\"",
        "body./data/a~1b~0c:~",
        "body./data/:empty",
        "body.:*",
        "body./data/text:x,12*",
        "body./twice:1",
        "body./twice:2",
        "body./data/id:9*3",
        "body./data/id:9007199254740993 body./data:* body./data/ok:t*",
    ];
    let missed = [
        "body./data/id:9007199254740992",
        "body./data/id:>9007199254740993",
        "body./data/text:12.50",
        "body./data/text:>1",
        "body./data/ok:1",
        "body./data/list/01:b",
        "body./data/list/2:*",
        "body./data/none:\"\"",
        "body./no:*",
        "body./data:x",
        "body./data/text:\"12*\"",
        "body./data/id/x:*",
        "body./Data/id:*",
    ];
    let sample = Sample::new(body);
    for text in found {
        assert!(sample.is_found(text), "{text} should find it");
    }
    check(&sample, &[], &missed);
}

#[test]
fn a_body_that_is_no_json_has_no_parts() {
    for body in ["", "x", "{\"a\":1", "{\"a\":1}}", "{\"a\":1} x"] {
        check(&Sample::new(body), &[], &["body./a:1", "body./a:*", "body./a:<5"]);
    }
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check(&Sample::new(deep), &["body./a:*"], &[&format!("body./a{}:1", "/0".repeat(400))]);
    // A number is nothing that could be gone into, whatever the parser makes of it.
    check(
        &Sample::new("{\"a\":1}"),
        &[],
        &["body./a/$serde_json\u{3a}\u{3a}private:*", "body.\"/a/$serde_json::private::Number\":1"],
    );
}

#[test]
fn the_fields_of_a_form_are_parts_and_so_is_json_in_them() {
    let mut sample =
        Sample::new("Body=Hello+W%C3%B6rld&Amount=12.5&payload=%7B%22type%22%3A%22block%22%2C%22n%22%3A7%7D");
    let found = [
        "body./Body:\"hello wörld\"",
        "body./Amount:>12",
        "body./payload/type:block",
        "body./payload/n:7",
        "body./payload:*block*",
    ];
    check(&sample, &[], &found);
    sample.event.request.headers =
        HeaderLines::from_pairs([("content-type", "application/x-www-form-urlencoded; charset=utf-8")])
            .unwrap();
    check(&sample, &found, &["body./Body/x:*", "body./payload/x:*", "body./Amount:13"]);
}

#[test]
fn what_is_in_the_bin_is_found_only_where_it_is_asked_for() {
    let mut sample = Sample::new("{}");
    sample.event.deleted_at = Some(now());
    for (text, found) in [
        ("", false),
        ("source:shop", false),
        ("is:deleted", true),
        ("is:deleted,stale source:shop", true),
        ("-is:deleted", false),
        ("-is:stale", false),
    ] {
        assert_eq!(sample.is_found(text), found, "{text}");
        assert_eq!(Query::parse(text, now()).unwrap().wants_deleted(), text.starts_with("is:deleted"));
    }
}

#[test]
fn marks_of_repeats_and_copies() {
    let mut sample = Sample::new("{}");
    sample.event.pinned = false;
    sample.event.duplicate_of = Some(EventId::fresh());
    sample.event.parent = Some(EventId::fresh());
    sample.event.handshake = Some("challenge".to_owned());
    (sample.event.conflict, sample.event.stale, sample.event.browser) = (true, true, true);
    let found = ["is:duplicate", "is:edited", "is:handshake", "is:conflict", "is:stale", "is:browser"];
    check(&sample, &found, &["is:first", "is:pinned", "is:deleted"]);
}

#[test]
fn nothing_is_read_that_a_query_does_not_need() {
    let none = Needs::default();
    for (text, needs) in [
        ("source:a is:stale size:>1 header.a:b #1", none),
        ("word", Needs { body: true, ..none }),
        ("-body./a:1", Needs { body: true, ..none }),
        ("target:a", Needs { targets: true, ..none }),
        ("latency:>1s", Needs { answers: true, ..none }),
        ("response:5xx", Needs { answers: true, ..none }),
        ("is:pinned tag:a", none),
    ] {
        assert_eq!(Query::parse(text, now()).unwrap().needs(), needs, "{text}");
    }
}
