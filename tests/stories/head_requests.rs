//! HEAD requests: their answers end with the head, and the connection goes on.

use std::net::SocketAddr;

use hookmitt_stories::{Answer, Connection, LocalServer, Server, offer, within};
use serde_json::json;

use super::relay::set;

/// Sends HEAD requests for a target, and returns the first line of the answer. Where the answer doesn't close the
/// connection, the next answer follows it at once; where it does, nothing follows.
async fn answered(address: SocketAddr, target: &str, headers: &str) -> String {
    let ask = format!("HEAD {target} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
    let mut connection = Connection::open(address).await;
    let what = format!("HEAD {target} is answered");
    within(&what, async {
        assert!(connection.send(ask.as_bytes()).await);
        let head = connection.head().await;
        let first = head.lines().next().unwrap_or_default().to_owned();
        if head.to_ascii_lowercase().contains("connection: close") {
            assert_eq!(String::from_utf8_lossy(&connection.rest().await), "", "{target}");
            return first;
        }
        assert!(connection.send(ask.as_bytes()).await);
        let next = connection.head().await;
        assert_eq!(next.lines().next(), Some(first.as_str()), "{target}");
        first
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_capture_port_and_the_api_an_answer_to_head_ends() {
    let (folder, server) = (tempfile::tempdir().unwrap(), LocalServer::start().await);
    let serving = Server::start(folder.path()).await;
    serving.delivers().await;
    serving.ask("POST", "/api/sources", json!({ "slug": "app", "answer": { "respond": "app" } })).await;
    serving.ask("POST", "/api/targets", json!({ "source": "app", "url": server.url() })).await;
    let bodiless = b"HTTP/1.1 203 X\r\nContent-Length: 500\r\nConnection: close\r\n\r\n".to_vec();
    server.will([Answer::Raw(bodiless.clone()), Answer::Raw(bodiless)]);
    assert!(answered(serving.capture, "/app", "").await.contains(" 203 "), "what the local server answers");
    for (target, status) in [("/demo", " 202 "), ("/demo?x=1", " 202 "), ("/", " 404 "), ("/BAD", " 404 ")] {
        let first = answered(serving.capture, target, "").await;
        assert!(first.contains(status), "{target}: {first}");
    }
    for (target, status) in
        [("/", " 200 "), ("/healthz", " 200 "), ("/api/events", " 401 "), ("/nope", " 401 ")]
    {
        let first = answered(serving.api, target, "").await;
        assert!(first.contains(status), "{target}: {first}");
    }
}

#[tokio::test]
async fn at_a_relay_an_answer_to_head_ends() {
    let set = set(&[]).await;
    let _line = set.device.offering(vec![offer("s")]).await;
    for (target, status) in
        [("/acme-dev/s", " 202 "), ("/-/healthz", " 200 "), ("/nobody/s", " 404 "), ("/", " 404 ")]
    {
        let first = answered(set.relay.address, target, "").await;
        assert!(first.contains(status), "{target}: {first}");
    }
}
