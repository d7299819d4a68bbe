//! The times when no hookmitt caught anything: between the end of one that did and the start of the next.

use hookmitt_event::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use crate::{Inbox, InboxError, batch::Batch, rows};

/// The key under which it is stored until when a hookmitt has caught.
const UNTIL: &str = "capturing_until";

/// A time that is shorter than this, in microseconds, is none: a restart.
const TRIVIAL: i64 = 60 * 1_000_000;

/// How many times are kept.
const MOST: u32 = 1_000;

impl Inbox {
    /// Stores that this process catches now. If it has just begun to, also stores since when none did.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn note_capturing(&self, begins: bool) -> Result<(), InboxError> {
        self.write(move |batch| note(batch, begins)).await
    }

    /// Returns the times when none caught that lie between two moments or reach into that, newest first.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn away_between(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<(Timestamp, Timestamp)>, InboxError> {
        const SQL: &str = "SELECT began_at, ended_at FROM away WHERE ended_at > ?1 AND began_at < ?2
            ORDER BY id DESC LIMIT 100";
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let values = params![since.as_micros(), until.as_micros()];
                let read = |row: &rusqlite::Row<'_>| Ok((rows::moment(row, 0)?, rows::moment(row, 1)?));
                Ok(select.query_map(values, read)?.collect::<Result<_, _>>()?)
            })
            .await
    }
}

fn note(batch: &mut Batch<'_>, begins: bool) -> Result<(), InboxError> {
    const READ: &str = "SELECT value FROM meta WHERE key = ?1";
    const SET: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
    const ADD: &str = "INSERT INTO away (began_at, ended_at) VALUES (?1, ?2)";
    const OLD: &str =
        "DELETE FROM away WHERE id IN (SELECT id FROM away ORDER BY id DESC LIMIT 10 OFFSET ?1)";
    let (db, now) = (batch.db, batch.now.wall);
    let until: Option<i64> = db.prepare_cached(READ)?.query_row([UNTIL], |row| row.get(0)).optional()?;
    if let Some(until) = until.filter(|until| begins && now.saturating_sub(*until) > TRIVIAL) {
        db.prepare_cached(ADD)?.execute(params![until, now])?;
        db.prepare_cached(OLD)?.execute([MOST])?;
    }
    db.prepare_cached(SET)?.execute(params![UNTIL, now])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use hookmitt_clock::HandClock;

    use super::*;

    #[tokio::test]
    async fn only_a_time_that_is_worth_a_line_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let begin = Timestamp::from_seconds(1_800_000_000);
        let clock = Arc::new(HandClock::at(begin));
        let inbox = Inbox::open(folder.path(), clock.clone()).unwrap();
        let all = async || {
            let ends = Timestamp::from_seconds(i64::MAX / 2_000_000);
            inbox.away_between(Timestamp::from_micros(0), ends).await.unwrap()
        };
        inbox.note_capturing(true).await.unwrap();
        clock.pass(Duration::from_secs(3_600));
        inbox.note_capturing(false).await.unwrap();
        assert_eq!(all().await, [], "it went on, but its machine slept");
        clock.pass(Duration::from_secs(30));
        inbox.note_capturing(true).await.unwrap();
        assert_eq!(all().await, [], "a restart");
        clock.pass(Duration::from_secs(600));
        inbox.note_capturing(true).await.unwrap();
        let from = Timestamp::from_seconds(begin.as_seconds() + 3_630);
        assert_eq!(all().await, [(from, Timestamp::from_seconds(from.as_seconds() + 600))]);
    }
}
