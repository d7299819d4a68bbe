//! What the commands print: lines of JSON, escaped text, and no complaint about a closed pipe.

use std::process::Stdio;

use hookmitt_stories::{LocalServer, Process, Ran, post};
use serde_json::{Value, json};
use tokio::process::Command;

use super::listen::{command, folder, run, serving};

/// DESIGN's fields of an event, and `browser`.
const FIELDS: [&str; 32] = [
    "id",
    "seq",
    "source",
    "provider",
    "type",
    "title",
    "method",
    "path",
    "query",
    "url",
    "http_version",
    "remote",
    "headers",
    "size",
    "sha256",
    "received_at",
    "event_time",
    "via",
    "verdict",
    "causes",
    "dedupe_key",
    "duplicate_of",
    "conflict",
    "stale",
    "browser",
    "parent",
    "handshake",
    "deleted_at",
    "pinned",
    "tags",
    "note",
    "status",
];

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_of_json_has_the_fields_of_the_contract() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    run(dir, &["target", "add", "*", &server.url()]).await.exits(0);
    post(capture, "/demo/a?b=1", &[("X-A", "1")], b"{}").await;
    server.wait_for(1).await;
    let fields: Vec<_> = FIELDS.to_vec();
    let listed = run(dir, &["events", "--json"]).await.exits(0).json();
    assert_eq!((listed.len(), keys(&listed[0])), (1, fields.clone()));
    let shown = run(dir, &["show", "last", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(keys(&shown), [&fields[..], &["deliveries", "answered", "body"]].concat());
    let delivery = keys(&shown["deliveries"][0]);
    for field in ["id", "target", "status", "last_error", "next_attempt_at", "completed_at", "attempts"] {
        assert!(delivery.contains(&field), "{field} of {delivery:?}");
    }
    let attempt = hookmitt_stories::eventually("an attempt is kept", async || {
        let shown = run(dir, &["show", "last", "--json"]).await.exits(0).json().remove(0);
        shown["deliveries"][0]["attempts"].get(0).cloned()
    });
    let attempt = attempt.await;
    for field in ["number", "started_at", "duration_ms", "response_status", "error"] {
        assert!(keys(&attempt).contains(&field), "{field} of {attempt}");
    }
    assert_eq!((&shown["path"], &shown["query"]), (&json!("/a"), &json!("b=1")));
    let received = shown["received_at"].as_str().unwrap();
    assert!(received.len() == "2026-01-01T00:00:00.000000Z".len() && received.ends_with('Z'), "{received}");
    for verb in [&["source", "list"][..], &["target", "list"], &["url"], &["doctor"]] {
        let ran = run(dir, &[verb, &["--json"]].concat()).await.exits(0);
        assert!(!ran.json().is_empty(), "{verb:?}");
    }
    let error = run(dir, &["show", "#9", "--json"]).await.exits(2);
    let error: Value = serde_json::from_str(error.err.trim()).unwrap();
    assert!(error["code"] == "unknown-event" || error["error"]["code"] == "unknown-event", "{error}");
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_has_enough_hears_no_complaint() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    let (long, mut ids) = ("x".repeat(60_000), 0);
    while ids < 20 {
        post(capture, &format!("/demo?{ids}"), &[("X-Long", &long[..20_000])], long.as_bytes()).await;
        ids += 1;
    }
    for verb in ["events --json", "events", "show last", "show last --body", "export last --raw"] {
        let mut sh = Command::new("bash");
        let exe = command(folder.path(), &[]);
        let script =
            format!("set -o pipefail; \"$0\" {verb} | head -c 1 >/dev/null; echo \"${{PIPESTATUS[0]}}\"");
        sh.args(["-c", &script]).arg(exe.as_std().get_program());
        sh.env("HOOKMITT_DATA_DIR", folder.path()).env("HOOKMITT_KEYRING", "off").stdin(Stdio::null());
        let ran = Ran::of(sh).await;
        let complaints: Vec<_> =
            ran.err.lines().filter(|line| !line.starts_with("warning: --raw ")).collect();
        assert_eq!((ran.text().trim(), complaints), ("0", vec![]), "{verb}");
    }
    serve.stop().await.exits(0);
}

/// Text that tries to play tricks on a terminal: escape sequences, reversed text, a hidden line.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;pwned\u{7}\u{202e}evil\u{2066}\u{9b}31m\rfake";

#[tokio::test(flavor = "multi_thread")]
async fn threat_2_what_strangers_send_reaches_no_terminal_and_no_log_as_it_is() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    server.will([hookmitt_stories::Answer::Raw(
        format!("HTTP/1.1 404 No\r\nX-Answer: a\u{202e}b\r\nConnection: close\r\n\r\n{HOSTILE}").into_bytes(),
    )]);
    let (mut serve, capture) = serving(dir).await;
    let mut listen = Process::start(command(dir, &["listen", &server.url()]));
    listen.says(&server.url()).await;
    let body = json!({ "repository": { "full_name": HOSTILE }, "action": HOSTILE }).to_string();
    let kind = HOSTILE.replace(['\r', '\u{7}', '\u{1b}'], "\t");
    let headers = [
        ("X-GitHub-Event", kind.as_str()),
        ("X-GitHub-Delivery", "a\u{202e}b\u{9b}c"),
        ("X-H", kind.as_str()),
    ];
    post(capture, "/gh/%1b[2J?q=%1b", &headers, body.as_bytes()).await;
    post(capture, "/gh", &[("Content-Type", "text/plain")], HOSTILE.as_bytes()).await;
    server.wait_for(2).await;
    listen.says("#2").await;
    listen.says("404").await;
    serve.says("404").await;
    let mut outputs = vec![listen.stop().await.text()];
    for verb in
        ["events", "show #1", "show #2", "show #1 --headers", "verify #1", "events --json", "show #1 --json"]
    {
        let arguments: Vec<_> = verb.split(' ').collect();
        let ran = run(dir, &arguments).await;
        outputs.push(format!("{verb}: {}{}", ran.text(), ran.err));
    }
    outputs.push(serve.stop().await.exits(0).err);
    for output in outputs {
        let bad = |letter: char| {
            let control = letter.is_control() && letter != '\n' && letter != '\t';
            control
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        };
        assert!(!output.contains(bad), "{:?}", output.escape_debug().to_string());
    }
    let exact = run(dir, &["show", "#2", "--body"]).await.exits(0).out;
    assert_eq!(exact, HOSTILE.as_bytes(), "the exact bytes are what --body is for");
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_are_taken_by_their_shells() {
    let folder = folder();
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef hookmitt"), ("fish", "complete -c hookmitt")]
    {
        let ran = run(folder.path(), &["completions", shell]).await.exits(0);
        let text = ran.text();
        assert!(text.contains(sign) && text.contains("replay"), "{shell}");
        if shell == "bash" {
            let mut bash = Command::new("bash");
            bash.args(["-n", "/dev/stdin"]);
            Ran::with_input(bash, text.as_bytes()).await.exits(0);
        }
    }
    assert!(!folder.path().join("inbox.db").exists(), "no inbox is needed for that");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_what_is_in_order_and_what_is_not() {
    let folder = folder();
    let (serve, _) = serving(folder.path()).await;
    let ran = run(folder.path(), &["doctor", "--json"]).await.exits(0).json();
    assert!(ran.iter().all(|check| check["ok"] == true), "{ran:?}");
    assert!(ran[0]["message"].as_str().unwrap().contains("running"), "{}", ran[0]);
    serve.stop().await.exits(0);
    run(folder.path(), &["secret", "set", "gh", "--create", "--env", "NOT_SET_ANYWHERE"]).await.exits(0);
    let ran = run(folder.path(), &["doctor"]).await.exits(1);
    assert!(ran.text().contains("NOT_SET_ANYWHERE"), "{}", ran.text());
}
