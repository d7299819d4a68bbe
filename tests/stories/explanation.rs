//! Why a verdict is what it is: explained on request, and after the event is stored.

use hookmitt_stories::{Answer, App, LocalServer, Ran, Server, eventually, post, signature};
use serde_json::{Value, json};

use super::listen::{command, folder, github, run, serving};

async fn explanation(app: &App, id: &str, query: &str) -> Value {
    app.ask("GET", &format!("/api/events/{id}/explanation{query}"), Value::Null).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explanation_says_which_of_the_secrets_fits() {
    let app = App::start().await;
    app.source("gh", json!({ "provider": "github" })).await;
    app.secret("gh", "old", "s1").await;
    app.secret("gh", "new", "s2").await;
    let id = app.github("gh", "d1", Some("s2"), "{}").await.json()["id"].as_str().unwrap().to_owned();
    let found = explanation(&app, &id, "").await;
    assert_eq!((&found["verdict"], &found["provider"]), (&json!("valid"), &json!("github")));
    let fits = |label: &str| {
        let all = found["secrets"].as_array().unwrap();
        all.iter().find(|secret| secret["label"] == label).map(|secret| secret["fits"] == true)
    };
    assert_eq!((fits("old"), fits("new")), (Some(false), Some(true)), "{found}");
    assert!(!found["sentence"].as_str().unwrap().is_empty());
    explanation(&app, &id, "?secret=old").await;
    for (query, status) in [("?secret=none", 400), ("?wrong=1", 400)] {
        let path = format!("/api/events/{id}/explanation{query}");
        assert_eq!(app.call("GET", &path, Value::Null).await.0, status, "{query}");
    }
    assert_eq!(app.call("GET", "/api/events/0199/explanation", Value::Null).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_invalid_is_explained_after_it_is_stored_and_the_change_is_announced() {
    let app = App::start().await;
    app.source("gh", json!({ "provider": "github" })).await;
    app.secret("gh", "default", "right").await;
    let (body, changed) = ("{\"a\": 1, \"b\": [2]}", "{\"a\":1,\"b\":[2]}");
    let signed = format!("sha256={}", signature("right", body.as_bytes()));
    let headers = [("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signed.as_str())];
    let id = post(app.capture(), "/gh", &headers, changed.as_bytes()).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    let event =
        app.until(id, "it is explained", |event| event["causes"][0]["code"] == "body_reserialized").await;
    assert_eq!(event["verdict"], "invalid");
    let kept: Vec<_> = explanation(&app, id, "").await["causes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cause| cause["state"] != "ruled_out")
        .map(|cause| cause["code"].clone())
        .collect();
    let stored: Vec<_> =
        event["causes"].as_array().unwrap().iter().map(|cause| cause["code"].clone()).collect();
    assert_eq!(stored, kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_shows_the_evidence() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    Ran::with_input(command(dir, &["secret", "set", "gh", "--create"]), b"right").await.exits(0);
    github(capture, "gh", "wrong", "d1", "{}").await;
    let verified = run(dir, &["verify", "last"]).await.exits(1).text();
    assert!(verified.contains("cause") && verified.contains("default doesn't fit"), "{verified}");
    let shown = run(dir, &["show", "last"]).await.exits(0).text();
    assert!(shown.contains("[no_match]"), "{shown}");
    let line = run(dir, &["verify", "last", "--json"]).await.exits(1).json().remove(0);
    let fields: Vec<_> = line.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["verdict", "provider", "scheme", "secret_label", "causes"]);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_genuine_event_that_the_app_rejects_is_explained_with_the_fix_for_its_framework() {
    let dir = folder();
    let (app, server) = (Server::start(dir.path()).await, LocalServer::start().await);
    app.delivers().await;
    app.ask("POST", "/api/sources", json!({ "slug": "gh", "provider": "github" })).await;
    let secret = json!({ "value_base64": "cmlnaHQ=" });
    app.ask("PUT", "/api/sources/gh/secrets/default", secret).await;
    app.ask("POST", "/api/targets", json!({ "source": "gh", "url": server.url() })).await;
    server.will([Answer::Raw(
        b"HTTP/1.1 400 Bad\r\nX-Powered-By: Express\r\nContent-Length: 19\r\nConnection: close\r\n\r\nNo signatures found"
            .to_vec(),
    )]);
    let body = br#"{"a":1}"#;
    let signed = format!("sha256={}", signature("right", body));
    let headers = [("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signed.as_str())];
    post(app.capture, "/gh", &headers, body).await;
    let event = eventually("the app has rejected it", async || {
        let event = app.ask("GET", "/api/events/last", Value::Null).await;
        (event["status"] == "failed").then_some(event)
    })
    .await;
    assert_eq!(event["verdict"], "valid");
    let found = app.ask("GET", "/api/events/last/explanation", Value::Null).await;
    assert_eq!(found["causes"][0]["code"], "app_rejects");
    assert_eq!(found["fix"]["frameworks"][0]["why"], "x-powered-by: Express");
    let shown = run(dir.path(), &["show", "last"]).await.text();
    let said = "This event is genuine. Your app rejects it: most often its framework changes the body before the check, \
                or it has another secret.";
    assert!(shown.contains(said) && shown.contains("(Express"), "{shown}");

    run(dir.path(), &["replay", "last"]).await;
    eventually("the app takes it", async || {
        let shown = run(dir.path(), &["show", "last"]).await.text();
        (!shown.contains("Your app rejects it")).then_some(())
    })
    .await;
}
