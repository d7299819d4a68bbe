//! A source's first valid event sets the source's provider; a user can undo that.

use hookmitt_event::Timestamp;
use hookmitt_stories::{App, eventually, post, signature};
use serde_json::{Value, json};

async fn shown(app: &App) -> (Value, Value) {
    let source = app.ask("GET", "/api/sources/hub", Value::Null).await;
    (source["provider"].clone(), source["provider_event"].clone())
}

/// Waits until the source has this provider. Returns the event that set it.
async fn provider_is(app: &App, wanted: &str) -> Value {
    eventually(wanted, async || {
        let (provider, event) = shown(app).await;
        (provider == wanted).then_some(event)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_valid_event_sets_the_provider_and_a_person_undoes_it_for_good() {
    let app = App::start().await;
    app.secret("hub", "main", "hush").await;
    let unproved: [&[(&str, &str)]; 2] =
        [&[("X-GitHub-Event", "push")], &[("Plaid-Verification", "e30.e30.e30")]];
    for lines in unproved {
        post(app.capture(), "/hub", lines, b"{}").await;
        assert_eq!(shown(&app).await, (Value::Null, Value::Null), "{lines:?}");
    }
    let signed = format!("sha256={}", signature("hush", b"{}"));
    let from_a_page = [
        ("X-GitHub-Event", "push"),
        ("X-Hub-Signature-256", signed.as_str()),
        ("Origin", "https://evil.example"),
    ];
    post(app.capture(), "/hub", &from_a_page, b"{}").await;
    assert_eq!(app.event("last").await["verdict"], "valid");
    assert_eq!(shown(&app).await, (Value::Null, Value::Null), "a web page says nothing about who sends");

    let event = app.github("hub", "1", Some("hush"), "{}").await.json()["id"].clone();
    assert_eq!(provider_is(&app, "github").await, event);
    post(app.capture(), "/hub", &[("Plaid-Verification", "e30.e30.e30")], b"{}").await;
    let event = app.event("last").await;
    assert_eq!((&event["provider"], &event["verdict"]), (&json!("github"), &json!("unsigned")));
    assert!(
        event["causes"]
            .to_string()
            .contains("but hub is set to GitHub, the provider of its first valid event"),
        "{event}"
    );
    assert!(event["causes"].to_string().contains("`hookmitt source edit hub --provider ''`"), "{event}");

    app.ask("PATCH", "/api/sources/hub", json!({ "provider": null })).await;
    assert_eq!(shown(&app).await, (Value::Null, Value::Null));
    app.github("hub", "2", Some("hush"), "{}").await;
    assert_eq!(app.event("last").await["verdict"], "valid");
    app.ask("PATCH", "/api/sources/hub", json!({ "tolerance_s": 60 })).await;
    assert_eq!(shown(&app).await, (Value::Null, Value::Null), "it stays undone");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_a_new_secret_proves_sets_the_provider_too() {
    let app = App::start().await;
    app.github("hub", "1", Some("guess"), "{}").await;
    let genuine = app.github("hub", "2", Some("hush"), "{}").await.json()["id"].clone();
    app.secret("hub", "main", "hush").await;
    assert_eq!(shown(&app).await, (json!("github"), genuine));
}

/// Makes the source look as in an earlier version, which set no provider by itself.
async fn as_an_earlier_version_left_it(app: App) -> App {
    let folder = app.stop().await;
    let db = rusqlite::Connection::open(folder.path().join("inbox.db")).unwrap();
    let undone = "UPDATE source SET provider = NULL, settings = json_remove(settings, '$.provider_from')";
    assert_eq!(db.execute(undone, []).unwrap(), 1);
    App::start_on(folder).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_several_send_to_is_left_to_recognise_them() {
    let app = App::start().await;
    app.secret("hub", "main", "hush").await;
    app.github("hub", "1", Some("hush"), "{}").await;
    provider_is(&app, "github").await;
    let app = as_an_earlier_version_left_it(app).await;

    // The next valid event sets the provider if all events are of one provider.
    let next = app.github("hub", "2", Some("hush"), "{}").await.json()["id"].clone();
    assert_eq!(provider_is(&app, "github").await, next);

    let app = as_an_earlier_version_left_it(app).await;
    app.stripe("hub", "hush", Timestamp::now().as_seconds(), "{}").await;
    let event = app.event("last").await;
    assert_eq!((&event["provider"], &event["verdict"]), (&json!("stripe"), &json!("valid")), "{event}");
    assert_eq!(shown(&app).await, (Value::Null, Value::Null));
    app.github("hub", "3", Some("hush"), "{}").await;
    assert_eq!(app.event("last").await["verdict"], "valid");
    assert_eq!(shown(&app).await, (Value::Null, Value::Null), "it stays so");
}
