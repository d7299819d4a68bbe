//! What a relay refuses: clearly, with the next step, and without affecting others.

#[cfg(target_os = "linux")]
use std::net::{Ipv4Addr, SocketAddr};

use hookmitt_stories::{Connection, Device, RelayProcess, exchange, offer, parse_reply, post, within};
use hookmitt_wire::AppFrame;
use tokio::task::JoinSet;
#[cfg(target_os = "linux")]
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

use super::relay::set;

#[tokio::test]
async fn tricks_with_the_target_lead_nowhere() {
    let set = set(&[]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let status = async |target: &str| {
        let raw =
            format!("POST {target} HTTP/1.1\r\nHost: r\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx");
        parse_reply(&exchange(set.relay.address, raw.as_bytes()).await).status
    };
    for target in [
        "/",
        "/acme-dev",
        "/acme-dev/",
        "//acme-dev/s",
        "/x/../acme-dev/s",
        "/acme-dev%2fs",
        "/acme-dev/%73",
        "/ACME-DEV/s",
        "/%2d/v1/tunnels",
        "/-",
        "/-/",
        "/-/../acme-dev/s",
        "/-/acme-dev/s",
        "/-/healthz/",
    ] {
        assert_eq!(status(target).await, 404, "{target}");
    }
    assert_eq!(status("relay/acme-dev/s").await, 400);
    assert_eq!(
        status("/acme-dev/s/../../-/v1/tunnels").await,
        202,
        "what follows the source is the sender's"
    );
    assert_eq!(line.letter().await.letter.path, "/../../-/v1/tunnels");
}

#[tokio::test]
async fn unknown_tunnels_and_sources_are_told_the_same_and_counted_where_they_can_be() {
    let set = set(&[]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let known = set.post("/acme-dev/nothing", b"x").await;
    let unknown = set.post("/no-such-one/nothing", b"x").await;
    assert_eq!((known.status, known.json()["code"].as_str()), (404, Some("not-found")));
    assert_eq!((known.status, &known.body), (unknown.status, &unknown.body));
    let depth = line.pong().await;
    assert_eq!((depth.letters, depth.unknown), (0, 1));
}

#[tokio::test]
async fn a_full_mailbox_is_said_to_the_sender_and_to_the_app() {
    let set = set(&["--quota-events", "2"]).await;
    drop(set.device.offering(vec![offer("s")]).await);
    for _ in 0..2 {
        assert_eq!(set.post("/acme-dev/s", b"x").await.status, 202);
    }
    let refused = set.post("/acme-dev/s", b"x").await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (507, Some("quota-full")));
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert!(refused.header("retry-after").is_some());
    let mut line = set.device.connect().await;
    assert_eq!((line.depth.letters, line.depth.refused), (2, 1));
    let (_, last) = (line.letter().await, line.letter().await);
    line.ack(last.position).await;
    line.until("there is room again", |depth| depth.letters == 0).await;
    assert_eq!(set.post("/acme-dev/s", b"x").await.status, 202);
}

#[tokio::test]
async fn a_tunnel_that_gets_too_much_is_slowed_down_and_others_are_not() {
    let set = set(&["--rate", "1", "--burst", "3"]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let other = Device::open(set.relay.address, &token, None).await;
    let _line = other.offering(vec![offer("s")]).await;
    let mut refused = None;
    for _ in 0..100 {
        let reply = set.post("/acme-dev/s", b"x").await;
        if reply.status != 202 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("a hundred at once are more than one a second");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (429, Some("too-fast")));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    assert!(line.pong().await.refused >= 1);
    let path = format!("/{}/s", other.tunnel);
    assert_eq!(post(set.relay.address, &path, &[], b"x").await.status, 202);
}

#[tokio::test]
async fn heads_and_bodies_that_are_too_much_are_refused_and_counted() {
    let set = set(&[]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let many = "X: y\r\n".repeat(300);
    let raw = format!("POST /acme-dev/s HTTP/1.1\r\nHost: h\r\n{many}\r\n");
    assert_eq!(parse_reply(&exchange(set.relay.address, raw.as_bytes()).await).status, 431);
    let large = format!("X: {}\r\n", "y".repeat(70_000));
    let raw = format!("POST /acme-dev/s HTTP/1.1\r\nHost: h\r\n{large}\r\n");
    assert_eq!(parse_reply(&exchange(set.relay.address, raw.as_bytes()).await).status, 431);
    let raw =
        b"POST /acme-dev/s HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n";
    assert_eq!(parse_reply(&exchange(set.relay.address, raw).await).status, 413);
    let raw = b"POST /acme-dev/s HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf";
    assert_eq!(parse_reply(&exchange(set.relay.address, raw).await).status, 400);
    let raw =
        b"POST /acme-dev/s HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx";
    assert_eq!(parse_reply(&exchange(set.relay.address, raw).await).status, 400);
    line.until("what named a source is counted", |depth| depth.refused >= 2).await;
    assert_eq!(set.post("/acme-dev/s", b"x").await.status, 202);
}

#[tokio::test]
async fn a_sender_that_stops_in_its_body_holds_up_nobody() {
    let set = set(&[]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let mut slow = Connection::open(set.relay.address).await;
    slow.send(b"POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nContent-Length: 9\r\n\r\nha").await;
    assert_eq!(set.post("/acme-dev/s", b"quick").await.status, 202);
    assert_eq!(line.letter().await.letter.body, "quick");
    assert_eq!(slow.reply().await.status, 408);
}

#[tokio::test]
async fn one_tunnels_large_bodies_leave_room_for_those_of_others() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let _line = set.device.offering(vec![offer("s")]).await;
    let other = Device::open(set.relay.address, &token, None).await;
    let _other_line = other.offering(vec![offer("s")]).await;
    let mut head = b"POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nContent-Length: 25000000\r\n\r\n".to_vec();
    head.resize(24_000_000, b'x');
    let mut senders = JoinSet::new();
    for _ in 0..3 {
        let (mut sender, bytes) = (Connection::open(set.relay.address).await, head.clone());
        senders.spawn(async move {
            sender.send(&bytes).await;
            (sender.reply().await, sender)
        });
    }
    // The other two stay slow.
    let (refused, _sender) = within("one is too many", senders.join_next()).await.unwrap().unwrap();
    assert_eq!((refused.status, refused.json()["code"].as_str()), (503, Some("not-stored")));
    assert!(refused.header("retry-after").is_some());
    let path = format!("/{}/s", other.tunnel);
    let large = vec![b'y'; 25 * 1024 * 1024];
    assert_eq!(post(set.relay.address, &path, &[], &large).await.status, 202);
}

#[tokio::test]
async fn a_wish_to_upgrade_elsewhere_or_badly_put_is_an_ordinary_request() {
    let set = set(&[]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let wish =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==";
    let raw = format!("GET /acme-dev/s HTTP/1.1\r\nHost: r\r\n{wish}\r\n\r\n");
    assert_eq!(parse_reply(&exchange(set.relay.address, raw.as_bytes()).await).status, 202);
    assert_eq!(line.letter().await.letter.method, "GET");
    // The bytes after a refused upgrade were not recorded, so none of them may be accepted.
    let raw = "GET /-/v1/tunnel HTTP/1.1\r\nHost: r\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\
               POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nContent-Length: 1\r\n\r\nx";
    let answered = exchange(set.relay.address, raw.as_bytes()).await;
    assert_eq!(parse_reply(&answered).status, 400);
    assert_eq!(String::from_utf8_lossy(&answered).matches("HTTP/1.1 ").count(), 1);
    line.say(&AppFrame::Ping { stamp: 3 }).await;
    assert_eq!(line.pong().await.letters, 1);
}

/// Requests a device's WebSocket from this address, and sends nothing more.
#[cfg(target_os = "linux")] // elsewhere a machine has only one loopback address
async fn knock(from: Ipv4Addr, relay: SocketAddr) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(relay).await.unwrap();
    let asked = "GET /-/v1/tunnel HTTP/1.1\r\nHost: relay\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("it answers", stream.read_u8()).await.unwrap());
    }
    (stream, String::from_utf8(head).unwrap())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_stands_silent_at_the_door_does_not_shut_out_other_networks() {
    let set = set(&[]).await;
    let (one, other) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3));
    let (mut silent, mut refused) = (Vec::new(), None);
    while refused.is_none() && silent.len() < 512 {
        let (stream, head) = knock(one, set.relay.address).await;
        if head.starts_with("HTTP/1.1 101") { silent.push(stream) } else { refused = Some(head) }
    }
    let refused = refused.expect("one network does not get every place");
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 5"), "{refused}");
    assert!(silent.len() >= 100, "an office comes in: {}", silent.len());
    assert!(knock(other, set.relay.address).await.1.starts_with("HTTP/1.1 101"));
    set.device.connect().await;
}
