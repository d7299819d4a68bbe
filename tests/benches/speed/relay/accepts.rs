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

/// How many senders there are at a time. Each waits for its commit, so that few of them measure how soon a disk and a core
/// are free rather than how much is borne; a public server has many.
pub(super) const SENDERS: [usize; 2] = [64, JUDGED];
pub(super) const JUDGED: usize = 256;

/// Requests of one measurement: of a relay, and of what it is compared with.
pub(super) const KEPT: (u64, u64) = (40_000, 160_000);
pub(super) const FRESH: (u64, u64) = (10_000, 10_000);
/// Until the store's log has started over: from then on it is written over, and no longer grows.
const WARM_UP: u64 = 16_000;

/// What senders do.
#[derive(Clone, Copy)]
struct Way {
    senders: usize,
    kept: bool,
    pair: u64,
}

/// Requests a second of both, measured one after the other.
pub(super) struct Pair {
    pub(super) senders: usize,
    pub(super) other: f64,
    pub(super) relay: f64,
    /// The largest that the store's write-ahead log was.
    pub(super) wal: u64,
}

/// Senders keep their connections; the other is a handler that does nothing.
pub(super) fn kept(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let pair = |way| {
        let bare = start_bare()?;
        let other = rate(runtime, bare.address, KEPT.1, way)?;
        drop(bare);
        relay(runtime, KEPT.0, way, other)
    };
    ways(true).map(pair).collect()
}

/// Each request has a connection of its own; the other is a forwarder with that handler behind it.
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
