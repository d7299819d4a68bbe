//! How many requests of a tunnel were refused, and how many letters expired before a device had them: counted in
//! memory, and written now and then.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio_util::sync::CancellationToken;

use super::{
    names::{Key, count_key},
    records::CountRecord,
    table::{Next, Table, Versioned, keep_newer},
};
use crate::{DeviceKey, MailboxError, age::Moment};

/// How often counts are written.
const WRITE_EVERY: Duration = Duration::from_secs(2);

/// How many counts are written at once.
const AT_ONCE: usize = 16;

/// What a count belongs to: a tunnel, or one of its devices.
type Whose = (String, Option<DeviceKey>);

/// All counts.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    written: HashMap<Whose, Versioned<CountRecord>>,
    counted: HashMap<Whose, CountRecord>,
}

impl Counts {
    /// Takes in a count that the bucket has for a tunnel or for one of its devices.
    pub(super) fn learn(&self, key: &Key<'_>, value: &[u8], revision: u64) {
        let device = key.device();
        if device.is_none() && !key.rest.is_empty() {
            return;
        }
        if let Some(count) = Versioned::parse(value, revision) {
            keep_newer(&mut self.book().written, (key.name.clone().into_owned(), device), count);
        }
    }

    /// Counts a request that was refused.
    pub(super) fn refused(&self, tunnel: &str, unknown_source: bool, now: Moment) {
        let count = if unknown_source {
            CountRecord { unknown: 1, ..CountRecord::default() }
        } else {
            CountRecord::one(now)
        };
        self.add((tunnel.to_owned(), None), &count);
    }

    /// Counts a letter that is lost to a device.
    pub(super) fn lost(&self, tunnel: &str, device: DeviceKey, now: Moment) {
        self.add((tunnel.to_owned(), Some(device)), &CountRecord::one(now));
    }

    fn add(&self, whose: Whose, more: &CountRecord) {
        self.book().counted.entry(whose).or_default().add(more);
    }

    /// Returns what a device is told: the refusals of its tunnel, plus the letters that were lost to the device.
    pub(super) fn of(&self, tunnel: &str, device: &DeviceKey) -> CountRecord {
        let book = self.book();
        let mut count = CountRecord::default();
        for whose in [(tunnel.to_owned(), None), (tunnel.to_owned(), Some(*device))] {
            let (written, counted) = (book.written.get(&whose), book.counted.get(&whose));
            for part in written.map(|written| &written.record).into_iter().chain(counted) {
                count.add(part);
            }
        }
        count
    }

    /// Writes the counts now and then, and once more when the store closes.
    pub(super) async fn write_until(&self, cursors: &Table, closing: CancellationToken) {
        while closing.run_until_cancelled(tokio::time::sleep(WRITE_EVERY)).await.is_some() {
            if let Err(error) = self.write(cursors).await {
                tracing::debug!(%error, "refused requests could not be recorded yet; this is retried");
            }
        }
        drop(self.write(cursors).await);
    }

    /// Writes what was counted since the last write.
    pub(super) async fn write(&self, cursors: &Table) -> Result<(), MailboxError> {
        let counted = std::mem::take(&mut self.book().counted);
        let written = futures_util::stream::iter(counted).map(|(whose, more)| async move {
            let key = count_key(&whose.0, whose.1.as_ref());
            let written = cursors.change(key, None, 0, |now: Option<&CountRecord>| {
                let mut count = now.copied().unwrap_or_default();
                count.add(&more);
                Ok((Next::Write(count), ()))
            });
            match written.await {
                Ok((Some(count), ())) => {
                    keep_newer(&mut self.book().written, whose, count);
                }
                Ok((None, ())) => {}
                Err(error) => {
                    self.add(whose, &more);
                    return Err(error);
                }
            }
            Ok(())
        });
        written.buffer_unordered(AT_ONCE).try_collect::<()>().await
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountRecord {
    /// Returns a count of one refused request or one lost letter.
    fn one(now: Moment) -> Self {
        Self { refused: 1, refused_at: Some(now.wall), unknown: 0 }
    }

    /// Adds another count to this one.
    fn add(&mut self, more: &Self) {
        self.refused += more.refused;
        self.unknown += more.unknown;
        self.refused_at = self.refused_at.max(more.refused_at);
    }
}
