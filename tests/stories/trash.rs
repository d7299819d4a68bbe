//! What was deleted is listed, restored, and deleted for good.

use hookmitt_stories::{App, Ran, post};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

async fn trash(app: &App) -> Vec<i64> {
    let items = app.ask("GET", "/api/trash", Value::Null).await["items"].clone();
    items.as_array().unwrap().iter().map(|event| event["seq"].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trash_is_paged_restored_from_and_emptied() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(app.catch("demo", &[], &number.to_string()).await);
    }
    for id in &ids {
        app.ask("DELETE", &format!("/api/events/{id}"), Value::Null).await;
    }
    let page = app.ask("GET", "/api/trash?limit=3", Value::Null).await;
    assert_eq!((&page["items"][0]["seq"], &page["items"][0]["deleted_by"]), (&json!(4), &json!("cli")));
    let next = page["next_cursor"].as_str().unwrap();
    let rest = app.ask("GET", &format!("/api/trash?limit=3&cursor={next}"), Value::Null).await;
    assert_eq!((&rest["items"][0]["seq"], &rest["next_cursor"]), (&json!(1), &Value::Null));
    assert_eq!(app.call("GET", "/api/trash?cursor=x", Value::Null).await.0, 400);

    let restored = app.ask("POST", "/api/trash/restore", json!({ "ids": [ids[0], "#2"] })).await;
    assert_eq!(restored, json!({ "restored": 2, "waiting": 0 }));
    let (status, problem) = app.call("DELETE", &format!("/api/trash/{}", ids[0]), Value::Null).await;
    assert_eq!((status, &problem["code"]), (409, &json!("not-in-trash")));
    let gone = app.ask("DELETE", &format!("/api/trash/{}", ids[3]), Value::Null).await;
    assert_eq!(gone, json!({ "gone": 1, "stay": 0 }));
    assert_eq!(app.call("GET", &format!("/api/events/{}", ids[3]), Value::Null).await.0, 404);
    let before = json!({ "before": "2020-01-01T00:00:00.000000Z" });
    let none = app.job("/api/trash/empty", before.clone()).await;
    assert_eq!((&none["result"]["events"], trash(&app).await), (&json!(0), vec![3]));
    assert_eq!((&none["kind"], &none["asked"]["before"]), (&json!("empty"), &before["before"]));
    let all = app.job("/api/trash/empty", Value::Null).await;
    assert_eq!((&all["state"], &all["done"], &all["total"]), (&json!("done"), &json!(1), &json!(1)));
    assert_eq!(trash(&app).await, Vec::<i64>::new());
    assert_eq!(app.ask("GET", "/api/stats", Value::Null).await["events"], 2);
    let again = app.catch("demo", &[], "new").await;
    assert_eq!(app.event(&again).await["seq"], 5, "numbers are not given out again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_cleared_but_for_what_is_pinned() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    app.source("other", json!({})).await;
    let pinned = app.catch("demo", &[], "1").await;
    app.catch("demo", &[], "2").await;
    app.catch("other", &[], "3").await;
    app.ask("PATCH", &format!("/api/events/{pinned}"), json!({ "pinned": true })).await;
    assert_eq!(app.call("POST", "/api/clear", json!({})).await.0, 400);
    assert_eq!(app.call("POST", "/api/clear", json!({ "source": "none" })).await.0, 404);
    let cleared = app.job("/api/clear", json!({ "source": "demo" })).await;
    assert_eq!((&cleared["result"]["events"], trash(&app).await), (&json!(1), vec![2]));
    assert_eq!((&cleared["kind"], &cleared["asked"]["source"]), (&json!("delete"), &json!("demo")));
    let until = json!({ "until": "2999-01-01T00:00:00Z" });
    assert_eq!(app.job("/api/clear", until).await["result"]["events"], 1);
    app.job(&format!("/api/jobs/{}/undo", cleared["id"]), Value::Null).await;
    assert_eq!(trash(&app).await, [3], "what was cleared can be restored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_events_of_the_trash_are_restored_at_once_and_more_become_a_job() {
    let app = App::start().await;
    for body in 0..11 {
        app.catch("demo", &[], &body.to_string()).await;
    }
    app.job("/api/clear", json!({ "source": "demo" })).await;
    let names: Vec<_> = (1..=11).map(|number| format!("#{number}")).collect();
    let job = app.job("/api/trash/restore", json!({ "ids": names })).await;
    assert_eq!((&job["kind"], &job["result"]["events"]), (&json!("restore"), &json!(11)));
    assert_eq!(app.events().await.len(), 11);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trash_at_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    run(dir, &["source", "add", "demo"]).await.exits(0);
    for body in [&b"1"[..], b"2", b"3"] {
        post(capture, "/demo", &[], body).await;
    }
    assert!(run(dir, &["trash"]).await.exits(0).err.contains("the trash is empty"));
    run(dir, &["delete", "#1", "#2", "#3"]).await.exits(0);
    let listed = run(dir, &["trash", "list"]).await.exits(0).text();
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines.len() == 3 && lines[0].contains("#3") && lines[0].contains("cli"), "{listed}");
    assert!(run(dir, &["trash", "restore", "#1", "#1"]).await.exits(0).err.contains("restored 1 event"));
    let again = run(dir, &["trash", "restore", "#1"]).await.exits(2);
    assert!(again.err.contains("#1 isn't deleted"), "{}", again.err);
    assert!(run(dir, &["trash", "delete", "#2"]).await.exits(0).err.contains("deleted for good: 1 event"));
    let refused = run(dir, &["trash", "delete", "#1"]).await.exits(2);
    assert!(refused.err.contains("#1 isn't in the trash"), "{}", refused.err);
    let asked = Ran::of(command(dir, &["trash", "empty"])).await.exits(2);
    assert!(asked.err.contains("--yes"), "{}", asked.err);
    let json = run(dir, &["trash", "empty", "--yes", "--json"]).await.exits(0).json().remove(0);
    assert_eq!((&json["state"], &json["result"]["events"]), (&json!("done"), &json!(1)), "{json}");
    serve.stop().await.exits(0);
}
