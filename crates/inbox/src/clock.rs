//! The inbox's own clock: what waits and what ages goes by it, whatever the wall clock does.

use hookmitt_clock::Reading;
use rusqlite::params;

use crate::{
    Inbox, InboxError,
    now::{STORE, WALL},
};

impl Inbox {
    /// Writes down how far the inbox's clock is, for the next process that opens it: every half minute and at the end,
    /// by the process that delivers.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn keep_clock(&self) -> Result<(), InboxError> {
        const SQL: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
        let clock = self.clock.clone();
        self.write(move |batch| {
            let Reading { store, wall } = clock.keep();
            batch.db.prepare_cached(SQL)?.execute(params![STORE, store])?;
            batch.db.prepare_cached(SQL)?.execute(params![WALL, wall])?;
            Ok(())
        })
        .await
    }
}
