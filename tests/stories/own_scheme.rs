//! An own signing scheme: defined once, shared as a file, and used for verification by whoever imports it.

use hookmitt_stories::{Ran, post};
use serde_json::json;

use super::listen::{command, folder, run, serving};

/// A scheme that no provider has: it covers method and body, and its signature header also carries the time.
const FLAGS: [&str; 14] = [
    "--sign-header",
    "X-Shop-Proof",
    "--sign-format",
    "fields",
    "--sign-version",
    "s",
    "--sign-separator",
    ";",
    "--timestamp-at",
    "field:at",
    "--sign-content",
    "{method}|{timestamp}|{body}",
    "--tolerance",
    "30m",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_scheme_is_shared_as_a_file_without_its_secret() {
    let (mine, theirs) = (folder(), folder());
    run(mine.path(), &[&["source", "add", "shop", "--title-at", "/what"], &FLAGS[..]].concat())
        .await
        .exits(0);
    set_secret(mine.path()).await;
    let file = theirs.path().join("shop-scheme.json");
    let shared = run(mine.path(), &["source", "show", "shop", "--scheme"]).await.exits(0);
    assert!(!shared.text().contains("hush"), "{}", shared.text());
    std::fs::write(&file, &shared.out).unwrap();

    let path = file.to_str().unwrap();
    run(theirs.path(), &["source", "add", "boutique", "--scheme-file", path]).await.exits(0);
    Ran::with_input(command(theirs.path(), &["secret", "set", "boutique"]), b"hush").await.exits(0);
    let (serve, capture) = serving(theirs.path()).await;
    let at = hookmitt_event::Timestamp::now().as_seconds().to_string();
    let body = r#"{"what":"a hat"}"#;
    let proof = hookmitt_stories::signature("hush", format!("POST|{at}|{body}").as_bytes());
    let header = format!("at={at};s={proof}");
    for (header, verdict) in [(header.as_str(), "valid"), (&header.replace("s=", "s=0"), "invalid")] {
        post(capture, "/boutique", &[("X-Shop-Proof", header)], body.as_bytes()).await;
        let event = run(theirs.path(), &["show", "last", "--json"]).await.exits(0).json().remove(0);
        assert_eq!((&event["verdict"], &event["title"]), (&json!(verdict), &json!("a hat")));
    }
    serve.stop().await;
}

async fn set_secret(data_dir: &std::path::Path) {
    Ran::with_input(command(data_dir, &["secret", "set", "shop"]), b"hush").await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_scheme_says_what_to_do() {
    let home = folder();
    let file = home.path().join("scheme.json");
    let path = file.to_str().unwrap().to_owned();
    for (text, says) in [
        ("not json", "isn't a signing scheme"),
        (r#"{"hookmitt_scheme":1,"generic":{"sign":"X"}}"#, "unknown field"),
        (r#"{"hookmitt_scheme":1,"generic":{"signature_header":"X","format":"list"}}"#, "set version"),
        (r#"{"hookmitt_scheme":1,"generic":{"signature_header":"X","algorithm":"md5"}}"#, "hmac-sha256"),
    ] {
        std::fs::write(&file, text).unwrap();
        let refused = run(home.path(), &["source", "add", "shop", "--scheme-file", &path]).await.exits(2);
        assert!(refused.err.contains(says), "{text}: {}", refused.err);
    }
    run(home.path(), &["source", "add", "plain"]).await.exits(0);
    let none = run(home.path(), &["source", "show", "plain", "--scheme"]).await.exits(2);
    assert!(none.err.contains("no custom signing scheme"), "{}", none.err);
}
