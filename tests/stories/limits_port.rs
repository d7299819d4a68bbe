//! How much a sender may use, at capture ports with special limits (Threat 7).

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hookmitt_catch::{
    Address, Called, Caught, Connections, Head, Limits, Port as Serving, Refusal, Reply, Sink, Unencrypted,
    Way, accept, bind, catch, catch_on,
};
use hookmitt_stories::{Connection, eventually, exchange, parse_reply, post, request, within};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// A capture port with special limits.
struct Port {
    address: SocketAddr,
    kept: Arc<Kept>,
    stop: CancellationToken,
    running: JoinSet<()>,
}

#[derive(Default)]
struct Kept {
    bodies: Mutex<Vec<Bytes>>,
    refusals: Mutex<Vec<Refusal>>,
    held: Held,
}

/// Holds back what is posted to `/demo/held`, until it may be stored.
#[derive(Default)]
struct Held {
    caught: Notify,
    go: Notify,
}

impl Sink for Kept {
    async fn caught(&self, address: Address, caught: Caught) -> Reply {
        if address.path == "/held" {
            self.held.caught.notify_one();
            self.held.go.notified().await;
        }
        self.bodies.lock().unwrap().push(caught.body);
        Reply::json(202, "{}".to_owned())
    }

    fn refused(&self, refusal: Refusal) {
        self.refusals.lock().unwrap().push(refusal);
    }
}

impl Port {
    fn open(limits: Limits) -> Self {
        let bound = bind(None, 0).expect("a free port");
        let address = bound.addresses()[0];
        let (kept, stop) = (Arc::<Kept>::default(), CancellationToken::new());
        let mut running = JoinSet::new();
        running.spawn(catch(bound, Arc::clone(&kept), limits, stop.clone()));
        Self { address, kept, stop, running }
    }

    /// Stops the port; returns how many bodies were stored and the statuses of the refusals.
    async fn close(self) -> (usize, Vec<u16>) {
        self.stop.cancel();
        self.running.join_all().await;
        let refused = self.kept.refusals.lock().unwrap().iter().map(|refusal| refusal.status).collect();
        (self.kept.bodies.lock().unwrap().len(), refused)
    }
}

const LONG: Duration = Duration::from_secs(50);

