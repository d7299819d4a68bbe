//! A damaged inbox is set aside, and what can be read of it goes into a new one.

use std::{fs, path::Path, sync::Arc};

use hookmitt_clock::{Clock, StoreClock};
use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    InboxError, aside, damage, damaged_log, given,
    now::{self, Now},
    recovered::count,
    recovered_rows, schema,
    settling::{Found, settle},
    untouched::{is_empty, is_used},
};

/// Recovers the inbox of a data directory if it is damaged.
///
/// # Errors
/// Fails with [`InboxError::Damaged`] if it is damaged and another process uses it.
pub(crate) fn recover_if_damaged(directory: &Path, clock: &Arc<dyn Clock>) -> Result<(), InboxError> {
    let (path, mark) = (directory.join("inbox.db"), damage::mark(directory));
    let marked = mark.exists().then(|| "it was found damaged".to_owned());
    let Some(why) = marked.or_else(|| flaw(&path)) else {
        return Ok(());
    };
    let failed = |error| InboxError::open(directory, error);
    let take = |name: &str| hookmitt_sqlite::take(&directory.join(name)).map_err(failed);
    let (Some(_owner), Some(_setup), false) = (take("owner.lock")?, take("setup.lock")?, is_used(&path))
    else {
        return Err(InboxError::Damaged(format!("{why}; end the hookmitt that runs, and start it again")));
    };
    drop(hookmitt_sqlite::private_file(&mark).map_err(failed)?); // whoever is killed from here on leaves it to the next
    recover(&path, clock)?;
    let _gone = fs::remove_file(mark);
    Ok(())
}

/// Returns why a file can't be opened, or would lose something by it, if that is because of damage.
fn flaw(path: &Path) -> Option<String> {
    if is_empty(path) {
        return what_is_left(path).map(|left| format!("its file is empty or gone, but its {left} is there"));
    }
    damaged_log::flaw(path).map(str::to_owned).or_else(|| flaw_of_file(path))
}

/// Returns what there is of an inbox beside its file.
pub(crate) fn what_is_left(path: &Path) -> Option<&'static str> {
    if damaged_log::has_frames(path) {
        return Some("log");
    }
    (given::by_index(path) > 0).then_some("search index")
}

fn flaw_of_file(path: &Path) -> Option<String> {
    let looked = Connection::open(path).and_then(|db| {
        let mut tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
        for table in tables.query_map([], |row| row.get::<_, String>(0))? {
            // All columns, because an index that may be whole has some of them.
            let sql = format!("SELECT * FROM \"{}\" NOT INDEXED LIMIT 1", table?.replace('"', "\"\""));
            db.query_row(&sql, [], |_| Ok(())).optional()?;
        }
        Ok(())
    });
    match looked.map_err(InboxError::from) {
        Err(InboxError::Damaged(why)) => Some(why),
        _ => None,
    }
}

fn recover(path: &Path, clock: &Arc<dyn Clock>) -> Result<(), InboxError> {
    let made = path.with_file_name("inbox.db.recovering");
    let failed = |error| InboxError::open(&made, error);
    aside::remove(&made).map_err(failed)?;
    aside::forget_second_names(path).map_err(failed)?;
    let kept = aside::free_name(path, &format!(".damaged-{}", aside::stamp(clock.now())));
    let was_there = !is_empty(path);
    drop(hookmitt_sqlite::private_file(path).map_err(failed)?); // SQLite would let others read what is made here
    let is_up_to_date = damaged_log::put_back(path, &kept).map_err(failed)?;
    schema::update(&made, path)?;
    let (new, old) = (Connection::open(&made)?, Connection::open(path)?);
    let _log = old.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())); // no more is to come into it
    new.pragma_update(None, "synchronous", "off")?; // it is synced once it is complete
    let triggers = without_triggers(&new)?;
    let unread = recovered_rows::take_tables(&old, &new)?;
    recovered_rows::take_events(path, &new, &unread)?;
    if count(&new, "SELECT count(*) FROM event")? == 0 && was_there && !is_sqlite(path) {
        drop((old, new));
        aside::remove(&made).map_err(failed)?;
        return Ok(()); // a file of something else, which is refused as it is
    }
    recovered_rows::take_by_event(&old, &new, &unread)?;
    given::leave_out(&new, given::by_index(path))?;
    let store = StoreClock::resume(now::kept(&new)?, Arc::clone(clock)).now();
    let found = Found { kept: &kept, unread: &unread, is_up_to_date };
    let recovered = settle(&new, Now { store, wall: clock.now().as_micros() }, &found)?;
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
