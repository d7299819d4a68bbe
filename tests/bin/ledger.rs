//! Posts to a capture port as fast as answers arrive, records every acknowledgement, and kills the server at a moment
//! under load. It is a process of its own, so that the ledger survives whatever happens to the server.
//!
//! `ledger ADDRESS PID SEED ACKNOWLEDGED IN_FLIGHT FILE`: writes a line `event-id sha256 source` for each 2xx as soon
//! as it is read. Prints its counts as JSON.

use std::{
    fs::File,
    io::Write as _,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use hookmitt_stories::{Reply, read_reply};
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};
use sha2::{Digest as _, Sha256};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::JoinSet};

const CONNECTIONS: u64 = 128;

/// One request in this many goes to the source that has a target.
const DELIVERED: u32 = 10;

/// What has been sent and answered so far.
struct Tally {
    ledger: File,
    sent: u64,
    acknowledged: u64,
    refused: u64,
    in_flight: u64,
    /// How many more sends and answers to wait for before the kill, once enough events are acknowledged.
    until_kill: u32,
    /// How many were in flight when the server was killed.
    killed_at: Option<u64>,
}

/// When to kill whom.
struct Plan {
    pid: u32,
    acknowledged: u64,
    in_flight: u64,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, pid, seed, acknowledged, in_flight, file] = &arguments[..] else {
        anyhow::bail!("ledger ADDRESS PID SEED ACKNOWLEDGED IN_FLIGHT FILE");
    };
    let (address, seed): (SocketAddr, u64) = (address.parse()?, seed.parse()?);
    let plan = Plan { pid: pid.parse()?, acknowledged: acknowledged.parse()?, in_flight: in_flight.parse()? };
    let mut random = SmallRng::seed_from_u64(seed);
    let tally = Tally {
        ledger: File::create(file)?,
        sent: 0,
        acknowledged: 0,
        refused: 0,
        in_flight: 0,
        until_kill: random.random_range(0..512),
        killed_at: None,
    };
    let tally = Arc::new(Mutex::new(tally));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(load(address, seed, Arc::new(plan), &tally))?;
    let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = serde_json::json!({
        "sent": tally.sent, "acknowledged": tally.acknowledged, "refused": tally.refused,
        "in_flight": tally.killed_at.context("the server ended by itself")?, "unanswered": tally.in_flight,
    });
    #[expect(clippy::print_stdout, reason = "the story reads it")]
    {
        println!("{counted}");
    }
    Ok(())
}

async fn load(
    address: SocketAddr,
    seed: u64,
    plan: Arc<Plan>,
    tally: &Arc<Mutex<Tally>>,
) -> anyhow::Result<()> {
    let mut senders = JoinSet::new();
    for number in 0..CONNECTIONS {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let random = SmallRng::seed_from_u64(seed ^ (number << 32));
        senders.spawn(send(stream, random, Arc::clone(&plan), Arc::clone(tally)));
    }
    while let Some(ended) = senders.join_next().await {
        ended??;
    }
    Ok(())
}

/// Posts on one connection until the server is gone.
async fn send(
    mut stream: TcpStream,
    mut random: SmallRng,
    plan: Arc<Plan>,
    tally: Arc<Mutex<Tally>>,
) -> anyhow::Result<()> {
    loop {
        let (source, body) = (source(&mut random), body(&mut random));
        let sha256 = hex::encode(Sha256::digest(&body));
        if stream.write_all(&request(source, &body, &mut random)).await.is_err() {
            return Ok(());
        }
        {
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            if tally.killed_at.is_some() {
                return Ok(()); // written to a server that was already dead, so not in flight at the kill
            }
            tally.sent += 1;
            tally.in_flight += 1;
            tally.kill_if_due(&plan)?;
        }
        let Some(reply) = read_reply(&mut stream).await else { return Ok(()) };
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.note(&reply, &sha256, source)?;
        tally.kill_if_due(&plan)?;
    }
}

impl Tally {
    fn note(&mut self, reply: &Reply, sha256: &str, source: &str) -> anyhow::Result<()> {
        self.in_flight -= 1;
        if !(200..300).contains(&reply.status) {
            self.refused += 1;
            return Ok(());
        }
        let id = reply.header("x-hookmitt-event-id").context("an answer without an event id")?;
        self.ledger.write_all(format!("{id} {sha256} {source}\n").as_bytes())?;
        self.acknowledged += 1;
        Ok(())
    }

    /// Kills the server if enough events are acknowledged and enough requests are in flight.
    fn kill_if_due(&mut self, plan: &Plan) -> anyhow::Result<()> {
        if self.killed_at.is_some() || self.acknowledged < plan.acknowledged {
            return Ok(());
        }
        self.until_kill = self.until_kill.saturating_sub(1);
        if self.until_kill > 0 || self.in_flight < plan.in_flight {
            return Ok(());
        }
        let pid =
            i32::try_from(plan.pid).ok().and_then(rustix::process::Pid::from_raw).context("no process id")?;
        rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
        self.killed_at = Some(self.in_flight);
        Ok(())
    }
}

fn source(random: &mut SmallRng) -> &'static str {
    if random.random_range(0..DELIVERED) == 0 { "delivered" } else { "kept" }
}

/// Returns a body: mostly small, some of many pages, a few too large to be hashed on the spot, some empty.
fn body(random: &mut SmallRng) -> Vec<u8> {
    let size = match random.random_range(0..1_000) {
        0 => 300 * 1_024,
        1..=20 => random.random_range(16 * 1_024..64 * 1_024),
        21..=40 => 0,
        _ => random.random_range(1..6 * 1_024),
    };
    let mut body = vec![0; size];
    random.fill_bytes(&mut body);
    body
}

fn request(source: &str, body: &[u8], random: &mut SmallRng) -> Vec<u8> {
    let delivery = uuid::Builder::from_random_bytes(random.random()).into_uuid();
    let mut bytes = format!(
        "POST /{source}/hook HTTP/1.1\r\nHost: 127.0.0.1\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: {delivery}\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
