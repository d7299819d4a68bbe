//! Keys that providers publish, from capture to verdict, with SNS keys from a fake host on this machine.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use hookmitt_catch::{Address, Caught, Share, Sink as _, parse_head};
use hookmitt_engine::{Engine, Network, Resources, SourceChange, StoreChoice};
use hookmitt_event::{Event, EventId, Request, Slug, Timestamp, Verdict};
use hookmitt_verify::{PairKind, PublicForm, SignBy, TestKeyPair, provider, sample, sign};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, crypto::ring};
use tempfile::TempDir;

const HOST: &str = "sns.eu-central-1.amazonaws.com";
const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms";

/// Starts a fake Amazon host on this machine. It publishes `key` (404 without one), but answers only when told to, or
/// once the sender is dropped.
fn amazon(key: Option<String>) -> (Network, mpsc::Sender<()>) {
    let made = rcgen::generate_simple_self_signed(vec![HOST.to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let private = made.signing_key.serialize_der().try_into().unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], private)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let network = Network::of_test(listener.local_addr().unwrap(), roots);
    let (tell, told) = mpsc::channel();
    // The thread ends with the test's process.
    std::thread::spawn(move || {
        let config = Arc::new(config);
        for tcp in listener.incoming().flatten() {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), tcp);
            let _ = stream.read(&mut [0; 2048]);
            let _told_or_alone = told.recv();
            let _ = match &key {
                Some(key) => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{key}", key.len()),
                None => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            };
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    (network, tell)
}

async fn engine(folder: &TempDir, network: Network) -> Arc<Engine> {
    let clock = std::sync::Arc::new(hookmitt_clock::MachineClock);
    let resources =
        Resources { data_dir: folder.path().to_owned(), secrets: StoreChoice::File, network, clock };
    Engine::open(resources).await.unwrap()
}

async fn source(engine: &Engine) -> Slug {
    let slug: Slug = "alarms".parse().unwrap();
    let params = BTreeMap::from([("topic_arn".to_owned(), Some(TOPIC.to_owned()))]);
    let change = SourceChange {
        provider: Some(Some("aws_sns".to_owned())),
        params: Some(Some(params)),
        ..SourceChange::default()
    };
    engine.sources.add(slug.clone(), change).await.unwrap();
    slug
}

fn signed(pair: &TestKeyPair) -> Request {
    let (provider, now) = (provider("aws_sns").unwrap(), Timestamp::now());
    let made = sample(provider, None, "0197-sample", now).unwrap();
    sign(&SignBy::new(provider, pair.private_pem().as_bytes(), now), &made).unwrap()
}

/// Has the capture port catch a request, and returns the event's id.
async fn caught(engine: &Engine, slug: &Slug, request: &Request) -> EventId {
    let mut head = format!("POST /{slug} HTTP/1.1\r\n").into_bytes();
    head.extend_from_slice(request.headers.as_wire());
    head.extend_from_slice(b"\r\n");
    let (head, _) = parse_head(&head).unwrap().unwrap();
    let reply = engine
        .capture_port()
        .caught(
            Address { slug: slug.clone(), path: String::new(), query: None },
            Caught {
                head,
                body: request.body.clone(),
                remote: "127.0.0.1:1".parse::<SocketAddr>().unwrap(),
                received_at: Timestamp::now(),
                share: Share::default(),
            },
        )
        .await;
    let id = reply.headers.iter().find(|(name, _)| name == "x-hookmitt-event-id").unwrap();
    std::str::from_utf8(&id.1).unwrap().parse().unwrap()
}

/// Waits until the event has that verdict, and returns it.
async fn once(engine: &Engine, id: EventId, verdict: Verdict) -> Event {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let event = engine.inbox().event(id).await.unwrap();
        if event.verdict == verdict {
            return event;
        }
        assert!(Instant::now() < deadline, "{} instead of {verdict}: {:?}", event.verdict, event.causes);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn capture_never_waits_for_a_published_key_and_the_verdict_follows() {
    let pair = TestKeyPair::generate(PairKind::Rsa).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (network, publish) = amazon(pair.public(PublicForm::Pem));
    let engine = engine(&folder, network).await;
    let slug = source(&engine).await;
    let id = caught(&engine, &slug, &signed(&pair)).await;
    let first = engine.inbox().event(id).await.unwrap();
    assert_eq!(first.verdict, Verdict::Pending, "{:?}", first.causes);
    assert_eq!(first.causes[0].code, "key_pending");
    drop(publish);
    let event = once(&engine, id, Verdict::Valid).await;
    assert!(event.causes.is_empty(), "{:?}", event.causes);
    // The second event needs no fetch, because the key is in memory. A forged one is detected at once.
    let id = caught(&engine, &slug, &signed(&pair)).await;
    assert_eq!(engine.inbox().event(id).await.unwrap().verdict, Verdict::Valid);
    let forged = signed(&TestKeyPair::generate(PairKind::Rsa).unwrap());
    let id = caught(&engine, &slug, &forged).await;
    assert_eq!(engine.inbox().event(id).await.unwrap().verdict, Verdict::Invalid);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_can_t_be_had_is_said_and_one_that_is_given_answers_at_once() {
    let pair = TestKeyPair::generate(PairKind::Rsa).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (network, refuse) = amazon(None);
    let engine = engine(&folder, network).await;
    let slug = source(&engine).await;
    let id = caught(&engine, &slug, &signed(&pair)).await;
    drop(refuse);
    let event = once(&engine, id, Verdict::Unsupported).await;
    assert!(event.causes[0].message.contains("the answer was 404"), "{:?}", event.causes);
    let key = pair.public(PublicForm::Pem).unwrap();
    engine.secrets.set(slug, "from a file".to_owned(), key.into_bytes().into()).await.unwrap();
    assert_eq!(engine.inbox().event(id).await.unwrap().verdict, Verdict::Valid);
    engine.stop().await;
}
