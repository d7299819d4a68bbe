//! Upkeep, a step at a time.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{chunk, error::IndexError, runs, schema};

/// How many free pages a file may keep for what comes next.
const SPARE: i64 = 1_024;

/// How many free pages a step gives back to the disk.
const PAGES: i64 = 256;

/// Whether the log may hold what was removed. An earlier run may have left such a log, so it is cut at first.
#[derive(Debug)]
pub(crate) struct Log {
    is_to_be_cut: bool,
}

impl Default for Log {
    fn default() -> Self {
        Self { is_to_be_cut: true }
    }
}

impl Log {
    /// Notes that something was removed.
    pub(crate) fn is_to_be_cut(&mut self) {
        self.is_to_be_cut = true;
    }
}

/// Does one step. Returns whether there is more to do.
pub(crate) fn step(db: &Connection, log: &mut Log) -> Result<bool, IndexError> {
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    if let Some(chunk) = chunk::with_gone(&transaction)? {
        runs::merge_all(&transaction, chunk)?;
        chunk::set_clean(&transaction, chunk)?;
        transaction.commit()?;
        log.is_to_be_cut();
        return Ok(true);
    }
    if let Some(chunk) = runs::full_chunk(&transaction, schema::done(&transaction)?)? {
        runs::merge_all(&transaction, chunk)?;
        transaction.commit()?;
        return Ok(true);
    }
    drop(transaction);
    give_back(db, log)
}

/// Gives free space back to the disk, and cuts the log.
fn give_back(db: &Connection, log: &mut Log) -> Result<bool, IndexError> {
    let free: i64 = db.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    if free > SPARE {
        db.execute_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        return Ok(true);
    }
    if log.is_to_be_cut {
        log.is_to_be_cut = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    }
    Ok(false)
}
