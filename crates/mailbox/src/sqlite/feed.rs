//! Delivers the letters of a mailbox as they arrive.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use hookmitt_sqlite::Readers;
use hookmitt_wire::Parcel;
use rusqlite::{Connection, OptionalExtension as _, Row};
use tokio::sync::watch;

use super::{
    boxes::{Reached, Stretch, letter_id, position_of, reach},
    trouble::no_tunnel,
};
use crate::{Delivered, Fed, Feed, MailboxError};

/// One bell for each tunnel that has a feed, rung after each commit that concerns the tunnel. Its value is a position
/// up to which there may be letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Bells(Arc<Mutex<HashMap<i64, watch::Sender<u64>>>>);

impl Bells {
    /// Returns a receiver for a tunnel's bell.
    pub(super) fn listen(&self, tunnel: i64) -> watch::Receiver<u64> {
        self.all().entry(tunnel).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Called when a feed ends. The bell goes with its last feed.
    fn leave(&self, tunnel: i64) {
        let mut bells = self.all();
        if bells.get(&tunnel).is_some_and(|bell| bell.receiver_count() <= 1) {
            bells.remove(&tunnel);
        }
    }

    /// Wakes the feeds of these tunnels.
    pub(super) fn ring(&self, rung: &HashMap<i64, u64>) {
        if rung.is_empty() {
            return;
        }
        let bells = self.all();
        for (tunnel, &newest) in rung {
            if let Some(bell) = bells.get(tunnel) {
                bell.send_replace(newest);
            }
        }
    }

    /// Wakes all feeds, because another process may have changed anything.
    pub(super) fn ring_all(&self) {
        for bell in self.all().values() {
            bell.send_replace(u64::MAX);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<i64, watch::Sender<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The letters of one tunnel after a position.
#[derive(Debug)]
pub struct SqliteFeed {
    pub(super) readers: Readers<MailboxError>,
    pub(super) bells: Bells,
    pub(super) bell: watch::Receiver<u64>,
    pub(super) name: Arc<str>,
    pub(super) tunnel: i64,
    pub(super) after: u64,
    /// Whether no read has come back empty since the feed was opened. Until then, there may be older letters that were
    /// not read yet.
    pub(super) is_new: bool,
    /// There may be letters that were not read yet.
    pub(super) is_due: bool,
}

impl Feed for SqliteFeed {
    async fn wait(&mut self) -> Result<(), MailboxError> {
        while !self.is_due {
            self.bell.changed().await.map_err(|_| MailboxError::Closed)?;
            self.is_due = *self.bell.borrow_and_update() > self.after;
        }
        Ok(())
    }

    async fn take(&mut self, most: usize, bytes: usize, limit: usize) -> Result<Fed, MailboxError> {
        let (tunnel, name) = (self.tunnel, Arc::clone(&self.name));
        let [bytes, limit] = [bytes.min(limit), limit].map(|count| u64::try_from(count).unwrap_or(u64::MAX));
        let stretch = Stretch { after: self.after, through: u64::MAX, letters: most, bytes };
        let fed = self.readers.read(move |db| read(db, &name, tunnel, stretch, limit)).await?;
        if let Fed::Letters(letters) = &fed {
            // A letter that is committed during the read rings the bell again.
            self.after = letters.last().map_or(self.after, |last| last.position);
            self.is_new &= !letters.is_empty();
            self.is_due = self.is_new || (!letters.is_empty() && *self.bell.borrow() > self.after);
        }
        Ok(fed)
    }
}

impl Drop for SqliteFeed {
    fn drop(&mut self) {
        self.bells.leave(self.tunnel);
    }
}

fn read(db: &Connection, name: &str, tunnel: i64, stretch: Stretch, limit: u64) -> Result<Fed, MailboxError> {
    const FLOOR: &str = "SELECT floor FROM mark JOIN tunnel ON id = tunnel WHERE id = ?1 AND shut = 0";
    const SQL: &str = "SELECT id, received_at, number, held, epoch, data FROM letter
        WHERE id > ?1 AND id <= ?2 ORDER BY id";
    let floor: Option<u64> = db.prepare_cached(FLOOR)?.query_row([tunnel], |row| row.get(0)).optional()?;
    let after = stretch.after.max(floor.ok_or_else(|| no_tunnel(name))?);
    let Some(Reached { last, first_bytes, .. }) = reach(db, tunnel, &Stretch { after, ..stretch })? else {
        return Ok(Fed::Letters(Vec::new()));
    };
    if first_bytes > limit {
        return Ok(Fed::TooLarge(usize::try_from(first_bytes).unwrap_or(usize::MAX)));
    }
    let mut statement = db.prepare_cached(SQL)?;
    let letters = statement.query_map((letter_id(tunnel, after), letter_id(tunnel, last)), delivered);
    Ok(Fed::Letters(letters?.collect::<rusqlite::Result<_>>()?))
}

fn delivered(row: &Row<'_>) -> rusqlite::Result<Delivered> {
    let parcel = Parcel {
        epoch: row.get(4)?,
        number: row.get(2)?,
        received_at: row.get(1)?,
        held: row.get(3)?,
        data: Bytes::copy_from_slice(row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?),
    };
    Ok(Delivered { position: position_of(row.get(0)?), parcel })
}
