//! How much longer an answer takes with a relay, and how long an event takes from its sender into the app's inbox.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use rusqlite::Connection;
use tokio::runtime::Runtime;

use super::{
    BODY,
    place::{PATH, Place, until},
};
use crate::{
    load::{Answered, Load, send},
    measured::SEED,
    servers::start_bare,
    workload::Workload,
};

/// Requests a second.
pub(super) const PACE: u32 = 50;
const ROUNDS: u64 = 3;
const REQUESTS: u64 = 500;
const WARM_UP: u64 = 50;

/// How long each request took, sorted.
#[derive(Default)]
pub(super) struct Latency {
    pub(super) bare: Vec<Duration>,
    pub(super) relay: Vec<Duration>,
    /// The time from when a request was due to be sent until another process saw its event committed in the inbox.
    pub(super) inbox: Vec<Duration>,
}

/// Measures with the app connected, the bare handler and the relay in turn.
pub(super) fn measured(runtime: &Runtime) -> anyhow::Result<Latency> {
    let workload = Arc::new(Workload::new(SEED, PATH, BODY));
    let load = |requests, seed| Load { connections: 4, requests, pace: Some(PACE), kept: true, seed };
    let paced = |address, requests, seed| runtime.block_on(send(address, &workload, load(requests, seed)));
    let (bare, place) = (start_bare()?, Place::prepare()?);
    let _app = place.start_app()?;
    place.relay.says("a device has connected")?;
    let inbox = place.inbox()?;
    let all_came = |sent: u64| until("all events came", || Ok(newest(&inbox)? == i64::try_from(sent)?));
    let mut latency = Latency::default();
    for round in 0..ROUNDS {
        let (seed, before) = (SEED + 10 * round, (WARM_UP + REQUESTS) * round + WARM_UP);
        paced(bare.address, WARM_UP, seed + 1)?;
        latency.bare.extend(paced(bare.address, REQUESTS, seed + 2)?.waits);
        let relay = place.relay.server.address;
        paced(relay, WARM_UP, seed + 3)?;
        all_came(before)?;
        let commits = Commits::watch(place.inbox()?, before)?;
        let answered = paced(relay, REQUESTS, seed + 4)?;
        all_came(before + REQUESTS)?;
        latency.inbox.extend(commits.since(&answered)?);
        latency.relay.extend(answered.waits);
    }
    for waits in [&mut latency.bare, &mut latency.relay, &mut latency.inbox] {
        waits.sort_unstable();
    }
    Ok(latency)
}

/// A thread that records when it sees events committed in an inbox.
struct Commits {
    watcher: JoinHandle<rusqlite::Result<Vec<Instant>>>,
    stop: Arc<AtomicBool>,
}

impl Commits {
    /// Records the events that come after the first `before`.
    fn watch(db: Connection, before: u64) -> anyhow::Result<Self> {
        let before = i64::try_from(before)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watcher = thread::spawn(move || {
            let mut seen = Vec::new();
            loop {
                let is_last = stopped.load(Ordering::Relaxed);
                let count = usize::try_from(newest(&db)? - before).unwrap_or(0);
                seen.resize(count.max(seen.len()), Instant::now());
                if is_last {
                    return Ok(seen);
                }
                thread::sleep(Duration::from_micros(200));
            }
        });
        Ok(Self { watcher, stop })
    }

    /// Returns how long each event took. The requests are far enough apart to be committed in the order in which they
    /// are sent.
    fn since(self, answered: &Answered) -> anyhow::Result<Vec<Duration>> {
        self.stop.store(true, Ordering::Relaxed);
        let seen = self.watcher.join().ok().context("the watcher panicked")??;
        ensure!(seen.len() == answered.waits.len(), "{} of {} came", seen.len(), answered.waits.len());
        let due = |number: usize| answered.started + Duration::from_secs_f64(number as f64 / f64::from(PACE));
        Ok(seen.iter().enumerate().map(|(number, at)| at.saturating_duration_since(due(number))).collect())
    }
}

fn newest(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT coalesce(max(seq), 0) FROM event")?.query_row([], |row| row.get(0))
}
