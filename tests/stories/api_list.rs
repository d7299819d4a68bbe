//! Events in lists: pages without gaps, and filters.

use hookmitt_stories::{Answer, App, Connection, LocalServer, post, within};
use serde_json::{Value, json};

async fn page(app: &App, query: &str) -> (Vec<Value>, Option<String>) {
    let page = app.ask("GET", &format!("/api/events?{query}"), Value::Null).await;
    (page["items"].as_array().unwrap().clone(), page["next_cursor"].as_str().map(str::to_owned))
}

/// Returns the sequence numbers of the events that pass a filter, oldest first.
async fn found(app: &App, query: &str) -> Vec<i64> {
    let (items, next) = page(app, &format!("{query}&limit=1000")).await;
    assert_eq!(next, None);
    items.iter().rev().map(|event| event["seq"].as_i64().unwrap()).collect()
}

async fn fill(app: &App, count: usize) {
    let mut connection = Connection::open(app.capture()).await;
    let all = (0..count)
        .map(|number| format!("POST /demo/{number} HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"));
    assert!(connection.send(all.collect::<String>().as_bytes()).await);
    for _ in 0..count {
        assert_eq!(connection.reply().await.status, 202);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_have_no_gap_and_no_repeat_while_new_events_come_in() {
    let app = App::start().await;
    fill(&app, 250).await;
    for limit in [7, 100, 249, 250, 251, 1_000] {
        let newest = app.event("last").await["seq"].as_i64().unwrap();
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let after = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let (items, next) = page(&app, &format!("limit={limit}{after}")).await;
            assert!(items.len() <= limit && !items.is_empty());
            assert!(next.is_none() || items.len() == limit);
            seen.extend(items.iter().map(|event| event["seq"].as_i64().unwrap()));
            post(app.capture(), "/demo/new", &[], b"y").await;
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, (1..=newest).rev().collect::<Vec<_>>(), "limit {limit}");
    }
    let (items, next) = page(&app, "limit=1").await;
    assert_eq!((items.len(), next.is_some()), (1, true));
    let (items, next) = page(&app, "").await;
    assert_eq!((items.len(), next.is_some()), (100, true), "a page holds a hundred without a limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_cursors_out_of_bounds_are_refused_or_harmless() {
    let app = App::start().await;
    fill(&app, 3).await;
    for query in [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=x",
        "limit=99999999999",
        "cursor=x",
        "cursor=1.5",
        "limit=",
    ] {
        let (status, answer) = app.call("GET", &format!("/api/events?{query}"), Value::Null).await;
        assert_eq!((status, &answer["code"]), (400, &json!("bad-input")), "{query}");
        assert!(answer["hint"].is_string());
    }
    for (field, code) in [("q", "bad-search"), ("type", "bad-input")] {
        let query = format!("/api/events?{field}={}", "a".repeat(50_000));
        let (status, answer) = app.call("GET", &query, Value::Null).await;
        assert_eq!((status, &answer["code"]), (400, &json!(code)), "{answer}");
    }
    for (cursor, count) in
        [("9223372036854775807", 3), ("3", 2), ("1", 0), ("0", 0), ("-9223372036854775808", 0)]
    {
        let asked = format!("/api/events?cursor={cursor}");
        let asked = app.ask("GET", &asked, Value::Null);
        let answer = within("an answer", asked).await;
        assert_eq!(answer["items"].as_array().unwrap().len(), count, "{cursor}");
    }
    let empty = App::start().await;
    assert_eq!(
        empty.ask("GET", "/api/events", Value::Null).await,
        json!({ "items": [], "next_cursor": null })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_found_whole_by_their_beginning_and_by_pattern() {
    let app = App::start().await;
    app.source("demo", json!({ "generic": { "type_at": "/type" } })).await;
    let types =
        ["invoice", "invoice.paid", "invoice.paid.late", "invoices", "charge.paid", "a[b]?", "Invoice", ""];
    for kind in types {
        post(app.capture(), "/demo", &[], json!({ "type": kind }).to_string().as_bytes()).await;
    }
    post(app.capture(), "/demo", &[], b"no type").await;
    let table: [(&str, &[i64]); 12] = [
        ("invoice", &[1, 2, 3, 7]),
        ("invoice.paid", &[2, 3]),
        ("invoice.*", &[2, 3]),
        ("invoice*", &[1, 2, 3, 4, 7]),
        ("*.paid", &[2, 3, 5]),
        ("*paid", &[2, 3, 5]),
        ("*late", &[3]),
        ("invoice.p", &[]),
        ("a%5Bb%5D%3F", &[6]),
        ("%3F", &[]),
        ("Invoice", &[1, 2, 3, 7]),
        ("nothing", &[]),
    ];
    for (kind, want) in table {
        assert_eq!(found(&app, &format!("type={kind}")).await, want, "{kind}");
    }
    assert!(found(&app, "type=*").await.starts_with(&[1, 2, 3, 4, 5, 6, 7]));
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_found_in_path_query_headers_and_body_in_either_case() {
    let app = App::start().await;
    post(app.capture(), "/demo/Orders?Region=EU", &[("X-Note", "Needle in a header")], b"{}").await;
    post(app.capture(), "/demo", &[], br#"{"name":"Gr\u00fc\u00dfe 100% a_b c\\d"}"#).await;
    post(app.capture(), "/demo", &[], "größe NEEDLE".as_bytes()).await;
    post(app.capture(), "/demo", &[("Content-Type", "application/octet-stream")], b"\xff\xfe needless").await;
    app.github("hub", "delivery-77", None, r#"{"repository":{"full_name":"octo/mitt"}}"#).await;
    let table: [(&str, &[i64]); 16] = [
        ("needle", &[1, 3, 4]),
        ("NEEDLE%20in", &[1]),
        ("x-note", &[1]),
        ("orders", &[1]),
        ("region%3Deu", &[1]),
        ("gr%C3%BC%C3%9Fe", &[2]),
        ("100%25", &[2]),
        ("100_", &[]),
        ("a_b", &[2]),
        ("a%25b", &[]),
        ("c%5C%5Cd", &[2]),
        ("gr%C3%B6%C3%9Fe", &[3]),
        ("delivery-77", &[5]),
        ("octo/mitt", &[5]),
        ("push", &[5]),
        ("%22'%5C%22;--%22", &[]),
        ("zzz", &[]),
    ];
    for (text, want) in table {
        assert_eq!(found(&app, &format!("q={text}")).await, want, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn source_verdict_status_and_time_narrow_a_list_together() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    app.target(Some("hub"), &server.url(), json!({})).await;
    app.github("hub", "1", Some("hush"), "{}").await;
    app.github("hub", "2", Some("guess"), "{}").await;
    app.github("hub", "1", Some("hush"), "{}").await;
    post(app.capture(), "/demo", &[], b"{}").await;
    for number in ["#1", "#2"] {
        app.status(number, "completed").await;
    }
    let times: Vec<_> = app
        .events()
        .await
        .iter()
        .rev()
        .map(|event| event["received_at"].as_str().unwrap().to_owned())
        .collect();
    let (second, last) = (&times[1], &times[3]);
    let table: [(String, &[i64]); 16] = [
        ("source=hub".to_owned(), &[1, 2, 3]),
        ("source=nobody".to_owned(), &[]),
        ("verdict=valid".to_owned(), &[1, 3]),
        ("verdict=invalid".to_owned(), &[2]),
        ("verdict=unsigned".to_owned(), &[4]),
        ("verdict=pending".to_owned(), &[]),
        ("status=completed".to_owned(), &[1, 2]),
        ("status=skipped".to_owned(), &[3]),
        ("status=captured".to_owned(), &[4]),
        ("status=dead_letter".to_owned(), &[]),
        ("source=hub&verdict=valid&status=completed&type=push&q=hub".to_owned(), &[1]),
        (format!("since={second}"), &[2, 3, 4]),
        (format!("until={second}"), &[1]),
        (format!("since={second}&until={last}"), &[2, 3]),
        ("since=2999-01-01T00:00:00Z".to_owned(), &[]),
        ("until=2999-01-01T00:00:00%2B02:00".to_owned(), &[1, 2, 3, 4]),
    ];
    for (query, want) in table {
        assert_eq!(found(&app, &query).await, want, "{query}");
    }
    for query in
        ["status=ok", "verdict=good", "since=yesterday", "until=1h", "since=2026-13-01T00:00:00Z", "status="]
    {
        let (status, answer) = app.call("GET", &format!("/api/events?{query}"), Value::Null).await;
        assert_eq!((status, &answer["code"]), (400, &json!("bad-input")), "{query}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folded_list_leaves_out_skipped_repeats_whose_first_it_shows_and_no_others() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    app.target(Some("hub"), &server.url(), json!({})).await;
    for id in ["a", "b", "a", "a"] {
        app.github("hub", id, Some("hush"), "{}").await;
    }
    app.github("hub", "a", Some("guess"), "{}").await;
    post(app.capture(), "/demo", &[], b"{}").await;
    for number in ["#1", "#2"] {
        app.status(number, "completed").await;
    }
    let third = app.event("#3").await["received_at"].as_str().unwrap().to_owned();
    let folded = async |query: &str| found(&app, &format!("fold=true&{query}")).await;
    let table: [(String, &[i64]); 9] = [
        // An invalid repeat is worth a look of its own.
        (String::new(), &[1, 2, 5, 6]),
        ("source=hub".to_owned(), &[1, 2, 5]),
        ("type=push&verdict=valid".to_owned(), &[1, 2]),
        // The first isn't in these lists, so the repeats stand for themselves.
        ("status=skipped".to_owned(), &[3, 4, 5]),
        (format!("since={third}"), &[3, 4, 5, 6]),
        ("verdict=invalid".to_owned(), &[5]),
        ("view=invalid".to_owned(), &[5]),
        (format!("until={third}"), &[1, 2]),
        ("q=hub".to_owned(), &[1, 2, 5]),
    ];
    for (query, want) in table {
        assert_eq!(folded(&query).await, want, "{query}");
    }
    assert_eq!(found(&app, "").await, [1, 2, 3, 4, 5, 6], "unless it is asked for, nothing is folded");

    app.ask("DELETE", "/api/events/%231", Value::Null).await;
    assert_eq!(folded("").await, [2, 3, 4, 5, 6], "what is left of a deleted first can be reached");
    assert_eq!(folded("source=hub").await, [2, 3, 4, 5]);
    app.ask("POST", "/api/events/%231/restore", Value::Null).await;
    assert_eq!(folded("").await, [1, 2, 5, 6]);
    let (items, next) = page(&app, "fold=true&limit=3&glance=true").await;
    assert_eq!((items[2]["seq"].clone(), next.as_deref()), (json!(2), Some("2")));
    let (items, _) = page(&app, "fold=true&cursor=2&glance=true").await;
    let glance = &items[0]["glance"];
    assert_eq!(
        (&glance["copies"], &glance["folded"], &glance["folds"]),
        (&json!(4), &json!(2), &json!(false))
    );

    let copies = app.ask("GET", "/api/events/%231/copies?limit=2", Value::Null).await;
    assert_eq!((copies["items"].as_array().unwrap().len(), &copies["total"]), (2, &json!(4)));
    assert_eq!(app.call("GET", "/api/events/%231/copies?limit=0", Value::Null).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_that_is_sent_itself_or_known_by_its_content_only_is_not_folded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    app.target(Some("hub"), &server.url(), json!({ "attempts": 1 })).await;
    server.will([Answer::Status(500)]);
    app.github("hub", "a", Some("hush"), "{}").await;
    app.status("#1", "dead_letter").await;
    app.github("hub", "a", Some("hush"), "{}").await; // sent once more, because the first one failed
    app.status("#2", "completed").await;
    app.github("hub", "a", Some("hush"), "{}").await;
    for _ in 0..2 {
        post(app.capture(), "/demo", &[], b"the same").await;
    }
    assert_eq!(app.event("#3").await["status"], "skipped");
    assert!(!app.event("#5").await["duplicate_of"].is_null());
    assert_eq!(found(&app, "fold=true").await, [1, 2, 4, 5]);
}
