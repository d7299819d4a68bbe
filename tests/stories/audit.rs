//! The audit trail says who did what, and holds no secret.

use hookmitt_stories::{App, LocalServer, Ran, post};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

async fn deeds(app: &App, query: &str) -> Vec<String> {
    let items = app.ask("GET", &format!("/api/audit{query}"), Value::Null).await["items"].clone();
    items.as_array().unwrap().iter().map(|entry| entry["what"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_does_is_recorded_newest_first_and_without_secrets() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({ "provider": "github" })).await;
    app.secret("demo", "main", "hush").await;
    app.ask("PATCH", "/api/sources/demo", json!({ "public_url": "https://me:hush@h/" })).await;
    let url = format!("{}/hush?hush=1", server.url().trim_end_matches('/'));
    app.target(Some("demo"), &url, json!({})).await;
    let id = app.catch("demo", &[], "{}").await;
    let other = json!({ "to": format!("{}/hush", server.url().trim_end_matches('/')) });
    app.ask("POST", &format!("/api/events/{id}/replay"), other.clone()).await;
    let edited = json!({ "to": other["to"], "body_base64": "aGk=" });
    app.ask("POST", &format!("/api/events/{id}/replay"), edited).await;
    app.ask("POST", "/api/export", json!({ "ids": [id], "raw": true })).await;
    app.ask("DELETE", "/api/sources/demo/secrets/main", Value::Null).await;
    app.ask("DELETE", &format!("/api/events/{id}"), Value::Null).await;
    let expected = "deleted secret_removed exported_raw replayed_elsewhere replayed_elsewhere target_added \
        source_changed secret_set source_added";
    assert_eq!(deeds(&app, "").await.join(" "), expected);
    assert_eq!(deeds(&app, "?what=deleted&who=cli").await, ["deleted"]);
    assert_eq!(deeds(&app, "?who=page").await, Vec::<String>::new());
    assert_eq!(deeds(&app, "?since=2999-01-01T00:00:00Z").await, Vec::<String>::new());
    let all = app.ask("GET", "/api/audit", Value::Null).await;
    assert!(!all.to_string().contains("hush"), "{all:#}");
    assert_eq!((&all["items"][0]["event_id"], &all["items"][0]["seq"]), (&json!(id), &json!(1)));
    assert_eq!(all["items"][1]["detail"], json!({ "label": "main" }));
    let page = app.ask("GET", "/api/audit?limit=5", Value::Null).await;
    let rest = deeds(&app, &format!("?cursor={}", page["next_cursor"].as_str().unwrap())).await;
    assert_eq!(rest.len(), 4);
    for wrong in ["?who=nobody", "?what=nothing", "?since=x", "?cursor=x"] {
        assert_eq!(app.call("GET", &format!("/api/audit{wrong}"), Value::Null).await.0, 400, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_does_is_recorded_whether_it_attaches_or_not() {
    let folder = folder();
    let dir = folder.path();
    assert!(run(dir, &["audit"]).await.exits(0).err.contains("nothing was done"));
    run(dir, &["source", "add", "demo"]).await.exits(0);
    let (serve, capture) = serving(dir).await;
    let secret = command(dir, &["secret", "set", "demo", "--label", "main"]);
    Ran::with_input(secret, b"hush").await.exits(0);
    post(capture, "/demo", &[], b"1").await;
    run(dir, &["delete", "#1"]).await.exits(0);
    let table = run(dir, &["audit", "--since", "1h"]).await.exits(0).text();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[1].contains("cli") && lines[1].contains("deleted") && lines[1].ends_with("#1"), "{table}");
    assert!(lines[2].contains("secret set") && lines[2].ends_with("demo  label main"), "{table}");
    assert!(lines[3].contains("source added") && lines[3].ends_with("demo"), "{table}");
    let json = run(dir, &["audit", "--what", "source_added", "--json"]).await.exits(0).json();
    assert_eq!((json.len(), &json[0]["who"]), (1, &json!("cli")));
    run(dir, &["audit", "--who", "nobody"]).await.exits(2);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_and_program_are_told_apart_by_their_tokens_and_not_by_what_they_say() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let (host, url) = (app.api().to_string(), app.open_url());
    let (base, code) = url.split_once("/#code=").unwrap();
    let code = json!({ "code": code }).to_string();
    let swapped =
        app.api_raw("POST", "/api/session", &[("Host", &host), ("Origin", base)], code.as_bytes()).await;
    let session = swapped.json()["token"].as_str().unwrap().to_owned();
    for token in [session.as_str(), &app.token()] {
        app.catch("demo", &[], token).await;
        let bearer = format!("Bearer {token}");
        let lines = [("Host", host.as_str()), ("Authorization", &bearer), ("Hookmitt-Actor", "window")];
        assert_eq!(app.api_raw("DELETE", "/api/events/last", &lines, b"").await.status, 200);
    }
    let all = app.ask("GET", "/api/audit?what=deleted", Value::Null).await["items"].clone();
    assert_eq!((&all[1]["who"], &all[0]["who"]), (&json!("page"), &json!("api")));
}
