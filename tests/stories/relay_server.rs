//! A relay as a server: health, metrics, logs, proxies in front of it, its host names.

use hookmitt_stories::{
    Cluster, Ran, RelayProcess, eventually, exchange, lacking, nats_server, offer, parse_reply, post, request,
};
use serde_json::{Value, json};

use super::relay::set;

#[tokio::test]
async fn its_health_is_asked_under_its_own_folder() {
    let set = set(&[]).await;
    let reply = parse_reply(&exchange(set.relay.address, &request("GET", "/-/healthz", &[], b"")).await);
    assert_eq!(reply.json(), json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") }));
    let reply = parse_reply(&exchange(set.relay.address, &request("GET", "/-/metrics", &[], b"")).await);
    assert_eq!(reply.status, 404, "metrics are on a listener of their own");
}

#[tokio::test]
async fn one_file_is_served_by_one_relay() {
    let set = set(&[]).await;
    let ran = Ran::of(RelayProcess::command(set.dir.path(), "127.0.0.1:0", &[])).await.exits(3);
    assert!(ran.err.contains("another relay uses") && ran.err.contains("--store"), "{}", ran.err);
    let dir = set.dir;
    drop(set.relay.process.stop().await.exits(0));
    drop(RelayProcess::start(dir.path(), &[]).await.process.stop().await.exits(0));
}

#[tokio::test]
async fn threat_9_metrics_are_on_a_private_listener() {
    let set = set(&["--metrics", "127.0.0.1:0"]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    set.post("/acme-dev/s", b"x").await;
    set.post("/acme-dev/s", b"y").await;
    set.post("/nowhere/s", b"z").await;
    let first = line.letter().await;
    line.ack(first.position).await;
    line.until("one is acknowledged", |depth| depth.letters == 1).await;
    let text = set.relay.metrics().await;
    for expected in [
        "hookmitt_relay_accepted_total 2",
        "hookmitt_relay_stored_total 2",
        "hookmitt_relay_delivered_total 1",
        "hookmitt_relay_refused_total{code=\"not-found\"} 1",
        "hookmitt_relay_depth 1",
        "hookmitt_relay_oldest_age_seconds ",
        "hookmitt_relay_tunnels 1",
        "hookmitt_relay_devices 1",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
}

#[tokio::test]
async fn threat_9_metrics_that_the_world_can_read_are_warned_of() {
    for (address, is_open) in [("0.0.0.0:0", true), ("127.0.0.1:0", false)] {
        let set = set(&["--metrics", address]).await;
        let said = set.relay.process.stop().await.exits(0).err;
        let warnings: Vec<_> = said.lines().filter(|line| line.contains("WARN")).collect();
        assert_eq!(warnings.len(), usize::from(is_open), "{said}");
        assert!(warnings.iter().all(|line| line.contains("--metrics") && line.contains(address)), "{said}");
    }
}

#[tokio::test]
async fn logs_are_json_and_hold_nothing_secret() {
    let dir = tempfile::tempdir().unwrap();
    let token = RelayProcess::token(dir.path()).await;
    let relay = RelayProcess::start(dir.path(), &["--log-json", "--quota-events", "1"]).await;
    let device = hookmitt_stories::Device::open(relay.address, &token, None).await;
    let line = device.offering(vec![offer("s")]).await;
    let path = format!("/{}/s/private?q=hush", device.tunnel);
    for status in [202, 507] {
        assert_eq!(post(relay.address, &path, &[], b"a body").await.status, status);
    }
    drop(line);
    let ran = relay.process.stop().await.exits(0);
    let logged: Vec<Value> = ran.err.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let says = |words: &str| logged.iter().any(|entry| entry["message"].as_str() == Some(words));
    assert!(
        says("a tunnel was opened")
            && says("a device has connected")
            && says("a request could not be stored"),
        "{}",
        ran.err
    );
    for secret in [token.as_str(), &device.tunnel, "private", "hush", "a body"] {
        assert!(!ran.err.contains(secret), "{secret} is in\n{}", ran.err);
    }
}

#[tokio::test]
async fn a_trusted_proxys_lines_stand_beside_the_request() {
    let set = set(&["--trusted-proxy", "127.0.0.1", "--public-url", "https://relay.example.com"]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let raw = b"POST /acme-dev/s?a HTTP/1.1\r\nHost: relay.example.com\r\nX-Forwarded-For: 6.6.6.6, 198.51.100.7\r\nX-Own: 1\r\n\
                X-Forwarded-Proto: https\r\nVia: 1.1 proxy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(parse_reply(&exchange(set.relay.address, raw).await).status, 202);
    let letter = line.letter().await.letter;
    assert_eq!(
        (letter.remote.as_str(), letter.url.as_str()),
        ("198.51.100.7", "https://relay.example.com/acme-dev/s?a")
    );
    let (own, forwarded) =
        (String::from_utf8_lossy(&letter.headers), String::from_utf8_lossy(&letter.forwarded));
    assert_eq!(own, "Host: relay.example.com\r\nX-Own: 1\r\nContent-Length: 0\r\nConnection: close\r\n");
    let expected = "X-Forwarded-For: 6.6.6.6, 198.51.100.7\r\nX-Forwarded-Proto: https\r\nVia: 1.1 proxy\r\n";
    assert_eq!(forwarded, expected);
}

#[tokio::test]
async fn a_tunnel_has_a_host_of_its_own_under_a_wildcard() {
    let set = set(&["--wildcard", "--public-url", "https://relay.example.com"]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let get = |host: &str, target: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes()
    };
    let status = async |host: &str, target: &str| {
        parse_reply(&exchange(set.relay.address, &get(host, target)).await).status
    };
    assert_eq!(status("acme-dev.relay.example.com", "/s/x").await, 202);
    let letter = line.letter().await.letter;
    assert_eq!((letter.path.as_str(), letter.url.as_str()), ("/x", "https://acme-dev.relay.example.com/s/x"));
    assert_eq!(status("relay.example.com", "/acme-dev/s").await, 202);
    assert_eq!(status("other.relay.example.com", "/s/x").await, 404);
    assert_eq!(status("acme-dev.relay.example.com", "/-/healthz").await, 200);
}

#[tokio::test]
async fn what_can_not_be_had_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let second = |arguments: Vec<String>| {
        let mut command = hookmitt_stories::hookmitt(dir.path());
        command.arg("relay").args(arguments);
        hookmitt_stories::Ran::of(command)
    };
    let address = relay.address.to_string();
    for (flag, arguments) in [
        ("--listen", vec!["--listen", &address]),
        ("--metrics", vec!["--listen", "127.0.0.1:0", "--metrics", &address]),
    ] {
        let taken = second(arguments.into_iter().map(str::to_owned).collect()).await.exits(3).err;
        assert!(taken.contains("is taken") && taken.contains(flag) && !taken.contains("--port"), "{taken}");
    }
    for wrong in [
        &["--store", "mysql:x"][..],
        &["--public-url", "relay.example.com"],
        &["--wildcard"],
        &["--tls-cert", "x"],
        &["--tls-cert", "x", "--tls-key", "y"],
        &["--trusted-proxy", "everybody"],
        &["--burst", "0"],
        &["--device-idle", "59m"],
        &["--listen", "4410"],
    ] {
        second(wrong.iter().map(|&word| word.to_owned()).collect()).await.exits(2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_can_not_store_is_not_healthy() {
    let Some(program) = nats_server() else {
        return lacking("nats-server", "apt-get install nats-server, or scripts/setup.sh --for test");
    };
    let cluster = Cluster::start(&program, 1);
    let dir = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(dir.path(), &["--store", &cluster.url()]).await;
    let status = async |wanted: u16| {
        eventually("its health is what its store's is", async || {
            let reply = parse_reply(&exchange(relay.address, &request("GET", "/-/healthz", &[], b"")).await);
            (reply.status == wanted).then_some(reply)
        })
        .await
    };
    assert_eq!(status(200).await.json()["ok"], true);
    cluster.kill(0);
    let ill = status(503).await;
    assert_eq!((&ill.json()["code"], ill.header("retry-after")), (&json!("not-healthy"), Some("5")));
    cluster.restart(0);
    status(200).await;
}
