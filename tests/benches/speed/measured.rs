//! What is measured, in order.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use tokio::runtime::Runtime;

use crate::{
    load::{Answered, Load, send},
    report,
    servers::{Server, binary, start_bare, start_hookmitt},
    signatures::{self, Signatures},
    workload::{SECRET, Workload},
};

pub(crate) const SEED: u64 = 0x5eed;
const PAIRS: usize = 5;
pub(crate) const CONNECTIONS: usize = 64;
/// Requests of one measurement; the bare handler gets more, to run about as long.
pub(crate) const DURABLE: u64 = 40_000;
pub(crate) const BARE: u64 = 160_000;
pub(crate) const WARM_UP: u64 = 4_000;
/// Where nobody listens: deliveries are stored, and wait.
const DOWN: &str = "http://127.0.0.1:1/";

/// A data directory on the disk that the target folder is on, not in memory; removed at the end.
struct DataDir(PathBuf);

impl DataDir {
    fn new(name: &str) -> anyhow::Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench").join(name);
        let _absent = fs::remove_dir_all(&path);
        fs::create_dir_all(&path)?;
        Ok(Self(path.canonicalize()?))
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Everything that was measured.
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
}

pub(crate) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let pairs = pairs(&runtime)?;
    let syncs = syncs()?;
    let steady = steady(&runtime)?.waits;
    let (first_capture, idle_bytes) = start(&runtime)?;
    let full_bytes = after_many(&runtime)?;
    let signatures = signatures::measured()?;
    report::write(&Measured { pairs, syncs, steady, first_capture, idle_bytes, full_bytes, signatures })
}

/// Sends what a durable measurement sends, and prints the rate.
pub(crate) fn load_only(address: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let workload = Arc::new(Workload::new(SEED, "/github"));
    let load = Load { connections: CONNECTIONS, requests: DURABLE, pace: None, seed: SEED };
    let answered = runtime.block_on(send(address.parse()?, &workload, load))?;
    #[expect(clippy::print_stdout, reason = "this is what was asked for")]
    {
        println!("{:.0} requests a second", answered.per_second());
    }
    Ok(())
}

/// One pair of measurements, in requests a second.
pub(crate) struct Pair {
    pub(crate) bare: f64,
    pub(crate) durable: f64,
    /// The largest that the write-ahead log was.
    pub(crate) wal: u64,
}

fn pairs(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let workload = Arc::new(Workload::new(SEED, "/github"));
    let mut pairs = Vec::with_capacity(PAIRS);
    for number in 0..PAIRS {
        let bare = {
            let server = start_bare()?;
            rate(runtime, &server, &workload, BARE, number)?
        };
        let folder = prepared("capture")?;
        let server = start_hookmitt(&folder.0)?;
        let wal = LargestFile::watch(folder.0.join("inbox.db-wal"));
        let durable = rate(runtime, &server, &workload, DURABLE, number)?;
        let wal = wal.stop();
        drop(server);
        ensure_stored(&folder.0, DURABLE + WARM_UP)?;
        pairs.push(Pair { bare, durable, wal });
    }
    Ok(pairs)
}

/// Watches how large a file gets.
struct LargestFile {
    stop: Arc<AtomicBool>,
    watcher: JoinHandle<u64>,
}

impl LargestFile {
    fn watch(path: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watcher = thread::spawn(move || {
            let mut largest = 0;
            while !stopped.load(Ordering::Relaxed) {
                largest = largest.max(fs::metadata(&path).map_or(0, |file| file.len()));
                thread::sleep(Duration::from_millis(20));
            }
            largest
        });
        Self { stop, watcher }
    }

    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.watcher.join().unwrap_or(0)
    }
}

fn rate(
    runtime: &Runtime,
    server: &Server,
    workload: &Arc<Workload>,
    requests: u64,
    pair: usize,
) -> anyhow::Result<f64> {
    let seed = SEED + 1_000 * (pair as u64 + 1);
    let load = |requests, seed| Load { connections: CONNECTIONS, requests, pace: None, seed };
    runtime.block_on(async {
        send(server.address, workload, load(WARM_UP, seed + 500)).await?;
        Ok(send(server.address, workload, load(requests, seed)).await?.per_second())
    })
}

/// A data directory with a GitHub source, its secret, and a target at which nobody answers.
fn prepared(name: &str) -> anyhow::Result<DataDir> {
    let folder = DataDir::new(name)?;
    hookmitt(&folder.0, &["source", "add", "github", "--provider", "github"], "")?;
    hookmitt(&folder.0, &["secret", "set", "github"], SECRET)?;
    hookmitt(&folder.0, &["target", "add", "github", DOWN], "")?;
    Ok(folder)
}

fn hookmitt(data_dir: &Path, arguments: &[&str], input: &str) -> anyhow::Result<String> {
    let mut process = Command::new(binary()?)
        .args(arguments)
        .arg("--data-dir")
        .arg(data_dir)
        .env("HOOKMITT_KEYRING", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    process.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    let output = process.wait_with_output()?;
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Every event is there, valid, first of its key, with a delivery that waits.
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

/// How long the disk takes to sync what a commit writes.
fn syncs() -> anyhow::Result<Vec<Duration>> {
    let folder = DataDir::new("syncs")?;
    let mut file = fs::File::create(folder.0.join("file"))?;
    let bytes = vec![0x5a; 16 * 1024];
    let mut waits = Vec::with_capacity(1_000);
    for _ in 0..1_000 {
        file.write_all(&bytes)?;
        let started = Instant::now();
        file.sync_data()?;
        waits.push(started.elapsed());
    }
    waits.sort_unstable();
    Ok(waits)
}

fn steady(runtime: &Runtime) -> anyhow::Result<Answered> {
    let workload = Arc::new(Workload::new(SEED, "/github"));
    let folder = prepared("steady")?;
    let server = start_hookmitt(&folder.0)?;
    let load = |requests, seed| Load { connections: 16, requests, pace: Some(200), seed };
    runtime.block_on(async {
        send(server.address, &workload, load(400, SEED + 1)).await?;
        send(server.address, &workload, load(4_000, SEED + 2)).await
    })
}

/// From the start of the process to its first answer; and its memory when idle, some seconds on.
fn start(runtime: &Runtime) -> anyhow::Result<(Duration, u64)> {
    let workload = Arc::new(Workload::new(SEED, "/github"));
    let folder = prepared("start")?;
    let mut firsts = Vec::with_capacity(5);
    let mut idle = 0;
    for number in 0..5 {
        let started = Instant::now();
        let server = start_hookmitt(&folder.0)?;
        let load = Load { connections: 1, requests: 1, pace: None, seed: SEED + 7_000 + number };
        runtime.block_on(send(server.address, &workload, load))?;
        firsts.push(started.elapsed());
        thread::sleep(Duration::from_secs(2));
        idle = resident(server.pid())?;
    }
    firsts.sort_unstable();
    Ok((firsts[2], idle))
}

fn after_many(runtime: &Runtime) -> anyhow::Result<u64> {
    let workload = Arc::new(Workload::new(SEED, "/github"));
    let folder = prepared("many")?;
    let server = start_hookmitt(&folder.0)?;
    let load = Load { connections: CONNECTIONS, requests: 100_000, pace: None, seed: SEED + 9_000 };
    runtime.block_on(send(server.address, &workload, load))?;
    resident(server.pid())
}

/// Resident bytes of a process.
fn resident(pid: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1_024)
}
