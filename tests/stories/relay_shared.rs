//! A relay is shared: one tunnel's answers, one token and one network's senders don't affect others (Threat 12).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{
    Connection, Device, RelayProcess, Reply, exchange, offer, open_tunnel, parse_reply, post, relay_token,
    request, within,
};
use hookmitt_wire::{AppFrame, Hold, RelayFrame, SourceOffer};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::relay::set;

/// Header lines with which a tunnel's owner could affect browsers or web servers for the whole host.
const REACHING_OUT: [(&str, &str); 18] = [
    ("Set-Cookie", "sid=stolen; Path=/"),
    ("Set-Cookie", "sid=stolen; Domain=relay.test; Path=/"),
    ("Clear-Site-Data", "\"*\""),
    ("Service-Worker-Allowed", "/"),
    ("Strict-Transport-Security", "max-age=1; includeSubDomains"),
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Credentials", "true"),
    ("Link", "</other/x>; rel=preload"),
    ("Refresh", "0; url=/other/x"),
    ("Alt-Svc", "h3=\"evil.example:443\""),
    ("NEL", "{\"report_to\":\"x\",\"max_age\":1}"),
    ("Report-To", "{\"group\":\"x\"}"),
    ("WWW-Authenticate", "Basic realm=relay"),
    ("Cache-Control", "public, max-age=31536000"),
    ("Content-Security-Policy", "sandbox allow-scripts allow-same-origin"),
    ("Content-Security-Policy-Report-Only", "report-uri /x"),
    ("X-Content-Type-Options", "none"),
    ("X-Permitted-Cross-Domain-Policies", "all"),
];

/// Header lines that only describe the answer, or concern its sender.
const DESCRIBING: [(&str, &str); 7] = [
    ("Content-Type", "text/html"),
    ("Content-Language", "de"),
    ("Content-Disposition", "inline"),
    ("Location", "https://app.example/done"),
    ("Retry-After", "7"),
    ("WebHook-Allowed-Origin", "*"),
    ("X-Request-Id", "42"),
];

const ORDERS: [(&str, &str); 2] = [("X-Accel-Redirect", "/internal/secret"), ("X-Sendfile", "/etc/passwd")];

/// Names and values that would end a line or the head, and invalid values.
const BROKEN: [(&str, &str); 3] =
    [("X-Split", "a\r\nSet-Cookie: sid=split"), ("X-B\r\nSet-Cookie", "x"), ("Content-Length", "1")];

const PAGE: &[u8] = b"<script>document.cookie = 'sid=stolen'</script>";

fn lines() -> Vec<(String, bytes::Bytes)> {
    let all = REACHING_OUT.into_iter().chain(DESCRIBING).chain(ORDERS).chain(BROKEN);
    all.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn has(reply: &Reply, (name, value): (&str, &str)) -> bool {
    reply.headers.contains(&(name.to_ascii_lowercase(), value.to_owned()))
}

fn is_inert(reply: &Reply) {
    let lines = [("cache-control", "no-store"), ("content-security-policy", "sandbox")];
    for line in lines.into_iter().chain([("x-content-type-options", "nosniff")]) {
        let same = reply.headers.iter().filter(|(name, _)| name == line.0);
        assert_eq!(same.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), [line.1], "{reply:?}");
    }
}

/// Returns the answer that a sender gets if the app answers with all these lines.
async fn answered(device: &Device, target: &str, host: &str, status: u16) -> Reply {
    let held = SourceOffer { hold: Hold::Always, ..offer("held") };
    let mut line = device.offering(vec![held, SourceOffer { headers: lines(), ..offer("own") }]).await;
    let asked = request("GET", target, &[], b"");
    let asked = String::from_utf8(asked).unwrap().replace("Host: 127.0.0.1", &format!("Host: {host}"));
    let answers = async {
        let came = line.letter().await;
        let event = came.letter.id;
        line.say(&AppFrame::Answer { event, status, headers: lines(), body: PAGE.into() }).await;
        line.ack(came.position).await;
        line.until("it is acknowledged", |depth| depth.letters == 0).await;
    };
    let (reply, ()) = tokio::join!(exchange(device.relay, asked.as_bytes()), answers);
    parse_reply(&reply)
}

