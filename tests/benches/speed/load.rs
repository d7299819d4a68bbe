//! Sends requests as fast as answers come or at a steady pace, over kept connections or a new one for each request.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::ensure;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rand::{SeedableRng as _, rngs::SmallRng};
use tokio::{net::TcpStream, task::JoinSet};

use crate::workload::Workload;

/// How the senders behave.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) requests: u64,
    /// Requests a second over all connections. `None` means as fast as answers come.
    pub(crate) pace: Option<u32>,
    /// Whether each sender keeps its connection. Otherwise it opens a new one for each request.
    pub(crate) kept: bool,
    pub(crate) seed: u64,
}

/// The result of a load.
pub(crate) struct Answered {
    pub(crate) requests: u64,
    pub(crate) started: Instant,
    pub(crate) took: Duration,
    /// How long each answer took, sorted.
    pub(crate) waits: Vec<Duration>,
}

impl Answered {
    pub(crate) fn per_second(&self) -> f64 {
        self.requests as f64 / self.took.as_secs_f64()
    }
}

/// Sends all requests, and waits for every answer. Fails if an answer is not 2xx.
pub(crate) async fn send(
    address: SocketAddr,
    workload: &Arc<Workload>,
    load: Load,
) -> anyhow::Result<Answered> {
    let next = Arc::new(AtomicU64::new(0));
    let mut ready = Vec::with_capacity(load.connections);
    for number in 0..load.connections {
        ready.push(Sender::connect(address, workload, load.seed.wrapping_add(number as u64)).await?);
    }
    let started = Instant::now();
    let mut senders = JoinSet::new();
    for sender in ready {
        senders.spawn(sender.run(load, Arc::clone(&next), started));
    }
    let mut waits = Vec::new();
    while let Some(ended) = senders.join_next().await {
        waits.extend(ended??);
    }
    let took = started.elapsed();
    waits.sort_unstable();
    Ok(Answered { requests: load.requests, started, took, waits })
}

/// A connection of hyper's client. It is closed when dropped.
struct Connection {
    requests: SendRequest<Full<Bytes>>,
    _driver: JoinSet<hyper::Result<()>>,
}

impl Connection {
    async fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (requests, driver) = http1::handshake(TokioIo::new(stream)).await?;
        let mut driving = JoinSet::new();
        driving.spawn(driver);
        Ok(Self { requests, _driver: driving })
    }
}

struct Sender {
    address: SocketAddr,
    connection: Connection,
    workload: Arc<Workload>,
    random: SmallRng,
}

impl Sender {
    async fn connect(address: SocketAddr, workload: &Arc<Workload>, seed: u64) -> anyhow::Result<Self> {
        let (connection, random) = (Connection::new(address).await?, SmallRng::seed_from_u64(seed));
        Ok(Self { address, connection, workload: Arc::clone(workload), random })
    }

    async fn run(
        mut self,
        load: Load,
        next: Arc<AtomicU64>,
        started: Instant,
    ) -> anyhow::Result<Vec<Duration>> {
        let mut waits = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= load.requests {
                return Ok(waits);
            }
            let mut sent = Instant::now();
            if let Some(pace) = load.pace {
                let due = started + Duration::from_secs_f64(number as f64 / f64::from(pace));
                tokio::time::sleep_until(due.into()).await;
                // Measured from the time when the request was due, so a late start counts as waiting.
                sent = due;
            }
            let request = self.workload.request(number as usize, &mut self.random)?;
            if !load.kept {
                self.connection = Connection::new(self.address).await?;
            }
            let answer = self.connection.requests.send_request(request).await?;
            let status = answer.status();
            let body = answer.into_body().collect().await?.to_bytes();
            ensure!(status.is_success(), "answered {status}: {}", String::from_utf8_lossy(&body));
            waits.push(sent.elapsed());
        }
    }
}
