//! What is done every minute or so, by each relay: what one has done already is nothing to the others.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio_util::sync::CancellationToken;

use super::{
    acks,
    index::Known,
    names::count_key,
    orphans,
    records::{CountRecord, TunnelRecord},
    store::{Shard, Store},
    table::Next,
    tunnels,
};
use crate::{
    MailboxError, Quota,
    age::{Moment, micros},
};

/// How often what was refused is written.
const WRITE_EVERY: Duration = Duration::from_secs(2);

/// How many bytes of letters are crowded out for one that comes, about: more than the largest has.
const CROWDED_OUT: u64 = 64 * 1024 * 1024;

/// How many requests are under way at once.
const AT_ONCE: usize = 16;

/// Deletes what is too old, forgets who was away for too long.
pub(super) async fn sweep(store: &Store, quota: &Quota) -> Result<(), MailboxError> {
    store.check_open()?;
    let noted = store.clock.note(&store.cursors).await?;
    // Devices first: what waited only for them is lost to nobody.
    forget_idle(store, noted.map_or(i64::MIN, |noted| noted.idle_before(quota.idle))).await;
    let now = store.clock.now();
    delete_old(store, now.store.saturating_sub(micros(quota.age))).await?;
    forget_codes(store, now).await;
    orphans::delete(store).await?;
    write_counts(store).await
}

/// Counts a request that was refused.
pub(super) fn count_refused(store: &Store, tunnel: &str, unknown_source: bool) {
    let count = if unknown_source {
        CountRecord { unknown: 1, ..CountRecord::default() }
    } else {
        CountRecord::one(store.clock.now())
    };
    store.registry.count((tunnel.to_owned(), None), &count);
}

async fn delete_old(store: &Store, before: i64) -> Result<(), MailboxError> {
    for shard in &store.shards {
        let old = shard.index.older(before).into_iter();
        let deleted = old.map(|(tunnel, position, known)| delete_one(store, shard, tunnel, position, known));
        let deleted = futures_util::stream::iter(deleted).buffer_unordered(AT_ONCE);
        deleted.try_collect::<()>().await?;
    }
    Ok(())
}

/// Makes room by what the device that is furthest has already: one that is slow or gone must not keep letters from it
/// (Threat 12). The others are told how many they lost. Only a little, since it is asked for again.
pub(super) async fn crowd_out(store: &Store, tunnel: &str, quota: &Quota) -> Result<(), MailboxError> {
    let most = usize::try_from((quota.letters / 16).clamp(1, 128)).unwrap_or(128);
    let devices = store.registry.devices(tunnel).unwrap_or_default();
    let ahead = devices.iter().map(|device| device.cursor).max().unwrap_or(0);
    let shard = store.shard(tunnel);
    let oldest = shard.index.after(tunnel, 0, most, CROWDED_OUT);
    let had = oldest.into_iter().take_while(|(position, _)| *position <= ahead);
    let deleted = had.map(|(position, known)| delete_one(store, shard, tunnel.to_owned(), position, known));
    futures_util::stream::iter(deleted).buffer_unordered(AT_ONCE).try_collect::<()>().await
}

/// Deletes one letter. The relay that really did it counts it, for each device that does not have it.
pub(super) async fn delete_one(
    store: &Store,
    shard: &Shard,
    tunnel: String,
    position: u64,
    known: Known,
) -> Result<(), MailboxError> {
    let was_there = store.delete(&tunnel, (position, known.in_parts.is_some())).await?;
    shard.index.remove(&tunnel, position);
    if was_there {
        let expired = CountRecord::one(store.clock.now());
        let devices = store.registry.devices(&tunnel).unwrap_or_default();
        for device in devices.iter().filter(|device| device.cursor < position) {
            store.registry.count((tunnel.clone(), Some(device.key)), &expired);
        }
    }
    Ok(())
}

async fn forget_idle(store: &Store, since: i64) {
    for tunnel in store.registry.open_tunnels() {
        for device in store.registry.devices(&tunnel).unwrap_or_default() {
            match store.registry.there_at(&tunnel, &device.key) {
                None => go_on(acks::count_from_now(store, &tunnel, &device.key).await),
                Some(at) if at < since => {
                    let left = tunnels::leave(store, &tunnel, &device.key, Some(since)).await;
                    go_on(left.map(drop));
                }
                Some(_) => {}
            }
        }
    }
}

async fn forget_codes(store: &Store, now: Moment) {
    for tunnel in store.registry.open_tunnels() {
        let is_over = |record: &TunnelRecord| record.invites.iter().any(|invite| invite.is_over(now));
        if store.registry.record(&tunnel).is_some_and(|known| is_over(&known.record)) {
            let forgotten = tunnels::change(store, &tunnel, |record| {
                record.invites.retain(|invite| !invite.is_over(now));
                Ok(())
            });
            go_on(forgotten.await);
        }
    }
}

/// What fails for one tunnel must not keep the others from being swept; it is tried again with the next sweep.
fn go_on(done: Result<(), MailboxError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "a tunnel could not be swept");
    }
}

/// Writes what was refused, now and then, and at the end.
pub(super) async fn write_counts_until(store: &Store, closing: CancellationToken) {
    while closing.run_until_cancelled(tokio::time::sleep(WRITE_EVERY)).await.is_some() {
        if let Err(error) = write_counts(store).await {
            tracing::debug!(%error, "what was refused could not be written; it will be");
        }
    }
    drop(write_counts(store).await);
}

async fn write_counts(store: &Store) -> Result<(), MailboxError> {
    let counted = futures_util::stream::iter(store.registry.take_counted());
    let written = counted.map(|(whose, more)| async move {
        let key = count_key(&whose.0, whose.1.as_ref());
        let written = store.cursors.change(key, None, 0, |now: Option<&CountRecord>| {
            let mut count = now.copied().unwrap_or_default();
            count.add(&more);
            Ok((Next::Write(count), ()))
        });
        match written.await {
            Ok((Some(record), ())) => store.registry.set_count(whose, record),
            Ok((None, ())) => {}
            Err(error) => {
                store.registry.count(whose, &more);
                return Err(error);
            }
        }
        Ok(())
    });
    written.buffer_unordered(AT_ONCE).try_collect::<()>().await
}
