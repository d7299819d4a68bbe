//! What is known of a target: not tried yet, answered, or nobody answers. It is looked at when it is shown.

use std::time::Duration;

use hookmitt_stories::{App, LocalServer, eventually};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt as _, net::TcpListener, time::timeout};

use super::listen::{folder, run};

/// Returns what is known of the only target, after it was looked at.
async fn looked_at(app: &App) -> Value {
    app.ask("GET", "/api/targets?look=true", Value::Null).await["items"][0]["state"].clone()
}

/// Returns what is known of the only target without a look.
async fn known(app: &App) -> Value {
    app.ask("GET", "/api/targets", Value::Null).await["items"][0]["state"].clone()
}

/// Looks until the target is seen in this state: a look holds for some seconds.
async fn seen(app: &App, is: &str) -> Value {
    eventually(&format!("it is seen to be {is}"), async || {
        Some(looked_at(app).await).filter(|state| state["is"] == is)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_is_untried_then_it_answered_and_when_it_dies_nobody_answers() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", Value::Null).await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    assert_eq!(known(&app).await, json!({ "is": "untried" }));

    let event = app.catch("demo", &[], "one").await;
    app.status(&event, "completed").await;
    let answered = known(&app).await;
    assert!(answered["is"] == "answered" && answered["at"].is_string(), "{answered}");

    let down = server.down().await;
    assert_eq!(known(&app).await["is"], "answered", "nobody has looked");
    let silent = seen(&app, "silent").await;
    assert_eq!(silent["why"], "connection_refused");
    assert!(silent["since"].as_str() > answered["at"].as_str(), "{silent}");
    assert!(silent["error"].as_str().unwrap().starts_with("connection refused by 127.0.0.1:"), "{silent}");

    let server = down.up();
    seen(&app, "answered").await;
    assert!(server.seen().is_empty(), "looking is no request");
    app.status(&app.catch("demo", &[], "two").await, "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_opens_one_connection_for_all_targets_there_and_sends_nothing() {
    let (app, listener) = (App::start().await, TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = listener.local_addr().unwrap();
    for path in ["a", "b"] {
        app.target(None, &format!("http://{address}/{path}"), json!({})).await;
    }
    let looks = async {
        looked_at(&app).await;
        looked_at(&app).await
    };
    let came = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        bytes
    };
    let (state, bytes) = tokio::join!(looks, came);
    assert_eq!((state["is"].as_str(), bytes), (Some("answered"), Vec::new()));
    let more = timeout(Duration::from_millis(300), listener.accept()).await;
    assert!(more.is_err(), "what was seen holds for a while");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_says_what_is_known_of_each_target() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let list = async || run(dir, &["target", "list"]).await.exits(0).text();
    run(dir, &["target", "add", "demo", &server.url(), "--create"]).await.exits(0);
    run(dir, &["target", "add", "demo", "https://far.example.com"]).await.exits(0);
    let first = list().await;
    let mut lines = first.lines();
    assert!(lines.next().is_some_and(|line| line.ends_with("  answers")), "{first}");
    assert!(
        lines.next().is_some_and(|line| line.ends_with("  not tried yet")),
        "what is far isn't called: {first}"
    );

    let _down = server.down().await;
    let said = list().await;
    let line = said.lines().next().unwrap_or_default();
    assert!(line.contains("  nobody answers since ") && line.ends_with(": connection refused"), "{said}");
    let shown = run(dir, &["source", "show", "demo"]).await.exits(0).text();
    assert!(shown.contains("nobody answers since ") && shown.contains("not tried yet"), "{shown}");
    let checked = run(dir, &["doctor"]).await;
    assert!(checked.text().contains("nobody answers at http://127.0.0.1:"), "{}", checked.text());
}
