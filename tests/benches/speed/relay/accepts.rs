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
    measured::{CONNECTIONS, SEED},
    servers::{start_bare, start_self},
    workload::Workload,
};

const PAIRS: u64 = 5;

/// Requests of one measurement: of a relay, and of what it is compared with.
pub(super) const KEPT: (u64, u64) = (40_000, 160_000);
pub(super) const FRESH: (u64, u64) = (10_000, 10_000);
/// Until the store's log has started over: from then on it is written over, and no longer grows.
const WARM_UP: u64 = 16_000;

/// Requests a second of both, measured one after the other.
pub(super) struct Pair {
    pub(super) other: f64,
    pub(super) relay: f64,
    /// The largest that the store's write-ahead log was.
    pub(super) wal: u64,
}

/// Senders keep their connections; the other is a handler that does nothing.
pub(super) fn kept(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let pair = |number| {
        let bare = start_bare()?;
        let other = rate(runtime, bare.address, KEPT.1, true, number)?;
        drop(bare);
        relay(runtime, KEPT.0, true, number, other)
    };
    (0..PAIRS).map(pair).collect()
}

/// Each request has a connection of its own; the other is a forwarder with that handler behind it.
pub(super) fn fresh(runtime: &Runtime) -> anyhow::Result<Vec<Pair>> {
    let pair = |number| {
        let bare = start_bare()?;
        let forwarder = start_self(&["--forwarder", &bare.address.to_string()])?;
        let other = rate(runtime, forwarder.address, FRESH.1, false, number)?;
        drop((forwarder, bare));
        relay(runtime, FRESH.0, false, number, other)
    };
    (0..PAIRS).map(pair).collect()
}

fn relay(runtime: &Runtime, requests: u64, kept: bool, pair: u64, other: f64) -> anyhow::Result<Pair> {
    let place = Place::prepare()?;
    let wal = LargestFile::watch(place.relay.store.path().join("relay.db-wal"));
    let relay = rate(runtime, place.relay.server.address, requests, kept, pair)?;
    let wal = wal.stop();
    let letters = u64::try_from(place.relay.letters()?)?;
    ensure!(letters == requests + WARM_UP, "{} were answered, {letters} are stored", requests + WARM_UP);
    Ok(Pair { other, relay, wal })
}

fn rate(runtime: &Runtime, address: SocketAddr, requests: u64, kept: bool, pair: u64) -> anyhow::Result<f64> {
    let workload = Arc::new(Workload::new(SEED, PATH, BODY));
    let seed = SEED + 1_000 * (pair + 1);
    let load = |requests, kept, seed| Load { connections: CONNECTIONS, requests, pace: None, kept, seed };
    runtime.block_on(async {
        send(address, &workload, load(WARM_UP, true, seed + 500)).await?;
        Ok(send(address, &workload, load(requests, kept, seed)).await?.per_second())
    })
}
