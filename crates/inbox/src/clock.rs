//! The inbox's own clock (store time). Waiting and ageing are measured by it, whatever the wall clock does.

use hookmitt_clock::Reading;
use rusqlite::params;

use crate::{
    Inbox, InboxError, audit,
    batch::Batch,
    forget, hours,
    now::{STORE, WALL},
    refusals,
};

/// Something small that is done now and then.
type Chore = fn(&mut Batch<'_>) -> Result<(), InboxError>;

/// What is done once the reading is stored, each in a commit of its own, so that none keeps the others from being done.
const CHORES: [Chore; 4] = [
    |batch| audit::prune_old(batch),
    |batch| forget::note_passing(batch.db, batch.now),
    |batch| hours::prune(batch.db, batch.now),
    |batch| refusals::prune(batch),
];

impl Inbox {
    /// Stores the reading of the inbox's clock for the next process that opens the inbox, notes what ages by it, and
    /// removes what has become too old for the audit trail, the history or the refusals. The process that delivers does
    /// this every half minute, and when it ends.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn keep_clock(&self) -> Result<(), InboxError> {
        const SQL: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
        let clock = self.clock.clone();
        self.write(move |batch| {
            let Reading { store, wall } = clock.keep();
            batch.db.prepare_cached(SQL)?.execute(params![STORE, store])?;
            batch.db.prepare_cached(SQL)?.execute(params![WALL, wall])?;
            batch.arriving.hurries = true;
            Ok(())
        })
        .await?;
        let mut done = Ok(());
        for chore in CHORES {
            done = done.and(self.write(chore).await);
        }
        done
    }
}