#[tokio::test]
async fn threat_12_what_one_tunnel_answers_cannot_reach_anothers_visitors() {
    let flags = ["--public-url", "http://relay.test", "--wildcard", "--hold", "60s"];
    let set = set(&flags).await;
    for target in ["/acme-dev/held", "/acme-dev/own"] {
        for status in [200, 302, 401] {
            let reply = answered(&set.device, target, "relay.test", status).await;
            assert!(REACHING_OUT.iter().chain(&ORDERS).all(|line| !has(&reply, *line)), "{reply:?}");
            assert!(reply.header("set-cookie").is_none(), "{reply:?}");
            assert!(DESCRIBING.iter().all(|line| has(&reply, *line)), "{reply:?}");
            assert!(reply.header("x-hookmitt-event-id").is_some());
            is_inert(&reply);
            if target.ends_with("held") {
                assert_eq!((reply.status, &reply.body[..]), (status, PAGE));
            }
        }
    }
}

#[tokio::test]
async fn threat_12_a_tunnel_with_a_host_of_its_own_answers_what_it_likes_for_that_host() {
    let set = set(&["--public-url", "http://relay.test", "--wildcard", "--hold", "60s"]).await;
    let reply = answered(&set.device, "/held", "ACME-dev.relay.test", 200).await;
    let host_only = ("Set-Cookie", "sid=stolen; Path=/");
    let passed = REACHING_OUT.iter().chain(&DESCRIBING).filter(|line| !line.1.contains("Domain="));
    for line in passed {
        assert!(has(&reply, *line), "{line:?}: {reply:?}");
    }
    assert!(ORDERS.iter().all(|line| !has(&reply, *line)), "{reply:?}");
    let cookies = reply.headers.iter().filter(|(name, _)| name == "set-cookie");
    assert!(cookies.clone().count() == 2, "{reply:?}");
    assert!(cookies.into_iter().all(|(_, value)| value == host_only.1), "none is set for its neighbours");
    assert_eq!(reply.body, PAGE);
}

#[tokio::test]
async fn threat_12_what_a_relay_says_itself_is_no_page() {
    let set = set(&[]).await;
    let _line = set.device.offering(vec![offer("s")]).await;
    let bad_head = parse_reply(&exchange(set.relay.address, b"GET / HTTP/9.9\r\n\r\n").await);
    let mut replies = vec![bad_head];
    for (method, target) in [
        ("POST", "/acme-dev/s"),
        ("GET", "/"),
        ("GET", "/acme-dev/none"),
        ("GET", "/-/healthz"),
        ("GET", "/-/none"),
        ("POST", "/-/v1/tunnels"),
        ("GET", "/-/v1/tunnel"),
        ("PUT", "/-/v1/join"),
    ] {
        let asked = request(method, target, &[], b"");
        replies.push(parse_reply(&exchange(set.relay.address, &asked).await));
    }
    replies.iter().for_each(is_inert);
}

fn order(name: &str) -> Value {
    let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    json!({ "name": name, "sealing_key": key, "device_key": key, "device_name": "x" })
}

#[tokio::test]
async fn threat_12_a_device_whose_key_nothing_can_be_sealed_to_is_refused() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let mut order = order("weak");
    order["device_key"] = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".into();
    let refused = open_tunnel(set.relay.address, &token, &order).await;
    assert_eq!(code(&refused), (400, "bad-key".to_owned()));
}

