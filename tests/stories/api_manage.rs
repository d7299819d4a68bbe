//! Sources, targets and secrets: made, shown, changed and removed.

use hookmitt_stories::{App, Down, LocalServer, post};
use serde_json::{Value, json};

fn is(answer: &(u16, Value), status: u16, code: &str) {
    assert_eq!((answer.0, &answer.1["code"]), (status, &json!(code)), "{}", answer.1);
    assert!(!answer.1["detail"].as_str().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_made_shown_changed_and_removed() {
    let app = App::start().await;
    let settings = json!({ "slug": "pay", "provider": "stripe", "tolerance_s": 60, "public_url": "https://x.example/pay" });
    let (status, made) = app.call("POST", "/api/sources", settings.clone()).await;
    assert_eq!((status, &made["slug"], &made["provider"]), (201, &json!("pay"), &json!("stripe")));
    assert_eq!((&made["on_invalid"], &made["on_duplicate"]), (&json!("record"), &json!("skip")));
    assert_eq!((&made["auto_created"], &made["secrets"]), (&json!(false), &json!([])));
    is(&app.call("POST", "/api/sources", settings).await, 409, "source-exists");
    assert_eq!(app.ask("GET", "/api/sources/pay", Value::Null).await, made);
    assert_eq!(
        app.ask("GET", "/api/sources", Value::Null).await,
        json!({ "items": [made], "next_cursor": null })
    );

    let changed = app.ask("PATCH", "/api/sources/pay", json!({ "on_invalid": "reject" })).await;
    assert_eq!(
        (&changed["on_invalid"], &changed["provider"]),
        (&json!("reject"), &json!("stripe")),
        "absent stays"
    );
    assert_eq!(
        (&changed["tolerance_s"], &changed["public_url"]),
        (&json!(60), &json!("https://x.example/pay"))
    );
    let unset = json!({ "provider": null, "tolerance_s": null, "public_url": null, "generic": null });
    let changed = app.ask("PATCH", "/api/sources/pay", unset).await;
    for field in ["provider", "tolerance_s", "public_url", "generic"] {
        assert_eq!(changed[field], Value::Null, "null unsets {field}");
    }
    assert_eq!(changed["on_invalid"], "reject");
    assert_eq!(app.ask("PATCH", "/api/sources/pay", json!({})).await, changed);

    post(app.capture(), "/pay", &[], b"{}").await;
    assert_eq!(app.call("DELETE", "/api/sources/pay", Value::Null).await.0, 204);
    for (method, body) in [("GET", Value::Null), ("PATCH", json!({})), ("DELETE", Value::Null)] {
        is(&app.call(method, "/api/sources/pay", body).await, 404, "unknown-source");
    }
    assert_eq!(app.event("last").await["source"], "pay", "its events stay");
    let again = app.ask("POST", "/api/sources", json!({ "slug": "pay" })).await;
    assert_eq!(
        (&again["on_invalid"], &again["provider"]),
        (&json!("record"), &Value::Null),
        "it begins anew"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_make_no_sense_are_refused_and_nothing_is_made() {
    let app = App::start().await;
    let table = [
        (json!({ "slug": "Bad Name" }), "bad-slug"),
        (json!({ "slug": "" }), "bad-slug"),
        (json!({ "slug": "a", "provider": "nobody" }), "unknown-provider"),
        (json!({ "slug": "a", "on_invalid": "explode" }), "bad-json"),
        (json!({ "slug": "a", "public_url": "ftp://x" }), "bad-input"),
        (json!({ "slug": "a", "public_url": "https://x/?a=1" }), "bad-input"),
        (json!({ "slug": "a", "answer": { "status": 99 } }), "bad-input"),
        (json!({ "slug": "a", "answer": { "status": 101 } }), "bad-input"),
        (json!({ "slug": "a", "answer": { "delay_ms": 60_001 } }), "bad-input"),
        (json!({ "slug": "a", "answer": { "headers": [["X", "a\r\nB: c"]] } }), "bad-json"),
        (json!({ "slug": "a", "tolerance_s": -1 }), "bad-json"),
        (json!({}), "bad-json"),
    ];
    for (source, code) in table {
        is(&app.call("POST", "/api/sources", source).await, 400, code);
    }
    let (status, _) = app
        .call(
            "POST",
            "/api/sources",
            json!({ "slug": "a", "generic": { "signature_header": "X-Sig", "encoding": "rot13" } }),
        )
        .await;
    assert_eq!(status, 400);
    assert_eq!(app.ask("GET", "/api/sources", Value::Null).await["items"], json!([]));
    app.source("a", json!({ "tolerance_s": 5 })).await;
    is(
        &app.call("PATCH", "/api/sources/a", json!({ "provider": "nobody", "tolerance_s": 9 })).await,
        400,
        "unknown-provider",
    );
    assert_eq!(
        app.ask("GET", "/api/sources/a", Value::Null).await["tolerance_s"],
        5,
        "all of a change or nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_is_added_changed_paused_and_removed() {
    let (app, server, down) = (App::start().await, LocalServer::start().await, Down::somewhere());
    app.source("demo", json!({})).await;
    let (status, made) =
        app.call("POST", "/api/targets", json!({ "source": "demo", "url": down.url() })).await;
    assert_eq!((status, &made["url"], &made["source"]), (201, &json!(down.url()), &json!("demo")));
    let defaults = json!(["sequential", 5, 30_000, 1_000, 60_000, false, true, false]);
    let names = [
        "order",
        "attempts",
        "timeout_ms",
        "retry_base_ms",
        "retry_cap_ms",
        "preserve_host",
        "hookmitt_headers",
        "paused",
    ];
    assert_eq!(names.map(|name| made[name].clone()).to_vec(), *defaults.as_array().unwrap());
    let path = format!("/api/targets/{}", made["id"]);
    assert_eq!(app.ask("GET", &path, Value::Null).await, made);
    let change = json!({ "order": "parallel:4", "attempts": 2, "timeout_ms": 500, "paused": true });
    let changed = app.ask("PATCH", &path, change).await;
    assert_eq!((&changed["order"], &changed["attempts"]), (&json!("parallel:4"), &json!(2)));
    assert_eq!(
        (&changed["timeout_ms"], &changed["paused"], &changed["url"]),
        (&json!(500), &json!(true), &json!(down.url()))
    );
    let id = app.catch("demo", &[], "{}").await;
    app.ask("PATCH", &path, json!({ "url": server.url(), "paused": false })).await;
    app.status(&id, "completed").await;

    let waiting = app.ask("PATCH", &path, json!({ "paused": true })).await;
    assert_eq!(waiting["paused"], true);
    let id = app.catch("demo", &[], "{\"n\":2}").await;
    assert_eq!(app.call("DELETE", &path, Value::Null).await.0, 204);
    let event = app.status(&id, "failed").await;
    assert!(event["deliveries"][0]["last_error"].as_str().unwrap().contains("removed"));
    for (method, body) in [("GET", Value::Null), ("PATCH", json!({})), ("DELETE", Value::Null)] {
        is(&app.call(method, &path, body).await, 404, "unknown-target");
    }
    assert_eq!(app.ask("GET", "/api/targets", Value::Null).await["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_is_added_paused_holds_its_events_which_are_counted() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    let made = app.target(Some("demo"), &server.url(), json!({ "paused": true })).await;
    for body in ["1", "2"] {
        app.catch("demo", &[], body).await;
    }
    let counted = app.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(counted["targets"], json!([{ "target_id": made, "waiting": 2 }]));
    app.ask("PATCH", &format!("/api/targets/{made}"), json!({ "paused": false })).await;
    app.status("last", "completed").await;
    assert_eq!(app.ask("GET", "/api/stats", Value::Null).await["targets"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_that_make_no_sense_are_refused() {
    let app = App::start().await;
    let table = [
        (json!({ "url": "3000", "order": "random" }), "bad-json"),
        (json!({ "url": "3000", "order": "parallel:0" }), "bad-json"),
        (json!({ "url": "3000", "attempts": 0 }), "bad-input"),
        (json!({ "url": "3000", "attempts": 101 }), "bad-input"),
        (json!({ "url": "3000", "timeout_ms": 0 }), "bad-input"),
        (json!({ "url": "3000", "timeout_ms": 600_001 }), "bad-input"),
        (json!({ "url": "3000", "source": "No Slug" }), "bad-slug"),
        (json!({}), "target-not-http"),
    ];
    for (target, code) in table {
        is(&app.call("POST", "/api/targets", target).await, 400, code);
    }
    assert_eq!(app.ask("GET", "/api/sources", Value::Null).await["items"], json!([]), "and nothing is made");
    let made = app.ask("POST", "/api/targets", json!({ "url": ":3000/hooks", "source": null })).await;
    assert_eq!((&made["url"], &made["source"]), (&json!("http://localhost:3000/hooks"), &Value::Null));
    let path = format!("/api/targets/{}", made["id"]);
    is(&app.call("PATCH", &path, json!({ "attempts": 0, "paused": true })).await, 400, "bad-input");
    assert_eq!(app.ask("GET", &path, Value::Null).await, made);
}

/// The calls that name a source for something new: a target, and a secret.
fn calls_for(source: &str) -> [(&'static str, String, Value); 2] {
    let secret = format!("/api/sources/{source}/secrets/main");
    [
        ("POST", "/api/targets".to_owned(), json!({ "url": "3000", "source": source })),
        ("PUT", secret, json!({ "value_base64": "eA==" })),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_name_makes_a_source_only_if_one_is_meant() {
    for at in [0, 1] {
        let app = App::start().await;
        app.source("shop", json!({})).await;
        let (method, path, mut body) = calls_for("shpo")[at].clone();
        let refused = app.call(method, &path, body.clone()).await;
        is(&refused, 404, "unknown-source");
        let hint = refused.1["hint"].as_str().unwrap();
        assert!(hint.contains("shop") && hint.contains("--create"), "{hint}");
        let (_, github, other) = calls_for("githbu")[at].clone();
        let (_, problem) = app.call(method, &github, other).await;
        assert!(problem["hint"].as_str().unwrap().contains("github"), "{problem}");
        assert_eq!(app.ask("GET", "/api/sources", Value::Null).await["items"].as_array().unwrap().len(), 1);

        body["create"] = json!(true);
        app.ask(method, &path, body).await;
        let made = app.ask("GET", "/api/sources/shpo", Value::Null).await;
        assert_eq!((&made["provider"], &made["auto_created"]), (&Value::Null, &json!(false)));
        let (method, path, body) = calls_for("github")[at].clone();
        app.ask(method, &path, body).await;
        assert_eq!(app.ask("GET", "/api/sources/github", Value::Null).await["provider"], "github");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_target_twice_is_refused() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let first = app.target(Some("demo"), "3000", json!({})).await;
    let again = json!({ "source": "demo", "url": "http://localhost:3000", "order": "fifo" });
    let refused = app.call("POST", "/api/targets", again).await;
    is(&refused, 409, "target-exists");
    assert!(refused.1["hint"].as_str().unwrap().contains(&format!("target edit {first}")), "{}", refused.1);
    let other = app.target(Some("demo"), "3001", json!({})).await;
    let path = format!("/api/targets/{other}");
    is(&app.call("PATCH", &path, json!({ "url": "3000" })).await, 409, "target-exists");
    app.ask("PATCH", &path, json!({ "url": "3001", "attempts": 2 })).await;
    // Every source's events, and another source's, are not the same events.
    app.target(None, "3000", json!({})).await;
    is(&app.call("POST", "/api/targets", json!({ "url": "3000" })).await, 409, "target-exists");
    app.target(Some("other"), "3000", json!({})).await;
    app.ask("DELETE", &format!("/api/targets/{first}"), Value::Null).await;
    app.target(Some("demo"), "3000", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_set_listed_without_their_value_and_removed() {
    let app = App::start().await;
    app.secret("hub", "main", "correct horse battery").await;
    app.ask("PUT", "/api/sources/hub/secrets/old", json!({ "env": "HOOKMITT_STORY_UNSET" })).await;
    let listed = app.ask("GET", "/api/secrets?source=hub", Value::Null).await;
    let items = listed["items"].as_array().unwrap();
    assert_eq!(
        (&items[0]["label"], &items[0]["kind"], &items[0]["readable"]),
        (&json!("main"), &json!("file"), &json!(true))
    );
    assert_eq!((&items[1]["label"], &items[1]["env"]), (&json!("old"), &json!("HOOKMITT_STORY_UNSET")));
    assert!(!listed.to_string().contains("correct horse"));
    let source = app.ask("GET", "/api/sources/hub", Value::Null).await;
    assert_eq!(source["secrets"], json!(["main"]));
    assert_eq!(app.ask("GET", "/api/secrets?source=other", Value::Null).await["items"], json!([]));
    for (body, code) in [
        (json!({}), "bad-input"),
        (json!({ "value_base64": "aGk=", "env": "A" }), "bad-input"),
        (json!({ "value_base64": "not base64!" }), "bad-input"),
        (json!({ "value": "hi" }), "bad-json"),
    ] {
        is(&app.call("PUT", "/api/sources/hub/secrets/x", body).await, 400, code);
    }
    for (body, label) in [
        (json!({ "value_base64": "" }), "x"),
        (json!({ "env": "A=B" }), "x"),
        (json!({ "value_base64": "aGk=" }), "%00"),
    ] {
        let (status, answer) = app.call("PUT", &format!("/api/sources/hub/secrets/{label}"), body).await;
        assert_eq!(status, 400, "{answer}");
        assert!(answer["code"].is_string());
    }
    assert_eq!(app.call("DELETE", "/api/sources/hub/secrets/main", Value::Null).await.0, 204);
    let (status, answer) = app.call("DELETE", "/api/sources/hub/secrets/main", Value::Null).await;
    assert!(matches!(status, 400 | 404), "{answer}");
    assert_eq!(app.ask("GET", "/api/secrets", Value::Null).await["items"].as_array().unwrap().len(), 1);
    app.ask("DELETE", "/api/sources/hub", Value::Null).await;
    assert_eq!(
        app.ask("GET", "/api/secrets", Value::Null).await["items"],
        json!([]),
        "they go with their source"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_verified_anew_and_nothing_is_kept_of_it() {
    let app = App::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    app.github("hub", "1", Some("hush"), "{}").await;
    let verify = async || app.ask("POST", "/api/events/last/verify", Value::Null).await;
    assert_eq!(verify().await["verdict"], "no_secret");
    app.secret("hub", "main", "hush").await;
    let valid = json!({ "verdict": "valid", "provider": "github", "scheme": "github-hmac-sha256",
            "scheme_name": "HMAC-SHA256", "signed_at": null, "tolerance_s": null, "secret_label": "main",
            "uncovered": null, "public_secret": false, "causes": [] });
    assert_eq!(verify().await, valid);
    app.github("hub", "2", Some("guess"), "{}").await;
    let invalid = verify().await;
    assert_eq!((&invalid["verdict"], &invalid["secret_label"]), (&json!("invalid"), &Value::Null));
    let cause = &invalid["causes"][0];
    assert!(
        ["code", "message", "fix"].iter().all(|field| !cause[field].as_str().unwrap().is_empty()),
        "{cause}"
    );
    app.until("last", "the same is kept of it", |event| event["causes"] == invalid["causes"]).await;
}
