//! Senders that post to a relay and remember which requests were acknowledged.

use std::{
    collections::HashMap,
    net::SocketAddr,
    ops::Range,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rand::{RngExt as _, rngs::SmallRng};
use sha2::{Digest as _, Sha256};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{Reply, Stored, eventually, read_reply, request, wait::within};

/// No provider waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The ids of events that were answered with 202, each with the SHA-256 of the body that was sent.
type Thanked = HashMap<String, String>;

/// Running senders. Each waits for an answer before it sends its next request, and sends no request twice.
pub struct Load {
    thanked: Arc<Mutex<Thanked>>,
    count: watch::Receiver<usize>,
    stop: CancellationToken,
    senders: JoinSet<()>,
}

/// The events that were acknowledged to the senders of a [`Load`].
pub struct Acknowledged(Thanked);

impl Load {
    /// Starts this many senders. Each posts to `target`, and pauses for `rest` after each answer.
    pub fn start(address: SocketAddr, target: &str, senders: usize, rest: Duration) -> Self {
        let (thanked, stop) = (Arc::default(), CancellationToken::new());
        let (counted, count) = watch::channel(0);
        let mut tasks = JoinSet::new();
        for number in 0..senders {
            let sender = Sender {
                number,
                address,
                target: target.to_owned(),
                rest,
                thanked: Arc::clone(&thanked),
                counted: counted.clone(),
            };
            tasks.spawn(sender.keep_sending(stop.clone()));
        }
        Self { thanked, count, stop, senders: tasks }
    }

    /// Returns how many events have been acknowledged so far.
    pub fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// Waits until this many more events have been acknowledged.
    pub async fn more(&self, count: usize) {
        let (mut counted, enough) = (self.count.clone(), self.count() + count);
        let reached = counted.wait_for(|count| *count >= enough);
        within("more events are acknowledged", reached).await.expect("the senders send");
    }

    /// Like [`more`](Self::more), with a random number from this range.
    pub async fn some(&self, random: &mut SmallRng, range: Range<usize>) {
        self.more(random.random_range(range)).await;
    }

    /// Stops the senders after their current request, and returns what was acknowledged.
    pub async fn end(mut self) -> Acknowledged {
        self.stop.cancel();
        while let Some(sender) = self.senders.join_next().await {
            sender.expect("a sender does not fail");
        }
        Acknowledged(std::mem::take(&mut *self.thanked.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Acknowledged {
    /// Returns how many events were acknowledged.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits until all of them are in the inbox of a data directory.
    pub async fn arrive(&self, data_dir: &Path) {
        let stored = Stored::open(data_dir);
        eventually("what was acknowledged is here", async || {
            self.0.keys().all(|event| stored.sha256(event).is_some()).then_some(())
        })
        .await;
    }

    /// Checks that the inbox has all of them byte for byte, each once, and each sender's in the order in which they
    /// were sent. It may also have events that were not acknowledged.
    pub fn are_here(&self, data_dir: &Path) {
        let stored = Stored::open(data_dir);
        for (event, sha256) in &self.0 {
            assert_eq!(stored.sha256(event).as_ref(), Some(sha256), "event {event}");
        }
        assert_eq!(stored.check(), "ok");
        let mut last: HashMap<String, u64> = HashMap::new();
        let mut seen = 0;
        for body in stored.bodies() {
            let Some((sender, number)) = body.split_once(' ') else { continue };
            let number: u64 = number.trim_end_matches('.').parse().expect("a number");
            let before = last.insert(sender.to_owned(), number).unwrap_or(0);
            assert!(before < number, "sender {sender}: {number} came after {before}");
            seen += 1;
        }
        assert!(seen >= self.count(), "{seen} of at least {}", self.count());
    }
}

struct Sender {
    number: usize,
    address: SocketAddr,
    target: String,
    rest: Duration,
    thanked: Arc<Mutex<Thanked>>,
    counted: watch::Sender<usize>,
}

impl Sender {
    async fn keep_sending(self, stop: CancellationToken) {
        let mut number = 0_u64;
        while !stop.is_cancelled() {
            number += 1;
            let body = format!("{} {number}{}", self.number, ".".repeat(1_000));
            let sent = send(self.address, &self.target, body.as_bytes());
            match tokio::time::timeout(PATIENCE, sent).await.ok().flatten() {
                Some(reply) if reply.status == 202 => self.thank(&reply, &body),
                Some(reply) => assert!(reply.status >= 500, "{} {:?}", reply.status, reply.body),
                None => {}
            }
            // A sender's pace; a provider, too, pauses before its next request.
            tokio::time::sleep(self.rest).await;
        }
    }

    fn thank(&self, reply: &Reply, body: &str) {
        let event = reply.header("x-hookmitt-event-id").expect("an id").to_owned();
        let sha256 = hex::encode(Sha256::digest(body));
        self.thanked.lock().unwrap_or_else(PoisonError::into_inner).insert(event, sha256);
        self.counted.send_modify(|count| *count += 1);
    }
}

/// Posts on a new connection. Returns `None` if the connection breaks.
async fn send(address: SocketAddr, target: &str, body: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(&request("POST", target, &[], body)).await.ok()?;
    read_reply(&mut stream).await
}
