//! A damaged inbox is set aside, and what can be read of it goes into a new one.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hookmitt_clock::{Clock, StoreClock};
use hookmitt_event::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::{
    InboxError, aside,
    now::{self, Now},
    recovered_rows, schema,
    settling::settle,
};

/// The row of `meta` that says what was recovered.
pub(crate) const NOTE: &str = "recovered";

/// The file that says that a process found damage while it ran, so that the next one recovers.
const MARK: &str = "inbox.damaged";

/// What was recovered from a damaged inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovered {
    /// When it was recovered.
    pub at: Timestamp,
    /// How many events were recovered.
    pub events: u64,
    /// How many of those have lost their body or their header lines.
    pub without_body: u64,
    /// How many events are missing; `None` if the damaged inbox doesn't say how many it had.
    pub missing: Option<u64>,
    /// Where the damaged inbox is.
    pub kept: PathBuf,
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, events, without_body, missing, kept } = self;
        write!(out, "the inbox was damaged and was recovered at {at}: {events} events are here, ")?;
        match missing {
            Some(missing) => write!(out, "{missing} are missing, ")?,
            None => write!(out, "it isn't known how many are missing, ")?,
        }
        write!(out, "{without_body} have lost their body; the damaged file is kept: {}", kept.display())
    }
}

/// Recovers the inbox of a data directory if it is damaged.
///
/// # Errors
/// Fails with [`InboxError::Damaged`] if it is damaged and another process uses it.
pub(crate) fn recover_if_damaged(directory: &Path, clock: &Arc<dyn Clock>) -> Result<(), InboxError> {
    let (path, mark) = (directory.join("inbox.db"), directory.join(MARK));
    let Some(why) = damage(&path).or_else(|| mark.exists().then(|| "it was found damaged".to_owned())) else {
        return Ok(());
    };
    let failed = |error| InboxError::open(directory, error);
    let take = |name: &str| hookmitt_sqlite::take(&directory.join(name)).map_err(failed);
    let (Some(_owner), Some(_setup), false) = (take("owner.lock")?, take("setup.lock")?, is_used(&path))
    else {
        return Err(InboxError::Damaged(format!("{why}; end the hookmitt that runs, and start it again")));
    };
    recover(&path, clock)?;
    let _gone = fs::remove_file(mark);
    Ok(())
}

/// Returns why a file can't be opened, if that is because of damage.
fn damage(path: &Path) -> Option<String> {
    if fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        return None;
    }
    let looked = Connection::open(path).and_then(|db| {
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if tables > 0 {
            db.query_row("SELECT count(*) FROM meta", [], |row| row.get::<_, i64>(0))?;
            db.query_row("SELECT max(seq) FROM event", [], |row| row.get::<_, Option<i64>>(0))?;
            db.query_row("SELECT count(*) FROM source", [], |row| row.get::<_, i64>(0))?;
        }
        Ok(())
    });
    match looked.map_err(InboxError::from) {
        Err(InboxError::Damaged(why)) => Some(why),
        _ => None,
    }
}

/// Whether another process has the file open. What is in the log goes into the file, as far as that is possible.
fn is_used(path: &Path) -> bool {
    let alone = Connection::open(path).and_then(|db| {
        db.busy_timeout(Duration::from_secs(1))?;
        db.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))
    });
    matches!(alone.map_err(InboxError::from), Err(InboxError::Busy))
}

fn recover(path: &Path, clock: &Arc<dyn Clock>) -> Result<(), InboxError> {
    let made = path.with_file_name("inbox.db.recovering");
    let failed = |error| InboxError::open(&made, error);
    aside::remove(&made).map_err(failed)?;
    aside::forget_second_names(path).map_err(failed)?;
    schema::update(&made, path)?;
    let (new, old) = (Connection::open(&made)?, Connection::open(path)?);
    new.pragma_update(None, "synchronous", "off")?; // it is synced once it is complete
    let triggers = without_triggers(&new)?;
    let unread = recovered_rows::take_tables(&old, &new)?;
    recovered_rows::take_events(path, &new)?;
    if count(&new, "SELECT count(*) FROM event")? == 0 && !is_sqlite(path) {
        drop((old, new));
        aside::remove(&made).map_err(failed)?;
        return Ok(()); // a file of something else, which is refused as it is
    }
    recovered_rows::take_by_event(&old, &new, &unread)?;
    let kept = aside::free_name(path, &format!(".damaged-{}", aside::stamp(clock.now())));
    let store = StoreClock::resume(now::kept(&new)?, Arc::clone(clock)).now();
    let recovered = settle(&new, Now { store, wall: clock.now().as_micros() }, &kept)?;
    triggers.iter().try_for_each(|sql| new.execute_batch(sql))?;
    new.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))?;
    drop((old, new));
    fs::File::open(&made).and_then(|file| file.sync_all()).map_err(failed)?;
    aside::remove(&path.with_file_name("search.db")).map_err(failed)?;
    aside::replace(path, &made, &kept).map_err(failed)?;
    tracing::warn!("{recovered}");
    Ok(())
}

/// Whether a file begins like one of SQLite's.
fn is_sqlite(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = [0; 16];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
}

/// Removes the triggers of a file, and returns what makes them again.
fn without_triggers(new: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select = new.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?;
    let triggers = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let triggers: Vec<(String, String)> = triggers.collect::<Result<_, _>>()?;
    drop(select);
    triggers.iter().try_for_each(|(name, _)| new.execute_batch(&format!("DROP TRIGGER {name}")))?;
    Ok(triggers.into_iter().map(|(_, sql)| sql).collect())
}

pub(crate) fn count(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.query_row(sql, [], |row| row.get(0))
}

/// Reads what was recovered, as long as the damaged file is still kept.
pub(crate) fn recovered(db: &Connection) -> Result<Option<Recovered>, InboxError> {
    const SQL: &str = "SELECT value FROM meta WHERE key = ?1";
    let note = db.query_row(SQL, [NOTE], |row| row.get::<_, String>(0)).optional()?;
    let note: Option<Recovered> = note.and_then(|json| serde_json::from_str(&json).ok());
    Ok(note.filter(|recovered| recovered.kept.exists()))
}

/// Notes that the inbox is damaged, so that the next process recovers it.
pub(crate) fn note_damage(path: &Path, why: &str) {
    tracing::error!(
        why,
        "the inbox is damaged: nothing is stored until hookmitt is started again and recovers it"
    );
    if let Err(error) = hookmitt_sqlite::private_file(&path.with_file_name(MARK)) {
        tracing::warn!(%error, "can't note that the inbox is damaged");
    }
}
