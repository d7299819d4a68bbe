//! Opening a tunnel, and joining one.

use hookmitt_event::Explain as _;
use hookmitt_tunnel::{Credentials, Network, TunnelError, invite_text, join, open, read_invite};
use hookmitt_wire::Opened;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Relay, within};

/// Reads one request, answers it, and returns its head and its JSON.
async fn answers(relay: &Relay, status: &str, answer: &str) -> (String, Value) {
    let mut tcp = relay.tcp().await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("a head", tcp.read_u8()).await.expect("a byte"));
    }
    let head = String::from_utf8(head).expect("text").to_ascii_lowercase();
    let length =
        head.split("content-length: ").nth(1).expect("a length").split("\r\n").next().expect("a length");
    let mut body = vec![0; length.parse().expect("a length")];
    within("a body", tcp.read_exact(&mut body)).await.expect("a body");
    let head_of_answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", answer.len());
    tcp.write_all(head_of_answer.as_bytes()).await.expect("the app reads");
    tcp.write_all(answer.as_bytes()).await.expect("the app reads");
    tcp.shutdown().await.expect("the app reads");
    (head, serde_json::from_slice(&body).expect("JSON"))
}

async fn opens(relay: &Relay, status: &str, answer: &str) -> (Result<Opened, TunnelError>, String, Value) {
    let credentials = Credentials::fresh(relay.url().parse().expect("a URL"));
    let order = credentials.order(Some("acme-dev".to_owned()), "laptop").expect("a key");
    let network = Network::new();
    let asked = open(&network, &credentials.relay, "hmr_secret", &order);
    let (opened, (head, body)) =
        within("the answer", async { tokio::join!(asked, answers(relay, status, answer)) }).await;
    (opened, head, body)
}

#[tokio::test]
async fn a_tunnel_is_opened_with_a_token_and_the_public_keys_alone() {
    let relay = Relay::start().await;
    let answer =
        json!({ "tunnel": "acme-dev", "public_url": "https://relay.example.com/acme-dev" }).to_string();
    let (opened, head, body) = opens(&relay, "201 Created", &answer).await;
    let opened = opened.unwrap();
    assert_eq!(opened.tunnel, "acme-dev");
    assert_eq!(opened.public_url, "https://relay.example.com/acme-dev");
    assert!(head.starts_with("post /-/v1/tunnels http/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: bearer hmr_secret\r\n"), "{head}");
    let fields: Vec<_> = body.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, ["name", "sealing_key", "device_key", "device_name"]);
    assert_eq!((&body["name"], &body["device_name"]), (&json!("acme-dev"), &json!("laptop")));
}

#[tokio::test]
async fn a_relay_s_no_reaches_the_person_with_its_code_and_hint() {
    let relay = Relay::start().await;
    let no =
        json!({ "code": "name-taken", "detail": "acme-dev was given out", "hint": "choose another name" });
    let (opened, ..) = opens(&relay, "409 Conflict", &no.to_string()).await;
    let error = opened.unwrap_err();
    assert_eq!((error.any_code(), error.code()), ("name-taken", "relay-refused"));
    assert_eq!(error.to_string(), "acme-dev was given out");
    assert_eq!(error.hint().as_deref(), Some("choose another name"));
}

#[tokio::test]
async fn what_is_no_relay_s_answer_is_not_believed() {
    let relay = Relay::start().await;
    let named = |tunnel: &str, url: &str| json!({ "tunnel": tunnel, "public_url": url }).to_string();
    for (status, answer, code) in [
        ("404 Not Found", "<h1>not here</h1>".to_owned(), "no-relay"),
        ("200 OK", "<h1>hello</h1>".to_owned(), "no-relay"),
        ("301 Moved Permanently", String::new(), "no-relay"),
        ("201 Created", named("../../x", "https://relay.example.com/x"), "relay-protocol"),
        ("201 Created", named("acme-dev", "file:///etc/passwd"), "relay-protocol"),
        ("201 Created", format!("\"{}\"", "x".repeat(70_000)), "relay-closed"),
    ] {
        let (opened, ..) = opens(&relay, status, &answer).await;
        let error = opened.unwrap_err();
        assert_eq!(error.code(), code, "{status}: {error}");
    }
}

#[tokio::test]
async fn a_token_never_leaves_this_machine_in_the_clear() {
    let credentials = Credentials::fresh("http://relay.example.com".parse().unwrap());
    let order = credentials.order(None, "laptop").unwrap();
    let error = open(&Network::new(), &credentials.relay, "hmr_secret", &order).await.unwrap_err();
    assert_eq!(error.code(), "relay-without-tls");
    let relay = Relay::start().await;
    let broken =
        open(&Network::new(), &relay.url().parse().unwrap(), "two\nlines", &order).await.unwrap_err();
    assert_eq!(broken.any_code(), "bad-token");
    assert!(!format!("{broken:?}").contains("two"));
}

#[tokio::test]
async fn a_teammate_s_device_joins_with_the_line_that_it_was_given() {
    let relay = Relay::start().await;
    let mut owner = Credentials::fresh(relay.url().parse().unwrap());
    owner.tunnel = "acme-dev".to_owned();
    let line = invite_text(&owner.invite("one-time".to_owned()));

    let invited = read_invite(&line).unwrap();
    let credentials = Credentials::invited(&invited).unwrap();
    assert_eq!(credentials.sealing, owner.sealing);
    assert_ne!(credentials.device, owner.device, "a device of its own");
    let wanted = credentials.joining(&invited.code, "teammate's laptop");
    let network = Network::new();
    let answer =
        json!({ "tunnel": "acme-dev", "public_url": "https://relay.example.com/acme-dev" }).to_string();
    let asked = join(&network, &credentials.relay, &wanted, "2 proof");
    let (joined, (head, body)) =
        within("the answer", async { tokio::join!(asked, answers(&relay, "200 OK", &answer)) }).await;
    assert_eq!(joined.unwrap().tunnel, "acme-dev");
    assert!(head.starts_with("post /-/v1/join http/1.1\r\n"), "{head}");
    assert_eq!((&body["tunnel"], &body["code"]), (&json!("acme-dev"), &json!("one-time")));
    assert!(!body.to_string().contains("sealing"), "the secret key stays between the two");
}

#[test]
fn credentials_print_no_secret() {
    let credentials = Credentials::fresh("https://relay.example.com".parse().unwrap());
    let printed = format!("{credentials:?} {:?}", credentials.invite("one-time".to_owned()));
    let expected = r#"Credentials { relay: "https://relay.example.com/", tunnel: "", .. } Invited { relay: "https://relay.example.com/", tunnel: "", .. }"#;
    assert_eq!(printed, expected);
}
