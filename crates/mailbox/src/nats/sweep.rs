//! The work that each relay does every minute: deletes what is too old, and the parts of letters that were never
//! completed. It does no harm if another relay has already done some of it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_nats::jetstream::stream::LastRawMessageErrorKind;
use futures_util::{StreamExt as _, TryStreamExt as _};

use super::{
    acks, devices,
    put::LONGEST,
    records::TunnelRecord,
    servers::{self, leader},
    store::{Shard, Store},
    tunnels,
};
use crate::{
    MailboxError, Quota,
    age::{Moment, micros},
};

/// How many deletions run at once.
const AT_ONCE: usize = 16;

/// For how long parts without a manifest are watched. No letter takes so long to be put.
const WATCHED: Duration = Duration::from_secs(10 * 60);
const _: () = assert!(WATCHED.as_secs() >= 2 * LONGEST.as_secs());

/// Deletes letters that are too old, and forgets devices that were idle for too long and codes that expired.
pub(super) async fn sweep(store: &Store, orphans: &Orphans, quota: &Quota) -> Result<(), MailboxError> {
    store.check_open()?;
    let noted = store.clock.note(&store.cursors).await?;
    // Idle devices go first, so that letters which waited only for them are not counted as lost.
    forget_idle(store, noted.map_or(i64::MIN, |noted| noted.idle_before(quota.idle))).await;
    let now = store.clock.now();
    delete_old(store, now.store.saturating_sub(micros(quota.age))).await?;
    forget_codes(store, now).await;
    orphans.delete(store).await?;
    store.counts.write(&store.cursors).await
}

async fn delete_old(store: &Store, before: i64) -> Result<(), MailboxError> {
    for shard in &store.shards {
        let old = shard.index.older(before).into_iter();
        let deleted = old.map(|(tunnel, position, entry)| async move {
            acks::lose(store, shard, &tunnel, position, entry.in_parts.is_some()).await
        });
        let deleted = futures_util::stream::iter(deleted).buffer_unordered(AT_ONCE);
        deleted.try_collect::<()>().await?;
    }
    Ok(())
}

async fn forget_idle(store: &Store, since: i64) {
    for tunnel in store.registry.open_tunnels() {
        for device in store.registry.devices(&tunnel).unwrap_or_default() {
            match store.registry.there_at(&tunnel, &device.key) {
                None => go_on(devices::count_from_now(store, &tunnel, &device.key).await),
                Some(at) if at < since => {
                    let left = devices::leave(store, &tunnel, &device.key, Some(since)).await;
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

/// Logs an error and goes on, so that a failure for one tunnel does not keep the others from being swept. The next
/// sweep tries again.
fn go_on(done: Result<(), MailboxError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "a tunnel could not be swept");
    }
}

/// A letter in parts: its tunnel and its letter id.
type Name = (String, String);

/// Letters of which only parts were seen, each with the machine's uptime when it was first seen so. Either their relay
/// ended before it wrote the manifest, or they are being deleted.
///
/// Another relay may still be putting such a letter, and this relay's index may lag. Therefore parts count as orphans
/// only after this relay has seen them without a manifest for a while and the stream then confirms that it has no
/// manifest.
#[derive(Debug, Default)]
pub(super) struct Orphans(Mutex<HashMap<Name, Duration>>);

impl Orphans {
    fn watched(&self) -> MutexGuard<'_, HashMap<Name, Duration>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes the letters that have been orphans for long enough.
    async fn delete(&self, store: &Store) -> Result<(), MailboxError> {
        let mut seen = HashSet::new();
        for (number, shard) in (0..).zip(&store.shards) {
            // If the parts can't be listed, nothing is concluded from that; the next sweep tries again.
            let Ok(parts) = parts(store, number, shard).await else { return Ok(()) };
            let unknown =
                parts.into_keys().filter(|(tunnel, letter)| !shard.index.has_in_parts(tunnel, letter));
            seen.extend(unknown);
        }
        for (tunnel, letter) in self.ripe(seen, store.clock.uptime()) {
            let shard = store.shard(&tunnel);
            if !may_have_manifest(store, shard, &tunnel, &letter).await {
                delete_parts(store, &(tunnel, letter)).await?;
            }
        }
        Ok(())
    }

    /// Returns the letters that were seen now and have been watched for long enough; the others stay watched.
    fn ripe(&self, seen: HashSet<Name>, now: Duration) -> Vec<Name> {
        let mut watched = self.watched();
        watched.retain(|name, _| seen.contains(name));
        for name in seen {
            watched.entry(name).or_insert(now);
        }
        let ripe = watched.iter().filter(|(_, since)| now.saturating_sub(**since) >= WATCHED);
        ripe.map(|(name, _)| name.clone()).collect()
    }
}

/// Returns the subjects of the parts in a shard, by letter.
async fn parts(
    store: &Store,
    number: u16,
    shard: &Shard,
) -> Result<HashMap<Name, Vec<String>>, Box<dyn std::error::Error + Send + Sync>> {
    let mut all = shard.stream.info_with_subjects(store.names.all_parts(number)).await?;
    let mut parts: HashMap<Name, Vec<String>> = HashMap::new();
    while let Some((subject, _)) = all.try_next().await? {
        if let Some((tunnel, letter)) = store.names.in_parts(&subject) {
            let name = (tunnel.into_owned(), letter.to_owned());
            parts.entry(name).or_default().push(subject);
        }
    }
    Ok(parts)
}

/// Returns whether the stream has, or may have, a letter's manifest. It may have one if its leader lags behind this
/// relay's index, or changed while it was asked.
async fn may_have_manifest(store: &Store, shard: &Shard, tunnel: &str, letter: &str) -> bool {
    let Ok(before) = shard.stream.get_info().await else { return true };
    let manifest = store.names.manifest(tunnel, letter);
    match shard.stream.get_last_raw_message_by_subject(&manifest).await {
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {}
        _ => return true,
    }
    let Ok(after) = shard.stream.get_info().await else { return true };
    before.state.last_sequence < shard.index.frontier() || leader(&before) != leader(&after)
}

async fn delete_parts(store: &Store, name: &Name) -> Result<(), MailboxError> {
    let (number, shard) = (store.names.shard(&name.0), store.shard(&name.0));
    let Ok(mut parts) = parts(store, number, shard).await else { return Ok(()) };
    for subject in parts.remove(name).into_iter().flatten() {
        let Ok(part) = shard.stream.get_last_raw_message_by_subject(&subject).await else { continue };
        servers::delete(&store.js, &store.names.stream(number), part.sequence).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_watched_from_when_they_are_seen_and_anew_after_they_were_not() {
        let orphans = Orphans::default();
        let one = || HashSet::from([("acme".to_owned(), "ab-7".to_owned())]);
        let at = |minutes: u64| Duration::from_secs(1_000_000 + minutes * 60);
        assert!(orphans.ripe(one(), at(0)).is_empty());
        assert!(orphans.ripe(one(), at(9)).is_empty());
        assert_eq!(orphans.ripe(one(), at(10)).len(), 1);
        assert!(orphans.ripe(HashSet::new(), at(11)).is_empty(), "the manifest came to be known");
        assert!(orphans.ripe(one(), at(12)).is_empty());
    }
}
