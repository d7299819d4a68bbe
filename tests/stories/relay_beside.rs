//! Relays beside each other, as processes on a cluster of three real NATS servers: any takes any request, the app is at
//! any of them, and one that is killed takes nothing with it.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hookmitt_stories::{
    Cluster, RelayProcess, eventually, lacking, nats_server, offer, relay_token, request, within,
};
use hookmitt_tunnel::{
    AppReply, Credentials, Later, Letterhead, Network, Options, Recipient, State, Unreadable, keep, open,
};
use hookmitt_wire::{Letter, SourceOffer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// How many senders there are.
const SENDERS: usize = 6;

/// How many events pass between one blow and the next.
const MORE: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn relays_and_nodes_killed_under_load_lose_nothing_and_double_nothing_in_the_inbox() {
    let Some(program) = nats_server() else { return lacking("nats-server", "apt-get install nats-server") };
    let cluster = Arc::new(Cluster::start(&program, 3));
    let store = format!("{}?shards=2", cluster.url());
    let dir = tempfile::tempdir().unwrap();
    let made = relay_token(dir.path(), &["create", "--store", &store]).await.exits(0);
    let mut relays =
        vec![relay(dir.path(), "127.0.0.1:0", &store).await, relay(dir.path(), "127.0.0.1:0", &store).await];
    for relay in &relays {
        assert!(relay.process.err().contains("sync_interval: always"), "{}", relay.process.err());
    }
    let addresses: Vec<_> = relays.iter().map(|relay| relay.address).collect();
    let mut tasks = JoinSet::new();
    let front = balance(addresses.clone(), &mut tasks).await;

    let (stop, enough) = (CancellationToken::new(), CancellationToken::new());
    let inbox = Arc::new(Inbox::new(vec![offer("github")]));
    let credentials = open_tunnel(front, made.text().trim()).await;
    tasks.spawn(keep(credentials, Arc::clone(&inbox), stop.clone(), Options::default()));
    eventually("the relays take the source", async || post(front, "first").await.filter(|taken| *taken))
        .await;

    let (sent, mut sending) = watch::channel(0_usize);
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        senders.spawn(send(front, sender, sent.clone(), enough.clone()));
    }
    for at in [0, 1] {
        more(&mut sending).await;
        relays.remove(at).process.kill().await;
        more(&mut sending).await;
        relays.insert(at, relay(dir.path(), &addresses[at].to_string(), &store).await);
        more(&mut sending).await;
        cluster.kill(at);
        more(&mut sending).await;
        let again = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || again.restart(at)).await.unwrap();
    }
    more(&mut sending).await;
    enough.cancel();
    let acknowledged: HashSet<String> = senders.join_all().await.into_iter().flatten().collect();
    let came = tokio::time::timeout(Duration::from_secs(60), inbox.until_all(&acknowledged)).await;
    assert!(came.is_ok(), "missing: {:?}\n{}", inbox.missing(&acknowledged), said(&relays, &cluster));
    assert_eq!(inbox.doubled(), Vec::<String>::new(), "of {} events", acknowledged.len());
    assert!(acknowledged.len() >= 9 * MORE, "{} events", acknowledged.len());
    stop.cancel();
}

/// What relays and nodes said last.
fn said(relays: &[RelayProcess], cluster: &Cluster) -> String {
    let relays = relays.iter().map(|relay| relay.process.err());
    relays.chain((0..3).map(|node| cluster.log(node))).collect::<Vec<_>>().join("\n---\n")
}

async fn relay(dir: &Path, address: &str, store: &str) -> RelayProcess {
    RelayProcess::start_at(dir, address, &["--store", store]).await
}

async fn open_tunnel(relay: SocketAddr, token: &str) -> Credentials {
    let mut credentials = Credentials::fresh(format!("http://{relay}").parse().unwrap());
    let order = credentials.order(Some("acme-dev".to_owned()), "laptop").unwrap();
    let network = Network::from_env().unwrap();
    let opened = within("the tunnel opens", open(&network, &credentials.relay, token, &order)).await;
    credentials.tunnel = opened.unwrap().tunnel;
    credentials
}

