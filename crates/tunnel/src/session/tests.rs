//! The real intervals of heartbeats and silence, in paused time: without sockets, and without a wall clock that moves.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64},
};

use futures_util::SinkExt as _;
use hookmitt_clock::HandClock;
use hookmitt_seal::Opener;
use hookmitt_wire::{AppFrame, Depth, Letter, Parcel, decode};
use tokio::io::{DuplexStream, duplex};
use tokio_tungstenite::{WebSocketStream, accept_async};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    Answering, Credentials, Later, Letterhead, NoKey, Options, SealingKey, Unreadable, hello::hello,
};

#[derive(Default)]
struct Nobody(Mutex<Vec<State>>);

impl Recipient for Nobody {
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        watch::Sender::new(Arc::new(Vec::new())).subscribe()
    }

    async fn letter(&self, _: Letterhead, _: Letter) -> Result<Option<Answering>, Later> {
        Err(Later)
    }

    fn unreadable(&self, _: &Letterhead, _: &Unreadable, _: bool) {}

    fn sealing_keys(&self, _: Vec<SealingKey>) {}

    fn no_key(&self, _: NoKey) {}

    fn state(&self, state: State) {
        self.0.lock().unwrap().push(state);
    }
}

/// A connection in memory: the session's future, and the relay's end.
async fn connection() -> (impl Future<Output = (Ended, Timestamp)>, WebSocketStream<DuplexStream>) {
    let (ours, theirs) = duplex(64 * 1024);
    let mut credentials = Credentials::fresh("http://127.0.0.1:4410".parse().unwrap());
    credentials.tunnel = "acme-dev".to_owned();
    let clock = Arc::new(HandClock::at(Timestamp::from_seconds(1_750_000_000)));
    let options = Options { clock, ..Options::default() };
    let relay = async {
        let mut relay = accept_async(theirs).await.unwrap();
        say(&mut relay, RelayFrame::Challenge { nonce: [0; 32] }).await;
        relay.next().await.unwrap().unwrap();
        let public_url = "https://relay.example.com/acme-dev".to_owned();
        say(&mut relay, RelayFrame::Welcome { public_url, depth: Depth::default(), newest: 0, now: 0 }).await;
        relay
    };
    let (welcomed, relay) = tokio::join!(hello(ours, &credentials, &options), relay);
    let shared = Arc::new(Shared {
        tunnel: credentials.tunnel.clone(),
        opener: Arc::new(Opener::new(&credentials.sealing, &credentials.tunnel).unwrap()),
        credentials: credentials.clone(),
        recipient: Arc::new(Nobody::default()),
        options,
        stop: CancellationToken::new(),
        key_fits: AtomicBool::new(false),
        runs: AtomicU64::new(0),
    });
    (run(welcomed.map_err(|error| error.to_string()).unwrap(), None, shared), relay)
}

async fn say(relay: &mut WebSocketStream<DuplexStream>, frame: RelayFrame) {
    relay.send(Message::Binary(encode(&frame))).await.unwrap();
}

/// Returns the next heartbeat.
async fn ping(relay: &mut WebSocketStream<DuplexStream>) -> u64 {
    loop {
        let message = relay.next().await.unwrap().unwrap();
        if let AppFrame::Ping { stamp } = decode(&message.into_data()).unwrap() {
            return stamp;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_goes_out_every_ten_seconds() {
    let (session, mut relay) = connection().await;
    let relay = async {
        let mut at = Vec::new();
        let began = Instant::now();
        for _ in 0..4 {
            let stamp = ping(&mut relay).await;
            at.push(began.elapsed().as_secs());
            say(&mut relay, RelayFrame::Pong { stamp, depth: Depth::default() }).await;
        }
        at
    };
    tokio::select! {
        at = relay => assert_eq!(at, [0, 10, 20, 30]),
        ended = session => panic!("{ended:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn fifteen_seconds_of_silence_are_the_end() {
    let (session, mut relay) = connection().await;
    let began = Instant::now();
    let relay = async {
        let stamp = ping(&mut relay).await;
        say(&mut relay, RelayFrame::Pong { stamp, depth: Depth::default() }).await;
        std::future::pending::<()>().await;
    };
    let (ended, heard) = tokio::select! {
        ended = session => ended,
        () = relay => panic!("it goes on for ever"),
    };
    assert!(matches!(ended, Ended::Lost(TunnelError::Silent(_))), "{ended:?}");
    assert_eq!(began.elapsed().as_secs(), 15);
    // The wall clock stood still meanwhile.
    assert_eq!(heard, Timestamp::from_seconds(1_750_000_000 - 15));
}

/// Returns when a connection ends whose first heartbeat is not answered, while `bytes` of a letter arrive every nine
/// seconds.
async fn ends_while_there_come(size: usize) -> (Ended, u64) {
    let (session, mut relay) = connection().await;
    let began = Instant::now();
    let relay = async {
        ping(&mut relay).await;
        let data = bytes::Bytes::from(vec![0; size]);
        let parcel = Parcel { epoch: [0; 32], number: 0, received_at: 0, held: false, data: data.clone() };
        say(&mut relay, RelayFrame::Parcel { position: 1, parcel, size: 25 * 1024 * 1024 }).await;
        loop {
            tokio::time::sleep(Duration::from_secs(9)).await;
            say(&mut relay, RelayFrame::Piece { position: 1, data: data.clone() }).await;
        }
    };
    let (ended, _) = tokio::select! {
        ended = session => ended,
        () = relay => unreachable!(),
    };
    (ended, began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_slow_line_is_no_silence_and_a_heartbeat_without_an_answer_is_not_forgiven_for_ever() {
    let (ended, after) = ends_while_there_come(45_000).await;
    assert!(matches!(ended, Ended::Lost(TunnelError::Slow(_))), "{ended:?}");
    assert_eq!(after, 60);
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_is_not_answered_where_little_comes_instead_and_that_is_the_end() {
    let (ended, after) = ends_while_there_come(1_000).await;
    let silence = Duration::from_secs(15);
    assert!(matches!(ended, Ended::Lost(TunnelError::Slow(after)) if after == silence), "{ended:?}");
    assert_eq!(after, 15);
}

#[tokio::test(start_paused = true)]
async fn a_round_trip_is_never_shown_shorter_than_it_takes_already() {
    let (_sender, sources) = watch::channel(Arc::new(Vec::new()));
    let mut speech = Speech::new(&sources, 1);
    assert_eq!(speech.rtt(), None);
    for (stamp, takes) in [(1, 400), (2, 20)] {
        speech.ping(0);
        tokio::time::advance(Duration::from_millis(takes)).await;
        speech.pong(stamp, 0).unwrap();
        assert_eq!(speech.rtt(), Some(Duration::from_millis(takes)));
    }
    speech.ping(0);
    tokio::time::advance(Duration::from_millis(900)).await;
    assert_eq!(speech.rtt(), Some(Duration::from_millis(20)));
    tokio::time::advance(Duration::from_secs(7)).await;
    assert_eq!(speech.rtt(), Some(Duration::from_secs(7)));
}
