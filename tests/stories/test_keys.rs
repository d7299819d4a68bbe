//! Local test key pairs, in place of private keys that only providers have.

use hookmitt_stories::App;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_test_key_shows_its_public_half_alone() {
    let app = App::start().await;
    app.source("bot", json!({ "provider": "discord" })).await;
    assert_eq!(app.ask("GET", "/api/sources/bot/test-key", Value::Null).await, Value::Null);
    let made = app.ask("POST", "/api/sources/bot/test-key", Value::Null).await;
    assert_eq!((&made["kind"], &made["public"][0]["form"]), (&json!("ed25519"), &json!("hex")));
    assert_eq!(made["public"][0]["text"].as_str().unwrap().len(), 64);
    assert!(!made.to_string().contains("PRIVATE"), "{made}");
    assert_eq!(app.ask("GET", "/api/sources/bot/test-key", Value::Null).await, made);
    let secrets = app.ask("GET", "/api/secrets?source=bot", Value::Null).await;
    assert_eq!(secrets["items"][0]["label"], "test key");
    let other = app.ask("POST", "/api/sources/bot/test-key", Value::Null).await;
    assert_ne!(other["public"], made["public"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_shared_secret_signs_there_is_no_key_pair_to_make() {
    let app = App::start().await;
    app.source("gh", json!({ "provider": "github" })).await;
    app.source("any", json!({})).await;
    for (slug, status) in [("gh", 400), ("any", 400), ("none", 404)] {
        let path = format!("/api/sources/{slug}/test-key");
        assert_eq!(app.call("POST", &path, Value::Null).await.0, status, "{slug}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_says_how_sure_it_is_and_what_it_needs() {
    let app = App::start().await;
    let all = app.ask("GET", "/api/providers", Value::Null).await;
    let row =
        |id: &str| all["items"].as_array().unwrap().iter().find(|one| one["id"] == id).cloned().unwrap();
    assert_eq!(
        (&row("github")["private_key"], &row("discord")["private_key"]),
        (&json!(false), &json!(true))
    );
    let names: Vec<_> =
        row("paypal")["params"].as_array().unwrap().iter().map(|param| param["name"].clone()).collect();
    assert_eq!(names, [json!("webhook_id")]);
    for provider in all["items"].as_array().unwrap() {
        assert!(
            ["confirmed", "corroborated"].contains(&provider["confidence"].as_str().unwrap()),
            "{provider}"
        );
    }
}
