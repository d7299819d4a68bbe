//! How fast an app that was away receives what waits for it. Checks that every event arrives, once and in order.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use tokio::runtime::Runtime;

use super::{
    BODY,
    place::{PATH, Place, until},
};
use crate::{
    load::{Load, send},
    measured::{CONNECTIONS, SEED},
    workload::Workload,
};

const ROUNDS: u64 = 5;
pub(super) const EVENTS: u64 = 10_000;

/// The times of one round.
pub(super) struct CaughtUp {
    /// The time from when the relay let the app in until the last event was committed in its inbox.
    pub(super) took: Duration,
    /// The same from the start of the app's process.
    pub(super) from_start: Duration,
}

pub(super) fn measured(runtime: &Runtime) -> anyhow::Result<Vec<CaughtUp>> {
    let workload = Arc::new(Workload::new(SEED, PATH, BODY));
    (0..ROUNDS).map(|round| once(runtime, &workload, SEED + 1_000 * round)).collect()
}

fn once(runtime: &Runtime, workload: &Arc<Workload>, seed: u64) -> anyhow::Result<CaughtUp> {
    let place = Place::prepare()?;
    let load = Load { connections: CONNECTIONS, requests: EVENTS, pace: None, kept: true, seed };
    runtime.block_on(send(place.relay.server.address, workload, load))?;
    let sent = names_at_relay(&place)?;
    ensure!(sent.len() as u64 == EVENTS, "{EVENTS} were answered, {} are stored", sent.len());
    let started = Instant::now();
    let app = place.start_app()?;
    let connected = place.relay.says("a device has connected")?;
    let inbox = place.inbox()?;
    let mut newest = inbox.prepare("SELECT coalesce(max(seq), 0) FROM event")?;
    until("everything is caught up", || {
        Ok(newest.query_row([], |row| row.get::<_, i64>(0))? >= i64::try_from(EVENTS)?)
    })?;
    let ended = Instant::now();
    until("what the app has is deleted at the relay", || Ok(place.relay.letters()? == 0))?;
    drop(app);
    let came = names_in_inbox(&place)?;
    ensure!(came.len() == sent.len(), "of {} events {} are in the inbox", sent.len(), came.len());
    ensure!(came == sent, "the inbox has other events than the relay had, or in another order");
    Ok(CaughtUp { took: ended - connected, from_start: ended - started })
}

/// Returns each letter's epoch and number, in the relay's order. No two letters have the same pair.
fn names_at_relay(place: &Place) -> anyhow::Result<Vec<Vec<u8>>> {
    let db = place.relay.db()?;
    let mut letters = db.prepare("SELECT epoch, number FROM letter ORDER BY id")?;
    let names = letters.query_map([], |row| {
        let (mut name, number): (Vec<u8>, u32) = (row.get(0)?, row.get(1)?);
        name.extend_from_slice(&number.to_be_bytes());
        Ok(name)
    })?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Returns the same pairs for the inbox's events: an arrival key ends with them. Leaves out events that are not valid,
/// duplicates, and events without a body.
fn names_in_inbox(place: &Place) -> anyhow::Result<Vec<Vec<u8>>> {
    let db = place.inbox()?;
    let mut events = db.prepare(
        "SELECT arrival_key FROM event WHERE verdict = 0 AND duplicate_of IS NULL AND size > 0 ORDER BY seq",
    )?;
    let names = events.query_map([], |row| {
        let key: Vec<u8> = row.get(0)?;
        Ok(key[key.len().saturating_sub(36)..].to_vec())
    })?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}