fn code(reply: &Reply) -> (u16, String) {
    (reply.status, reply.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn threat_12_a_token_opens_tunnels_slowly_and_others_go_on() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let mut refused = None;
    for number in 0..60 {
        let reply = open_tunnel(set.relay.address, &token, &order(&format!("tunnel-{number}"))).await;
        if reply.status != 201 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("sixty at once are more than ten a minute");
    assert_eq!(code(&refused), (429, "too-many-openings".to_owned()));
    assert!((1..=60).contains(&refused.header("retry-after").unwrap().parse::<u64>().unwrap()));
    let other = RelayProcess::token(set.dir.path()).await;
    assert_eq!(open_tunnel(set.relay.address, &other, &order("others")).await.status, 201);
}

#[tokio::test]
async fn threat_12_a_tunnel_that_was_closed_counts_on_for_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let token = relay_token(dir.path(), &["create", "--tunnels", "1"]).await.exits(0).text();
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let device = Device::open(relay.address, token.trim(), None).await;
    let mut line = device.offering(vec![offer("s")]).await;
    line.say(&AppFrame::Leave).await;
    assert_eq!(line.refused().await, None);
    let reply = open_tunnel(relay.address, token.trim(), &order("next")).await;
    assert_eq!(code(&reply), (403, "too-many-tunnels".to_owned()));
    assert!(reply.json()["hint"].as_str().unwrap().contains("a day after"), "{:?}", reply.json());
}

#[tokio::test]
async fn threat_12_a_name_that_was_never_used_may_be_taken_again_by_its_own_token_only() {
    let dir = tempfile::tempdir().unwrap();
    let (token, other) = (RelayProcess::token(dir.path()).await, RelayProcess::token(dir.path()).await);
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let lost = Device::open(relay.address, &token, Some("acme-dev")).await;
    let taken = (409, "name-taken".to_owned());
    assert_eq!(code(&open_tunnel(relay.address, &other, &order("acme-dev")).await), taken);
    let device = Device::open(relay.address, &token, Some("acme-dev")).await;
    let mut line = device.offering(vec![offer("s")]).await;
    assert_eq!(post(relay.address, "/acme-dev/s", &[], b"sealed for the new one").await.status, 202);
    assert_eq!(line.letter().await.letter.body, "sealed for the new one");
    for token in [&token, &other] {
        assert_eq!(code(&open_tunnel(relay.address, token, &order("acme-dev")).await), taken);
    }
    let mut before = hookmitt_stories::Line::dial(relay.address).await;
    let nonce = before.challenge().await;
    before.say(&lost.hello(&nonce, 1, 1)).await;
    assert_eq!(before.refused().await.as_deref(), Some("unknown-device"));
}

/// Requests a device's WebSocket, as a proxy would for a client at `from`, and sends nothing more.
async fn knock(set: &super::relay::Set, from: &str) -> (Connection, String) {
    let mut sender = Connection::open(set.relay.address).await;
    let asked = format!(
        "GET /-/v1/tunnel HTTP/1.1\r\nHost: relay\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         X-Forwarded-For: {from}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    sender.send(asked.as_bytes()).await;
    let answer = sender.line().await;
    (sender, answer)
}

#[tokio::test]
async fn threat_12_no_block_of_addresses_takes_all_places_at_the_door() {
    let set = set(&["--trusted-proxy", "127.0.0.1"]).await;
    let mut silent = Vec::new();
    for household in 0..8 {
        loop {
            let (sender, answer) = knock(&set, &format!("2001:db8:0:{household}::1")).await;
            if !answer.contains(" 101 ") || silent.len() > 512 {
                break;
            }
            silent.push(sender);
        }
    }
    assert!(silent.len() >= 100, "an office comes in: {}", silent.len());
    for other in ["2001:db8:0:100::1", "2001:db8:1::1", "2001:db9::1", "192.0.2.1"] {
        let answer = knock(&set, other).await.1;
        assert!(answer.contains(" 101 "), "{other}, with {} at the door: {answer}", silent.len());
    }
}

#[cfg(target_os = "linux")] // elsewhere a machine has only one loopback address
#[tokio::test]
async fn threat_12_one_networks_slow_bodies_leave_a_tunnel_room_for_its_other_senders() {
    use tokio::{io::AsyncWriteExt as _, net::TcpSocket};
    let set = set(&[]).await;
    let _line = set.device.offering(vec![offer("s")]).await;
    let mut senders = JoinSet::new();
    // Together slightly less than the tunnel's room.
    for size in [24_000_000, 24_000_000, 18_000_000] {
        let mut sender = Connection::open(set.relay.address).await;
        let mut bytes = b"POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nContent-Length: 25000000\r\n\r\n".to_vec();
        bytes.resize(size, b'x');
        senders.spawn(async move {
            sender.send(&bytes).await;
            (sender.reply().await, sender)
        });
    }
    let (refused, _sender) = within("one is too many", senders.join_next()).await.unwrap().unwrap();
    assert_eq!(code(&refused), (503, "not-stored".to_owned()));
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((std::net::Ipv4Addr::new(127, 1, 0, 1), 0).into()).unwrap();
    let mut other = socket.connect(set.relay.address).await.unwrap();
    let asked = request("POST", "/acme-dev/s", &[], &vec![b'y'; 15_000_000]);
    within("it is sent", other.write_all(&asked)).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut other, &mut answer);
    within("it is answered", read).await.unwrap();
    assert_eq!(parse_reply(&answer).status, 202);
}

#[tokio::test]
async fn threat_12_all_tunnels_of_one_token_leave_room_for_those_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let (token, other) = (RelayProcess::token(dir.path()).await, RelayProcess::token(dir.path()).await);
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let (mut senders, mut slow, mut lines) = (JoinSet::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let device = Device::open(relay.address, &token, None).await;
        lines.push(device.offering(vec![offer("s")]).await);
        slow.extend([device.tunnel.clone(), device.tunnel]);
    }
    for tunnel in slow {
        let mut sender = Connection::open(relay.address).await;
        let mut bytes =
            format!("POST /{tunnel}/s HTTP/1.1\r\nHost: r\r\nContent-Length: 25000000\r\n\r\n").into_bytes();
        bytes.resize(24_000_000, b'x');
        senders.spawn(async move {
            sender.send(&bytes).await;
            (sender.reply().await, sender)
        });
    }
    // The others stay slow: two per tunnel, as many as a tunnel may have.
    let (refused, _sender) = within("one is too many", senders.join_next()).await.unwrap().unwrap();
    assert_eq!(code(&refused), (503, "not-stored".to_owned()));
    let device = Device::open(relay.address, &other, None).await;
    lines.push(device.offering(vec![offer("s")]).await);
    let large = vec![b'y'; 25 * 1024 * 1024];
    assert_eq!(post(relay.address, &format!("/{}/s", device.tunnel), &[], &large).await.status, 202);
}

#[tokio::test]
async fn threat_12_who_has_a_code_cannot_speak_for_another_device() {
    let set = set(&[]).await;
    let mut laptop = set.device.connect().await;
    let store = rusqlite::Connection::open(set.dir.path().join("relay.db")).unwrap();
    let kept = || {
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, String>(0)?, row.get::<_, u8>(1)?, row.get::<_, Option<Vec<u8>>>(2)?))
        };
        store.query_row("SELECT name, letters, proof FROM device", [], row).unwrap()
    };
    let before = kept();
    laptop.say(&AppFrame::Invite).await;
    let Some(RelayFrame::Invited { code, .. }) = laptop.next().await else { panic!("a code") };
    let key = STANDARD.encode(set.device.key.verifying_key().as_bytes());
    let join =
        json!({ "tunnel": set.device.tunnel, "code": code, "device_key": key, "device_name": "theirs" });
    let junk = format!("1 {}", STANDARD.encode([7; 32]));
    let headers = [("Content-Type", "application/json"), ("hookmitt-introduction", junk.as_str())];
    let reply = post(set.relay.address, "/-/v1/join", &headers, join.to_string().as_bytes()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(kept(), before);
}
