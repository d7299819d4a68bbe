//! Upkeep, a step at a time.

use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{chunk, error::IndexError, runs, schema};

/// How many free pages a file may keep for what comes next.
const SPARE: i64 = 1_024;

/// How many free pages a step gives back to the disk.
const PAGES: i64 = 256;

/// How long nothing may be removed before little that is gone is worth merging a chunk.
const QUIET: Duration = Duration::from_secs(10);

/// What there is to do after events were removed.
#[derive(Debug)]
pub(crate) struct Debt {
    /// When something was removed last; `None` if not in this run.
    removed: Option<Instant>,
    /// How long nothing may be removed before all is worth doing.
    quiet: Duration,
    /// Whether the log may hold what was removed. An earlier run may have left such a log, so it is cut at first.
    is_log_to_cut: bool,
    /// Whether there was nothing more to do, and nothing was written since.
    is_paid: bool,
}

impl Default for Debt {
    fn default() -> Self {
        let quiet = if cfg!(test) { Duration::ZERO } else { QUIET };
        Self { removed: None, quiet, is_log_to_cut: true, is_paid: false }
    }
}

impl Debt {
    /// Notes that something was written, and whether something was removed by it.
    pub(crate) fn grows(&mut self, has_removed: bool) {
        self.is_paid = false;
        if has_removed {
            self.removed = Some(Instant::now());
            self.is_log_to_cut = true;
        }
    }

    /// Whether there is nothing to do until something is written.
    pub(crate) const fn is_paid(&self) -> bool {
        self.is_paid
    }

    fn is_quiet(&self) -> bool {
        self.removed.is_none_or(|removed| removed.elapsed() >= self.quiet)
    }
}

/// Does one step. Returns whether there is more to do.
pub(crate) fn step(db: &Connection, debt: &mut Debt) -> Result<bool, IndexError> {
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    if let Some(chunk) = chunk::with_gone(&transaction, debt.is_quiet())? {
        runs::merge_all(&transaction, chunk)?;
        chunk::set_clean(&transaction, chunk)?;
        transaction.commit()?;
        debt.is_log_to_cut = true;
        return Ok(true);
    }
    if let Some(chunk) = runs::full_chunk(&transaction, schema::done(&transaction)?)? {
        runs::merge_all(&transaction, chunk)?;
        transaction.commit()?;
        return Ok(true);
    }
    drop(transaction);
    give_back(db, debt)
}

/// Gives free space back to the disk, and cuts the log.
fn give_back(db: &Connection, debt: &mut Debt) -> Result<bool, IndexError> {
    let free: i64 = db.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    if free > SPARE {
        let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let mut freed = vacuum.raw_query(); // each of its rows is a page
        while freed.next()?.is_some() {}
        let left: i64 = db.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        return Ok(left < free);
    }
    if debt.is_log_to_cut && debt.is_quiet() {
        // Says whether a reader was in the way.
        debt.is_log_to_cut = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    }
    debt.is_paid = !debt.is_log_to_cut && debt.is_quiet();
    Ok(false)
}
