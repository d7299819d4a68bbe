//! How many requests a second a relay seals, stores and answers.

use std::{net::SocketAddr, sync::Arc};

use anyhow::ensure;
use tokio::runtime::Runtime;

use super::{
    BODY,
    place::{PATH, Place},
};
use crate::{
    folder::LargestFile,
    load::{Load, send},
    measured::SEED,
    servers::{start_bare, start_self},
    workload::Workload,
};

const PAIRS: u64 = 5;

/// The numbers of parallel senders. Each sender waits for its commit. So a few senders measure how soon the disk and a
/// core are free; only many senders, as a public server has, measure how much the relay can take.
pub(super) const SENDERS: [usize; 2] = [64, JUDGED];
pub(super) const JUDGED: usize = 256;

/// Requests per measurement: of the relay, and of the server that it is compared with.
pub(super) const KEPT: (u64, u64) = (40_000, 160_000);
pub(super) const FRESH: (u64, u64) = (10_000, 10_000);
/// Enough requests for the store's log to start over once. From then on the log is overwritten and no longer grows.
const WARM_UP: u64 = 16_000;

/// How the requests of one measurement are sent.
#[derive(Clone, Copy)]
struct Way {
    senders: usize,
    kept: bool,
    pair: u64,
}

/// The rates of both servers in requests a second, measured one after the other.
pub(super) struct Pair {
    pub(super) senders: usize,
    pub(super) other: f64,
    pub(super) relay: f64,
    /// The largest size of the store's write-ahead log, in bytes.
    pub(super) wal: u64,
}

/// Compares the relay with a handler that does nothing. Senders keep their connections.
pub(super) fn kept(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let pair = |way| {
        let bare = start_bare()?;
        let other = rate(runtime, bare.address, KEPT.1, way)?;
        drop(bare);
        relay(runtime, KEPT.0, way, other)
    };
    ways(true).map(pair).collect()
}

/// Compares the relay with a forwarder in front of that handler. Each request has its own connection.
pub(super) fn fresh(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let pair = |way| {
        let bare = start_bare()?;
        let forwarder = start_self(&["--forwarder", &bare.address.to_string()])?;
        let other = rate(runtime, forwarder.address, FRESH.1, way)?;
        drop((forwarder, bare));
        relay(runtime, FRESH.0, way, other)
    };
    ways(false).map(pair).collect()
}

fn ways(kept: bool) -> impl Iterator<Item = Way> {
    (0..PAIRS).flat_map(move |pair| SENDERS.map(|senders| Way { senders, kept, pair }))
}

fn relay(runtime: &Runtime, requests: u64, way: Way, other: f64) -> anyhow::Result<Pair> {
    let place = Place::prepare()?;
    let wal = LargestFile::watch(place.relay.store.path().join("relay.db-wal"));
    let relay = rate(runtime, place.relay.server.address, requests, way)?;
    let wal = wal.stop();
    let letters = u64::try_from(place.relay.letters()?)?;
    ensure!(letters == requests + WARM_UP, "{} were answered, {letters} are stored", requests + WARM_UP);
    Ok(Pair { senders: way.senders, other, relay, wal })
}

fn rate(runtime: &Runtime, address: SocketAddr, requests: u64, way: Way) -> anyhow::Result<f64> {
    let workload = Arc::new(Workload::new(SEED, PATH, BODY));
    let seed = SEED + 1_000 * (way.pair + 1);
    let load = |requests, kept, seed| Load { connections: way.senders, requests, pace: None, kept, seed };
    runtime.block_on(async {
        send(address, &workload, load(WARM_UP, true, seed + 500)).await?;
        Ok(send(address, &workload, load(requests, way.kept, seed)).await?.per_second())
    })
}
