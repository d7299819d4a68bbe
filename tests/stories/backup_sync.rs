//! Backup sync: what never came is fetched from the provider's own API, once, and is told apart from what did.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{ApiAnswer, App, LocalServer, ProviderApi, Trouble, eventually, signature};
use serde_json::{Value, json};

use super::apis::stripe::{KEY, SECRET, Stripe, Syncs as _, counts, invoice, now, webhook};

#[tokio::test(flavor = "multi_thread")]
async fn what_never_came_is_added_once_and_delivered_signed_when_asked() {
    let stripe = Stripe::with((0..3).map(|number| invoice(number, 600 + number)).collect());
    let server = LocalServer::start().await;
    let app = stripe.app().await;
    app.target(Some("stripe"), &server.url(), json!({})).await;
    app.secret("stripe", "default", SECRET).await;
    let came = webhook(&app, &invoice(0, 600)).await;
    app.status(&came, "completed").await;

    let dry = app.sync("stripe", json!({ "dry_run": true })).await;
    assert_eq!((counts(&dry), app.events().await.len()), ([3, 1, 0, 2, 0], 1));
    let report = app.sync("stripe", json!({})).await;
    assert_eq!((counts(&report), &report["kept"]), ([3, 1, 2, 0, 0], &json!(2)));
    let events = app.events().await;
    assert_eq!(events.len(), 3);
    let copy = &events[0];
    assert_eq!(
        (&copy["via"], &copy["verdict"], &copy["status"]),
        (&json!("backup_sync"), &json!("unsigned"), &json!("skipped"))
    );
    assert_eq!(copy["causes"][0]["code"], "from_the_api");
    assert_eq!(copy["dedupe_key"], "id:evt_00001", "the newest came last");
    assert_eq!(server.seen().len(), 1, "it is only kept");

    let job = app.job(&format!("/api/sync-reports/{}/deliver", report["id"]), Value::Null).await;
    assert_eq!((&job["kind"], &job["result"]["events"]), (&json!("retry"), &json!(2)));
    let seen = server.wait_for(3).await;
    for one in &seen[1..] {
        let line = one.header("stripe-signature").expect("it is signed again");
        let at = line.split_once("t=").unwrap().1.split(',').next().unwrap();
        let signed = signature(SECRET, format!("{at}.{}", String::from_utf8_lossy(one.body())).as_bytes());
        assert!(line.contains(&format!("v1={signed}")), "{line}");
    }
    let again = app.sync("stripe", json!({})).await;
    assert_eq!(counts(&again), [3, 3, 0, 0, 0]);
    let (status, problem) =
        app.call("POST", &format!("/api/sync-reports/{}/deliver", report["id"]), Value::Null).await;
    assert_eq!(status, 400, "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_comes_after_its_copy_is_the_first_and_is_delivered_once() {
    let stripe = Stripe::with((0..3).map(|number| invoice(number, 600 + number)).collect());
    let server = LocalServer::start().await;
    let app = stripe.app().await;
    app.target(Some("stripe"), &server.url(), json!({})).await;
    app.secret("stripe", "default", SECRET).await;
    let report = app.sync("stripe", json!({ "deliver": true })).await;
    assert_eq!(counts(&report), [3, 0, 3, 0, 0]);
    server.wait_for(3).await;
    for event in app.events().await {
        app.status(event["id"].as_str().unwrap(), "completed").await;
    }
    let late = webhook(&app, &invoice(1, 601)).await;
    let late = app.status(&late, "skipped").await;
    assert_eq!((&late["duplicate_of"], &late["verdict"]), (&Value::Null, &json!("valid")));
    let copies = app.events().await;
    let copy =
        copies.iter().find(|event| event["duplicate_of"] == late["id"]).expect("the copy points at it");
    assert_eq!((&copy["via"], &copy["conflict"]), (&json!("backup_sync"), &json!(false)));
    let known = app.sync("stripe", json!({})).await;
    assert_eq!(counts(&known), [3, 3, 0, 0, 0]);

    // A verdict that changes and comes back doesn't turn that round.
    app.ask("DELETE", "/api/sources/stripe/secrets/default", Value::Null).await;
    app.secret("stripe", "default", SECRET).await;
    let copy = app.event(copy["id"].as_str().unwrap()).await;
    assert_eq!((&copy["duplicate_of"], &copy["verdict"]), (&late["id"], &json!("unsigned")));
    assert_eq!(server.seen().len(), 3, "one delivery each");
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_come_while_their_copies_are_stored_are_delivered_once_each() {
    const COUNT: i64 = 60;
    let stripe = Stripe::with((0..COUNT).map(|number| invoice(number, 600 + number)).collect());
    let server = LocalServer::start().await;
    let app = stripe.app().await;
    app.target(Some("stripe"), &server.url(), json!({ "order": "parallel:4" })).await;
    app.secret("stripe", "default", SECRET).await;
    let sends = async {
        for number in (0..COUNT).rev() {
            webhook(&app, &invoice(number, 600 + number)).await;
        }
    };
    let (report, ()) = tokio::join!(app.sync("stripe", json!({ "deliver": true })), sends);
    assert_eq!(report["checked"], COUNT);
    let settled = eventually("everything is delivered", async || {
        let events = app.events().await;
        let waits = |event: &Value| matches!(event["status"].as_str(), Some("pending" | "processing"));
        (!events.iter().any(waits)).then_some(events)
    })
    .await;
    let mut firsts: Vec<_> = settled
        .iter()
        .filter(|event| event["duplicate_of"].is_null())
        .map(|event| event["dedupe_key"].to_string())
        .collect();
    firsts.sort();
    firsts.dedup();
    let all = settled.iter().filter(|event| event["duplicate_of"].is_null()).count();
    assert_eq!((all, firsts.len()), (COUNT as usize, COUNT as usize), "one first each");
    let mut ids: Vec<String> = server
        .seen()
        .iter()
        .map(|seen| serde_json::from_slice::<Value>(seen.body()).unwrap()["id"].to_string())
        .collect();
    let sent = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((sent, ids.len()), (COUNT as usize, COUNT as usize), "one delivery each");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_read_to_its_end_whatever_comes_between() {
    let stripe = Stripe::with((0..250).map(|number| invoice(number, 600 + number / 3)).collect());
    let app = stripe.app().await;
    let limited = ApiAnswer::error(429, "slow down").with("Retry-After", "1");
    stripe.api.will([
        Some(Trouble::Answer(limited)),
        None,
        Some(Trouble::Answer(ApiAnswer::error(500, "oops"))),
        Some(Trouble::Cut),
        None,
    ]);
    let report = app.sync("stripe", json!({})).await;
    assert_eq!((counts(&report), &report["why"]), ([250, 0, 250, 0, 0], &Value::Null));
    let calls = stripe.api.calls();
    assert_eq!(calls.len(), 6, "three pages, and three calls again");

    // The cursor isn't good any more: its event was deleted there.
    let app = stripe.app().await;
    stripe.api.will([None, Some(Trouble::Answer(ApiAnswer::error(400, "No such event")))]);
    assert_eq!(counts(&app.sync("stripe", json!({})).await), [250, 0, 250, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_that_fails_says_why_and_the_next_one_goes_on() {
    let stripe = Stripe::with((0..150).map(|number| invoice(number, 600 + number)).collect());
    let app = stripe.app().await;
    for (status, said) in [(401, "doesn't know this key"), (403, "may not do this"), (404, "answers 404")] {
        stripe.api.will([Some(Trouble::Answer(ApiAnswer::error(status, &format!("no, Bearer {KEY}"))))]);
        let report = app.sync("stripe", json!({})).await;
        let why = report["why"].as_str().unwrap();
        assert!(why.contains(said), "{status}: {why}");
        assert!(!why.contains(KEY) && why.contains("Bearer …"), "a key is never repeated: {why}");
    }
    let redirect = ApiAnswer::error(302, "").with("Location", "https://evil.example/");
    stripe.api.will([Some(Trouble::Answer(redirect))]);
    let report = app.sync("stripe", json!({})).await;
    assert!(report["why"].as_str().unwrap().contains("redirect"), "{report}");
    let failed = async || app.ask("GET", "/api/sync/stripe", Value::Null).await["failed"].clone();
    assert_eq!(failed().await, report["why"]);
    let checks = app.ask("GET", "/api/doctor", Value::Null).await["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "sync").unwrap();
    assert!(check["ok"] == false && check["message"].as_str().unwrap().contains("redirect"), "{check}");

    // In the middle: what was added stays, and the next sync begins where this one did.
    stripe.api.will([None, Some(Trouble::Answer(ApiAnswer::error(403, "no")))]);
    let report = app.sync("stripe", json!({})).await;
    assert_eq!(
        (
            report["added"].as_i64(),
            app.ask("GET", "/api/sync/stripe", Value::Null).await["synced_until"].clone()
        ),
        (Some(0), Value::Null)
    );
    assert_eq!(counts(&app.sync("stripe", json!({})).await), [150, 0, 150, 0, 0]);
    let until = app.ask("GET", "/api/sync/stripe", Value::Null).await["synced_until"].clone();
    assert!(until.is_string() && failed().await.is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_an_hour_off_misses_nothing() {
    for ahead in [-3_600, 3_600] {
        // By the provider's clock, one just now and one nearly a day ago.
        let there = |ago: i64| {
            let mut event = invoice(ago, ago);
            event["created"] = json!(now() + ahead - ago);
            event
        };
        let stripe = Stripe::with(vec![there(20), there(86_000)]);
        stripe.api.is_ahead(ahead);
        let app = stripe.app().await;
        assert_eq!(counts(&app.sync("stripe", json!({})).await), [2, 0, 2, 0, 0], "{ahead}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_time_that_was_asked_for_counts_and_an_id_counts_once() {
    let (from, to) = (now() - 3_000, now() - 1_000);
    let at = |number: i64, created: i64| {
        let mut event = invoice(number, 0);
        event["created"] = json!(created);
        event
    };
    let events = vec![at(1, from - 1), at(2, from), at(3, from), at(4, to - 1), at(5, to)];
    let listed = events.clone();
    // An API that takes no heed of the time, shuffles, and repeats itself.
    let api = ProviderApi::start(&["api.stripe.com"], move |_| {
        let twice: Vec<_> = listed.iter().rev().chain(&listed).collect();
        ApiAnswer::json(&json!({ "data": twice, "has_more": false }))
    });
    let stripe = Stripe { api, events: Arc::default() };
    let app = stripe.app().await;
    let moment = |seconds: i64| {
        let at = hookmitt_event::Timestamp::from_seconds(seconds);
        at.to_string()
    };
    let report = app.sync("stripe", json!({ "since": moment(from), "until": moment(to) })).await;
    assert_eq!(counts(&report), [3, 0, 3, 0, 0]);
    let mut keys: Vec<_> = app.events().await.iter().map(|event| event["dedupe_key"].to_string()).collect();
    keys.sort();
    assert_eq!(keys, ["\"id:evt_00002\"", "\"id:evt_00003\"", "\"id:evt_00004\""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn days_are_told_by_what_is_there_and_here_and_each_leads_to_its_list() {
    let stripe = Stripe::with(vec![invoice(1, 600), invoice(2, 700)]);
    let app = stripe.app().await;
    app.secret("stripe", "default", SECRET).await;
    webhook(&app, &invoice(1, 600)).await;
    webhook(&app, &invoice(9, 650)).await; // another account's, say: the API doesn't list it
    let none = app.ask("GET", "/api/sync/stripe/days", Value::Null).await;
    assert_eq!(none["items"], json!([]), "nobody has looked yet");
    app.sync("stripe", json!({ "dry_run": true })).await;
    let days = app.ask("GET", "/api/sync/stripe/days", Value::Null).await;
    let sum = |name: &str| -> i64 {
        days["items"].as_array().unwrap().iter().map(|day| day[name].as_i64().unwrap()).sum()
    };
    assert_eq!((sum("both"), sum("only_there"), sum("only_here")), (1, 1, 1));
    for (part, id) in [("both", "evt_00001"), ("only_there", "evt_00002"), ("only_here", "evt_00009")] {
        let list = app.ask("GET", &format!("/api/sync/stripe/events?part={part}"), Value::Null).await;
        assert_eq!(
            (&list["items"][0]["id"], list["items"].as_array().unwrap().len()),
            (&json!(id), 1),
            "{part}"
        );
    }
    assert_eq!(app.call("GET", "/api/sync/stripe/events?part=x", Value::Null).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_with_a_key_is_synced_by_itself() {
    let stripe = Stripe::with(vec![invoice(1, 600)]);
    let app = stripe.app().await;
    app.ask("PATCH", "/api/sync/stripe", json!({ "every_s": null })).await;
    eventually("it is synced", async || {
        let view = app.ask("GET", "/api/sync/stripe", Value::Null).await;
        (view["synced_until"].is_string() && view["job"].is_null()).then_some(())
    })
    .await;
    let events = app.events().await;
    assert_eq!((events.len(), &events[0]["status"]), (1, &json!("captured")));
    let view = app.ask("GET", "/api/sync/stripe", Value::Null).await;
    let due = view["due_in_s"].as_u64().unwrap();
    assert!((3_500..=3_600).contains(&due), "{view}");
    stripe.events.lock().unwrap().push(invoice(2, 5));
    assert_eq!(counts(&app.sync("stripe", json!({})).await), [2, 1, 1, 0, 0], "the windows overlap");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_source_lacks_is_said() {
    let app = App::start().await;
    app.source("mine", json!({})).await;
    app.source("telegram", json!({ "provider": "telegram" })).await;
    app.source("github", json!({ "provider": "github" })).await;
    app.source("stripe", json!({ "provider": "stripe" })).await;
    app.api_key("github", "ghp_x").await;
    for (source, code) in [
        ("mine", "no-provider"),
        ("telegram", "no-connector"),
        ("github", "missing-sync-param"),
        ("stripe", "no-api-key"),
    ] {
        let (status, problem) = app.call("POST", &format!("/api/sync/{source}"), json!({})).await;
        assert_eq!((status, &problem["code"]), (400, &json!(code)), "{problem}");
        assert!(app.ask("GET", &format!("/api/sync/{source}"), Value::Null).await["lacks"].is_string());
    }
    let unknown = json!({ "params": { "ownr": "me" } });
    let (status, problem) = app.call("PATCH", "/api/sync/github", unknown).await;
    assert_eq!((status, &problem["code"]), (400, &json!("unknown-sync-param")), "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("at, hook"), "{problem}");
    for key in ["", "  ", "sk_\u{1f600}", "sk_1\nsk_2"] {
        let body = json!({ "value_base64": STANDARD.encode(key) });
        assert_eq!(app.call("PUT", "/api/sync/stripe/key", body).await.0, 400, "{key:?}");
    }
    assert_eq!(app.ask("GET", "/api/sync/stripe", Value::Null).await["key"], Value::Null);
    assert_eq!(app.call("POST", "/api/sync/nobody", json!({})).await.0, 404);
    let secrets = app.ask("GET", "/api/secrets", Value::Null).await;
    assert_eq!(secrets["items"], json!([]), "API keys are no signing secrets");
    app.ask("DELETE", "/api/sync/github/key", Value::Null).await;
    assert_eq!(app.call("DELETE", "/api/sync/github/key", Value::Null).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_when_nothing_caught_says_what_was_recovered_of_it() {
    let stripe = Stripe::with(vec![invoice(1, 2_000), invoice(2, 40)]);
    let app = stripe.app().await;
    let path = "/api/sync/stripe/days";
    assert_eq!(app.ask("GET", path, Value::Null).await["away"], json!([]));
    let folder = app.stop().await;
    // As if the last one had ended an hour ago, and the source were older.
    let db = rusqlite::Connection::open(folder.path().join("inbox.db")).unwrap();
    let ago = |seconds: i64| (now() - seconds) * 1_000_000;
    db.execute("UPDATE meta SET value = ?1 WHERE key = 'capturing_until'", [ago(3_600)]).unwrap();
    db.execute("UPDATE source SET created_at = ?1", [ago(7_200)]).unwrap();
    drop(db);
    let app = App::start_with(folder, stripe.api.network()).await;
    let away = eventually("it knows", async || {
        let days = app.ask("GET", path, Value::Null).await;
        Some(days["away"][0].clone()).filter(|away| !away.is_null())
    })
    .await;
    assert_eq!(away["synced"], Value::Null, "unknown stays unknown: {away}");
    app.sync("stripe", json!({})).await;
    let away = app.ask("GET", path, Value::Null).await["away"].clone();
    assert_eq!((&away[0]["synced"], &away[0]["unrecoverable"]), (&json!(2), &json!(0)), "{away}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_item_keeps_nobody_else_out() {
    let api = ProviderApi::start(&["api.stripe.com"], |_| {
        let nameless = json!({ "object": "event", "created": now() - 60, "type": "a.b" });
        ApiAnswer::json(&json!({ "data": [invoice(1, 60), nameless, invoice(2, 70)], "has_more": false }))
    });
    let stripe = Stripe { api, events: Arc::default() };
    let app = stripe.app().await;
    let report = app.sync("stripe", json!({})).await;
    assert_eq!((counts(&report), &report["why"]), ([3, 0, 2, 0, 1], &Value::Null));
    let listed = app.ask("GET", "/api/sync/stripe/events", Value::Null).await;
    assert_eq!(listed["items"][0]["why"], "the list gives no id for it");
    let dry = app.sync("stripe", json!({ "dry_run": true })).await;
    assert_eq!(counts(&dry), [3, 2, 0, 0, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_13_a_key_stays_with_the_hosts_for_which_it_was_given() {
    let stripe = Stripe::with(vec![invoice(1, 600)]);
    let other = ProviderApi::start(&["localhost"], |_| ApiAnswer::json(&json!([])));
    let app = stripe.app().await;
    let own = json!({ "name": "Other", "key": { "sent": "bearer" },
        "list": { "items": "", "id": "/id", "call": { "url": format!("{}/x", other.url()) } } });
    app.ask("PATCH", "/api/sync/stripe", json!({ "connector": own })).await;
    for path in ["/api/sync/stripe", "/api/sync/stripe/check"] {
        let (status, problem) = app.call("POST", path, json!({})).await;
        assert_eq!((status, &problem["code"]), (400, &json!("api-key-of-another-host")), "{problem}");
    }
    assert!(other.calls().is_empty(), "nothing was sent there");
    app.api_key("stripe", "another").await;
    app.sync("stripe", json!({})).await;
    assert_eq!(other.calls()[0].header("authorization"), Some("Bearer another"));
    app.ask("DELETE", "/api/sources/stripe", Value::Null).await;
    app.source("stripe", json!({ "provider": "stripe" })).await;
    let view = app.ask("GET", "/api/sync/stripe", Value::Null).await;
    assert_eq!(view["key"], Value::Null, "a source's key goes with it");
}