/// A load balancer: each connection goes to a relay that is there.
async fn balance(relays: Vec<SocketAddr>, tasks: &mut JoinSet<()>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tasks.spawn(async move {
        let turn = AtomicUsize::new(0);
        let mut connections = JoinSet::new();
        while let Ok((mut sender, _)) = listener.accept().await {
            let first = turn.fetch_add(1, Ordering::Relaxed);
            let relays: Vec<_> =
                relays.iter().cycle().skip(first % relays.len()).take(relays.len()).copied().collect();
            connections.spawn(async move {
                for relay in relays {
                    if let Ok(mut relay) = TcpStream::connect(relay).await {
                        let _broken = tokio::io::copy_bidirectional(&mut sender, &mut relay).await;
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Posts until it is enough; answers the bodies that were acknowledged. Each is sent once.
async fn send(
    front: SocketAddr,
    sender: usize,
    sent: watch::Sender<usize>,
    enough: CancellationToken,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if enough.is_cancelled() {
            break;
        }
        let body = format!("event {number} of sender {sender}");
        match post(front, &body).await {
            Some(true) => {
                acknowledged.push(body);
                sent.send_modify(|sent| *sent += 1);
            }
            // Refused, or cut off: not acknowledged. A provider comes again a little later.
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    acknowledged
}

/// Whether the answer was a thanks; none where there was no answer.
async fn post(front: SocketAddr, body: &str) -> Option<bool> {
    let answered = async {
        let mut stream = TcpStream::connect(front).await.ok()?;
        stream.write_all(&request("POST", "/acme-dev/github", &[], body.as_bytes())).await.ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse::<u16>().ok()
    };
    // No provider waits for longer.
    let status = tokio::time::timeout(Duration::from_secs(30), answered).await.ok()??;
    Some((200..300).contains(&status))
}

/// Until that many more events were acknowledged.
async fn more(sending: &mut watch::Receiver<usize>) {
    let wanted = *sending.borrow_and_update() + MORE;
    within("more events are acknowledged", sending.wait_for(|&sent| sent >= wanted)).await.unwrap();
}

/// An inbox as promise 5 has it: an arrival key is taken once.
struct Inbox {
    sources: watch::Sender<Arc<Vec<SourceOffer>>>,
    events: Mutex<HashMap<Vec<u8>, String>>,
}

impl Inbox {
    fn new(sources: Vec<SourceOffer>) -> Self {
        Self { sources: watch::Sender::new(Arc::new(sources)), events: Mutex::default() }
    }

    /// Those that are not there.
    fn missing(&self, bodies: &HashSet<String>) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let there: HashSet<&String> = events.values().collect();
        let mut missing: Vec<_> = bodies.iter().filter(|body| !there.contains(body)).cloned().collect();
        missing.sort();
        missing
    }

    async fn until_all(&self, bodies: &HashSet<String>) {
        while !self.missing(bodies).is_empty() {
            // Only the pace of asking.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Bodies that are there under two arrival keys.
    fn doubled(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let mut seen = HashSet::new();
        events.values().filter(|body| body.starts_with("event") && !seen.insert(*body)).cloned().collect()
    }
}

impl Recipient for Inbox {
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        self.sources.subscribe()
    }

    async fn letter(&self, head: Letterhead, letter: Letter) -> Result<Option<AppReply>, Later> {
        let body = String::from_utf8_lossy(&letter.body).into_owned();
        self.events.lock().unwrap().insert(head.arrival_key, body);
        Ok(None)
    }

    fn unreadable(&self, head: &Letterhead, why: &Unreadable, _lost: bool) {
        panic!("the letter at {} can't be read: {why}", head.position);
    }

    fn state(&self, _state: State) {}
}