fn patient() -> Limits {
    Limits { head_time: LONG, body_pause: LONG, body_time: LONG, ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_what_is_in_flight_altogether_is_bounded_and_above_it_senders_are_told_to_come_back() {
    let port = Port::open(Limits { in_flight: 64 * 1024, ..patient() });
    let mut holder = Connection::open(port.address).await;
    assert!(holder.send(&request("POST", "/demo/held", &[], &[b'x'; 50_000])).await);
    port.kept.held.caught.notified().await;
    // Refused for the bytes that have arrived, which already exceed the room, while more arrive.
    let mut arriving = Connection::open(port.address).await;
    assert!(arriving.send(b"POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n").await);
    assert!(arriving.send(&[b'y'; 20_000]).await);
    let refused = arriving.reply().await;
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("not-stored")));
    assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    assert_eq!(post(port.address, "/demo", &[], b"small").await.status, 202);
    port.kept.held.go.notify_one();
    assert_eq!(holder.reply().await.status, 202);
    assert_eq!(post(port.address, "/demo", &[], &[b'y'; 60_000]).await.status, 202);
    assert_eq!(port.close().await, (3, vec![503]));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_body_in_tiny_chunks_counts_by_its_bytes() {
    let port = Port::open(Limits { in_flight: 64 * 1024, ..patient() });
    let chunks = "1\r\nx\r\n".repeat(5_000);
    let sent =
        format!("POST /demo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
    let reply = parse_reply(&exchange(port.address, sent.as_bytes()).await);
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(port.kept.bodies.lock().unwrap()[0], "x".repeat(5_000));
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_who_first_sends_all_and_then_reads_gets_to_read_the_refusal() {
    let port = Port::open(Limits { in_flight: 64 * 1024, ..patient() });
    let body = vec![b'x'; 12 * 1024 * 1024];
    for (target, status) in [("/demo", 503), ("/No.Source", 404)] {
        let mut connection = Connection::open(port.address).await;
        assert!(connection.send(&request("POST", target, &[], &body)).await, "{target}");
        assert_eq!(connection.reply().await.status, status);
    }
    let mut connection = Connection::open(port.address).await;
    let head = "POST /No.Source HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    assert!(connection.send(head.as_bytes()).await);
    assert_eq!(connection.reply().await.status, 404, "at once, where it asked first");
    assert_eq!(port.close().await, (0, vec![503, 404, 404]));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_heads_are_in_flight_too_while_they_are_still_coming() {
    let port = Port::open(Limits { in_flight: 64 * 1024, ..patient() });
    let part = [&b"POST /demo HTTP/1.1\r\nHost: h\r\nX-Slow: "[..], &[b'a'; 20_000]].concat();
    let mut senders = JoinSet::new();
    for _ in 0..4 {
        let (part, mut connection) = (part.clone(), Connection::open(port.address).await);
        senders.spawn(async move {
            assert!(connection.send(&part).await);
            connection.reply().await
        });
    }
    // Three senders find room; the fourth is refused, whichever it is.
    let refused = within("one is answered", senders.join_next()).await.unwrap().unwrap();
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("not-stored")));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(post(port.address, "/demo", &[], b"small").await.status, 202, "there is room for a small one");
    senders.shutdown().await;
    eventually("their room is given back", async || {
        let reply = post(port.address, "/demo", &[("X-Long", &"a".repeat(50_000))], b"{}").await;
        (reply.status == 202).then_some(())
    })
    .await;
    let (kept, refused) = port.close().await;
    assert!(kept == 2 && refused.contains(&503), "{kept} {refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_head_that_comes_byte_by_byte_is_taken() {
    let port = Port::open(patient());
    let mut connection = Connection::open(port.address).await;
    for byte in request("POST", "/demo", &[("X-Long", &"a".repeat(2_000))], b"hello") {
        assert!(connection.send(&[byte]).await);
    }
    assert_eq!(connection.reply().await.status, 202);
    assert_eq!(port.kept.bodies.lock().unwrap()[0], "hello");
    assert_eq!(port.close().await, (1, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_slow_head_is_cut() {
    // Long enough for a whole head on a slow machine.
    let port = Port::open(Limits { head_time: Duration::from_secs(3), ..patient() });
    let began = Instant::now();
    let mut stalled = Connection::open(port.address).await;
    assert!(stalled.send(b"POST /demo HTTP/1.1\r\nHost: h\r\nX-Slow: ").await);
    let idle = Connection::open(port.address).await;
    let mut kept_alive = Connection::open(port.address).await;
    assert!(kept_alive.send(b"POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").await);
    assert_eq!(kept_alive.reply().await.status, 202);
    let dripping = drip(port.address, "POST /demo HTTP/1.1\r\nHost: h\r\nX: ", b"s");
    tokio::join!(stalled.rest(), idle.rest(), kept_alive.rest(), dripping);
    assert!(began.elapsed() < LONG, "only the limit of the head can have ended them");
    assert_eq!(port.close().await.0, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_body_that_stops_is_cut() {
    let port = Port::open(Limits { body_pause: Duration::from_millis(300), ..patient() });
    let mut stalled = Connection::open(port.address).await;
    assert!(stalled.send(b"POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello").await);
    let reply = stalled.reply().await;
    assert_eq!((reply.status, &reply.json()["code"]), (408, &json!("body-too-slow")));
    assert!(reply.json()["hint"].is_string());
    assert_eq!(stalled.rest().await, b"");
    assert_eq!(port.close().await, (0, vec![408]));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_body_that_never_comes_to_its_end_is_cut() {
    let port = Port::open(Limits { body_time: Duration::from_millis(500), ..patient() });
    let answer = drip(
        port.address,
        "POST /demo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\nx\r\n",
    )
    .await;
    assert_eq!(parse_reply(&answer).status, 408);
    assert_eq!(port.close().await, (0, vec![408]));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_who_sends_much_at_once_and_then_next_to_nothing_is_cut() {
    let (body_pause, body_time) = (Duration::from_secs(2), Duration::from_secs(600));
    let port = Port::open(Limits { body_pause, body_time, ..patient() });
    let head =
        format!("POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n{}", "x".repeat(1_000_000));
    let answer = within("it is cut", drip(port.address, &head, b"y")).await;
    assert_eq!(
        (parse_reply(&answer).status, &parse_reply(&answer).json()["code"]),
        (408, &json!("body-too-slow"))
    );
    assert_eq!(port.close().await, (0, vec![408]));
}

/// Sends `head`, then `drop` every 10 ms until the other side closes the connection. Returns all that the other side
/// sent.
async fn drip(address: SocketAddr, head: &str, drop: &[u8]) -> Vec<u8> {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (mut reader, mut writer) = stream.into_split();
    let mut said = Vec::new();
    let dripping = async {
        let mut pace = interval(Duration::from_millis(10));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut alive = writer.write_all(head.as_bytes()).await.is_ok();
        while alive {
            pace.tick().await;
            alive = writer.write_all(drop).await.is_ok();
        }
        std::future::pending::<()>().await;
    };
    let read = async {
        let _reset = reader.read_to_end(&mut said).await;
    };
    tokio::select! { () = dripping => {}, () = read => {} }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_connections_beyond_the_places_wait_for_their_turn() {
    let bound = bind(None, 0).expect("a free port");
    let (address, stop) = (bound.addresses()[0], CancellationToken::new());
    let open = Arc::new(AtomicUsize::new(0));
    let most = Arc::clone(&open);
    let serve = move |mut stream: TcpStream, _| {
        let open = Arc::clone(&open);
        async move {
            let mut all = Vec::new();
            let count = open.fetch_add(1, Ordering::SeqCst) + 1;
            assert!(count <= 2, "{count} at once");
            stream.write_all(b"your turn\n").await.expect("a listener");
            stream.read_to_end(&mut all).await.expect("a proper end");
            open.fetch_sub(1, Ordering::SeqCst);
        }
    };
    let places = Connections { most: 2, grace: LONG };
    let mut running = JoinSet::new();
    running.spawn(accept(bound.listeners, places, stop.clone(), serve));
    let mut waiting = Vec::new();
    for _ in 0..12 {
        waiting.push(Connection::open(address).await);
    }
    for mut connection in waiting {
        assert_eq!(connection.line().await, "your turn");
        connection.finish().await;
    }
    stop.cancel();
    running.join_all().await;
    assert_eq!(most.load(Ordering::SeqCst), 0);
}

/// Admits one connection at a time.
struct Narrow(Arc<Semaphore>);

impl Serving for Narrow {
    type Destination = ();

    fn lets_in(&self, _: SocketAddr) -> Option<Box<dyn Send + Sync>> {
        Some(Box::new(Arc::clone(&self.0).try_acquire_owned().ok()?))
    }

    async fn admit(&self, _: &Head, _: &Called<'_>, _: SocketAddr) -> Way<()> {
        Way::Answer(Reply::json(200, "{}".to_owned()))
    }

    async fn caught(&self, (): (), _: Caught) -> Reply {
        Reply::json(500, "{}".to_owned())
    }

    fn refused(&self, _: Refusal, _: Option<&()>) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_who_is_not_let_in_is_shut_out_at_once_and_keeps_no_place() {
    let bound = bind(None, 0).expect("a free port");
    let (address, stop) = (bound.addresses()[0], CancellationToken::new());
    let port = Arc::new(Narrow(Arc::new(Semaphore::new(1))));
    let mut running = JoinSet::new();
    running.spawn(catch_on(bound, port, Unencrypted, Connections::default(), patient(), stop.clone()));
    let ask = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut first = Connection::open(address).await;
    assert!(first.send(ask).await);
    assert_eq!(first.reply().await.status, 200);
    let mut second = TcpStream::connect(address).await.unwrap();
    let mut nothing = Vec::new();
    let _reset = within("it is shut out", second.read_to_end(&mut nothing)).await;
    assert!(nothing.is_empty());
    drop(first);
    eventually("there is room again", async || {
        let mut next = TcpStream::connect(address).await.ok()?;
        next.write_all(ask).await.ok()?;
        let mut answer = [0; 12];
        next.read_exact(&mut answer).await.ok()?;
        (&answer == b"HTTP/1.1 200").then_some(())
    })
    .await;
    stop.cancel();
    running.join_all().await;
}
