//! The measurements, in order.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::ensure;
use tokio::runtime::Runtime;

use crate::{
    claims::{self, Claims},
    folder::{DataDir, LargestFile, hookmitt, with_source},
    host::{resident, syncs},
    load::{Answered, Load, send},
    report,
    servers::{Server, start_bare, start_hookmitt},
    signatures::{self, Signatures},
    workload::{BODY, Workload},
};

pub(crate) const SEED: u64 = 0x5eed;
const PAIRS: usize = 5;
pub(crate) const CONNECTIONS: usize = 64;
/// Requests per measurement. The bare handler gets more, so that its measurement takes about as long.
pub(crate) const DURABLE: u64 = 40_000;
pub(crate) const BARE: u64 = 160_000;
pub(crate) const WARM_UP: u64 = 4_000;
/// A target's URL at which nobody listens, so that deliveries are stored and wait.
const DOWN: &str = "http://127.0.0.1:1/";
/// The results of all measurements.
pub(crate) struct Measured {
    pub(crate) pairs: Vec<Pair>,
    /// How long each sync took, sorted.
    pub(crate) syncs: Vec<Duration>,
    /// How long each answer took at 200 requests a second, sorted.
    pub(crate) steady: Vec<Duration>,
    pub(crate) first_capture: Duration,
    pub(crate) idle_bytes: u64,
    pub(crate) full_bytes: u64,
    pub(crate) signatures: Signatures,
    pub(crate) claims: Claims,
}

pub(crate) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let pairs = pairs(&runtime)?;
    let syncs = syncs()?;
    let steady = steady(&runtime)?.waits;
    let (first_capture, idle_bytes) = start(&runtime)?;
    let full_bytes = after_many(&runtime)?;
    let (signatures, claims) = (signatures::measured()?, claims::measured(&runtime)?);
    report::write(&Measured {
        pairs,
        syncs,
        steady,
        first_capture,
        idle_bytes,
        full_bytes,
        signatures,
        claims,
    })
}

/// Measures and prints only the claims.
pub(crate) fn claims_only() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    claims::print(&claims::measured(&runtime)?);
    Ok(())
}

/// Sends the same load as a durable measurement, and prints the rate.
pub(crate) fn load_only(address: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let workload = Arc::new(Workload::new(SEED, "/github", BODY));
    let load = Load { connections: CONNECTIONS, requests: DURABLE, kept: true, pace: None, seed: SEED };
    let answered = runtime.block_on(send(address.parse()?, &workload, load))?;
    #[expect(clippy::print_stdout, reason = "this is what was asked for")]
    {
        println!("{:.0} requests a second", answered.per_second());
    }
    Ok(())
}

/// One measurement of each server, in requests a second.
pub(crate) struct Pair {
    pub(crate) bare: f64,
    pub(crate) durable: f64,
    /// The largest size of the write-ahead log, in bytes.
    pub(crate) wal: u64,
}

fn pairs(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let workload = Arc::new(Workload::new(SEED, "/github", BODY));
    let mut pairs = Vec::with_capacity(PAIRS);
    for number in 0..PAIRS {
        let bare = {
            let server = start_bare()?;
            rate(runtime, &server, &workload, BARE, number)?
        };
        let folder = prepared("capture")?;
        let server = start_hookmitt(folder.path())?;
        let wal = LargestFile::watch(folder.path().join("inbox.db-wal"));
        let durable = rate(runtime, &server, &workload, DURABLE, number)?;
        let wal = wal.stop();
        drop(server);
        ensure_stored(folder.path(), DURABLE + WARM_UP)?;
        pairs.push(Pair { bare, durable, wal });
    }
    Ok(pairs)
}

fn rate(
    runtime: &Runtime,
    server: &Server,
    workload: &Arc<Workload>,
    requests: u64,
    pair: usize,
) -> anyhow::Result<f64> {
    let seed = SEED + 1_000 * (pair as u64 + 1);
    let load = |requests, seed| Load { connections: CONNECTIONS, requests, kept: true, pace: None, seed };
    runtime.block_on(async {
        send(server.address, workload, load(WARM_UP, seed + 500)).await?;
        Ok(send(server.address, workload, load(requests, seed)).await?.per_second())
    })
}

/// Makes a data directory with a GitHub source, its secret, and a target at which nobody listens.
fn prepared(name: &str) -> anyhow::Result<DataDir> {
    let folder = with_source(name)?;
    hookmitt(folder.path(), &["target", "add", "github", DOWN], "")?;
    Ok(folder)
}

/// Checks that every event is stored, valid and the first with its dedupe key, and that its delivery waits.
fn ensure_stored(data_dir: &Path, events: u64) -> anyhow::Result<()> {
    let db = rusqlite::Connection::open(data_dir.join("inbox.db"))?;
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let events = i64::try_from(events)?;
    let valid = count("SELECT count(*) FROM event WHERE verdict = 0 AND duplicate_of IS NULL")?;
    let (keys, waiting) =
        (count("SELECT count(*) FROM first_key")?, count("SELECT count(*) FROM delivery WHERE state = 0")?);
    ensure!(
        (valid, keys, waiting) == (events, events, events),
        "of {events} events {valid} are valid, {keys} own a key, {waiting} wait"
    );
    Ok(())
}

fn steady(runtime: &Runtime) -> anyhow::Result<Answered> {
    let workload = Arc::new(Workload::new(SEED, "/github", BODY));
    let folder = prepared("steady")?;
    let server = start_hookmitt(folder.path())?;
    let load = |requests, seed| Load { connections: 16, requests, pace: Some(200), kept: true, seed };
    runtime.block_on(async {
        send(server.address, &workload, load(400, SEED + 1)).await?;
        send(server.address, &workload, load(4_000, SEED + 2)).await
    })
}

/// Returns the median time from the start of the process to its first answer, and its resident bytes two seconds after
/// that answer, in the last round.
fn start(runtime: &Runtime) -> anyhow::Result<(Duration, u64)> {
    let workload = Arc::new(Workload::new(SEED, "/github", BODY));
    let folder = prepared("start")?;
    let mut firsts = Vec::with_capacity(5);
    let mut idle = 0;
    for number in 0..5 {
        let started = Instant::now();
        let server = start_hookmitt(folder.path())?;
        let load = Load { connections: 1, requests: 1, kept: true, pace: None, seed: SEED + 7_000 + number };
        runtime.block_on(send(server.address, &workload, load))?;
        firsts.push(started.elapsed());
        thread::sleep(Duration::from_secs(2));
        idle = resident(server.pid())?;
    }
    firsts.sort_unstable();
    Ok((firsts[2], idle))
}

fn after_many(runtime: &Runtime) -> anyhow::Result<u64> {
    let workload = Arc::new(Workload::new(SEED, "/github", BODY));
    let folder = prepared("many")?;
    let server = start_hookmitt(folder.path())?;
    let load =
        Load { connections: CONNECTIONS, requests: 100_000, kept: true, pace: None, seed: SEED + 9_000 };
    runtime.block_on(send(server.address, &workload, load))?;
    resident(server.pid())
}
