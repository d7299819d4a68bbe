//! Which process delivers, as stored in the file. Other processes learn it from a lock; the file tells it to a process
//! that has lost its lock without noticing.

use std::sync::atomic::Ordering;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError};

const TOKEN: &str = "owner";
const PID: &str = "owner_pid";
const LOCK: &str = "owner_lock";

/// A token that no owner has.
const REFUSED: i64 = -1;

/// The process that delivered last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerOwner {
    /// The process id.
    pub pid: u32,
    /// The identity of its lock file, which tells that file from others.
    pub lock: String,
}

impl Inbox {
    /// Returns the process that delivered last, if that is known.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn former_owner(&self) -> Result<Option<FormerOwner>, InboxError> {
        const SQL: &str = "SELECT p.value, l.value FROM meta p JOIN meta l ON l.key = ?2 WHERE p.key = ?1";
        let read = |row: &Row<'_>| Ok(FormerOwner { pid: row.get(0)?, lock: row.get(1)? });
        self.readers.read(move |db| Ok(db.query_row(SQL, [PID, LOCK], read).optional()?)).await
    }

    /// Makes this process the one that delivers. From now on, claims of any other process are refused.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn own(&self, pid: u32, lock: String) -> Result<(), InboxError> {
        const SQL: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
        let token = i64::from(rand::random::<u32>()) + 1;
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![TOKEN, token])?;
            batch.db.prepare_cached(SQL)?.execute(params![PID, pid])?;
            batch.db.prepare_cached(SQL)?.execute(params![LOCK, lock])?;
            Ok(())
        })
        .await?;
        self.owner.store(token, Ordering::Release);
        Ok(())
    }
}

impl Inbox {
    /// Notes that this process no longer delivers, so that its successor needn't wait for it.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn disown(&self) -> Result<(), InboxError> {
        const SQL: &str = "DELETE FROM meta WHERE key IN (?1, ?2)
            AND EXISTS (SELECT 1 FROM meta WHERE key = ?3 AND value = ?4)";
        let token = self.owner.swap(REFUSED, Ordering::AcqRel);
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![PID, LOCK, TOKEN, token])?;
            Ok(())
        })
        .await
    }
}

/// Fails if another process has become the one that delivers. If no process ever was, any may.
pub(crate) fn check(db: &Connection, token: i64) -> Result<(), InboxError> {
    const SQL: &str = "SELECT value FROM meta WHERE key = ?1";
    let found: Option<i64> = db.prepare_cached(SQL)?.query_row([TOKEN], |row| row.get(0)).optional()?;
    if found.is_none_or(|found| found == token) { Ok(()) } else { Err(InboxError::NotOwner) }
}
