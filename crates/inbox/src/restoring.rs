//! Restores a backup: checks it beside the present inbox, brings it up to date, and then takes it in one step.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hookmitt_clock::{Clock, StoreClock};
use hookmitt_event::{Actor, Deed, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    InboxError, aside,
    backup::{BackupNote, Checked, NOTE, Unwanted, check},
    copied::copy,
    damage, damaged_log,
    given::{Given, keep_numbers},
    now, of_this_machine, readable, recovery, same_schema, schema, untouched,
};

/// How long another process may hold the inbox before it counts as in use.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a delivery is not sent that waited in a backup for a target that ended with its command.
const RESTORED: &str = "it waited when the backup was made, and may have been sent since";

/// A target that a backup is restored with, and for which deliveries waited in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paused {
    /// The target's number.
    pub target: i64,
    /// Its URL.
    pub url: String,
    /// How many deliveries wait for it.
    pub waiting: u64,
}

/// A backup that was checked, and is ready to be taken.
#[derive(Debug)]
pub struct Restoring {
    path: PathBuf,
    made: PathBuf,
    now: Timestamp,
    old: Option<Connection>,
    /// How many events the present inbox has; `None` if it is damaged.
    pub present: Option<u64>,
    /// What the backup says of itself; `None` for a plain copy of an inbox.
    pub note: Option<BackupNote>,
    /// What was found in the backup.
    pub checked: Checked,
    /// The targets that are paused from now on, because what waits for them may have been sent after the backup was
    /// made.
    pub paused: Vec<Paused>,
    _locks: [File; 2],
}

impl Restoring {
    /// Copies a backup beside the inbox of a data directory, checks it, and migrates it. The inbox is as it was until
    /// [`take`](Self::take).
    ///
    /// # Errors
    /// Fails with [`InboxError::InUse`] while a process uses the data directory, with [`InboxError::NoBackup`] if the
    /// file is no inbox or isn't whole, and with [`InboxError::Newer`] if a newer hookmitt wrote it.
    pub fn begin(directory: &Path, backup: &Path, clock: &Arc<dyn Clock>) -> Result<Self, InboxError> {
        let locks = locked(directory)?;
        let path = directory.join("inbox.db");
        let made = directory.join("inbox.db.restoring");
        aside::forget_second_names(&path).map_err(|error| InboxError::open(&path, error))?;
        aside::remove(&made).map_err(|error| InboxError::open(&made, error))?;
        let present = Present::of(&path)?;
        let copied = copy(backup, &made).and_then(|()| adapt(&made, backup, present.as_ref(), clock));
        let copied = copied.map_err(|error| of_backup(backup, error));
        let Adapted { note, checked, paused } = match copied {
            Ok(adapted) => adapted,
            Err(error) => {
                let _half = aside::remove(&made);
                return Err(error);
            }
        };
        let events = match &present {
            Some(present) => present.events,
            None => Some(0),
        };
        let old = present.and_then(|present| present.db);
        let now = clock.now();
        Ok(Self { path, made, now, old, present: events, note, checked, paused, _locks: locks })
    }

    /// Takes the backup as the inbox. Returns where the inbox is kept that was there before, if there was one.
    ///
    /// # Errors
    /// Fails if the system refuses it; then the old inbox is still in its place.
    pub fn take(self) -> Result<Option<PathBuf>, InboxError> {
        let failed = |error| InboxError::open(&self.path, error);
        let index = self.path.with_file_name("search.db");
        aside::remove(&index).map_err(failed)?; // it is made anew, from what is in the backup
        let kept = aside::free_name(&self.path, &format!(".before-restore-{}", aside::stamp(self.now)));
        let was_there = self.path.exists();
        aside::replace(&self.path, &self.made, &kept).map_err(failed)?;
        drop(self.old);
        // What was found damaged is kept; the next start has nothing to recover.
        let _gone = self.path.parent().map(|directory| fs::remove_file(damage::mark(directory)));
        Ok(was_there.then_some(kept))
    }

    /// Leaves the inbox as it is.
    ///
    /// # Errors
    /// Fails if the system doesn't let us remove the copy of the backup.
    pub fn leave(self) -> Result<(), InboxError> {
        aside::remove(&self.made).map_err(|error| InboxError::open(&self.made, error))
    }
}

/// Takes the locks of a data directory, so that no process can begin to use it.
fn locked(directory: &Path) -> Result<[File; 2], InboxError> {
    schema::make_folder(directory)?;
    let take = |name: &str| {
        let lock = directory.join(name);
        let taken = hookmitt_sqlite::take(&lock).map_err(|error| InboxError::open(&lock, error))?;
        taken.ok_or_else(|| InboxError::InUse(directory.to_owned()))
    };
    Ok([take("owner.lock")?, take("setup.lock")?])
}

/// The inbox that is there now.
struct Present {
    /// Its connection, which keeps others from using it; `None` if it is damaged.
    db: Option<Connection>,
    events: Option<u64>,
    given: Given,
}

impl Present {
    /// Looks at the inbox. If it isn't damaged, nobody else can use it from now on, and it has no log.
    fn of(path: &Path) -> Result<Option<Self>, InboxError> {
        let is_gone = untouched::is_empty(path);
        if is_gone && recovery::what_is_left(path).is_none() {
            return Ok(None);
        }
        if is_gone || damaged_log::flaw(path).is_some() {
            return Self::of_damaged(path); // SQLite would drop what it can't read of the log
        }
        let looked = Connection::open(path).and_then(|db| {
            db.busy_timeout(PATIENCE)?;
            // This copies the log into the file. It needs the file for itself: so it also tells whether others use it.
            let mode: String = db.query_row("PRAGMA journal_mode = delete", [], |row| row.get(0))?;
            if mode != "delete" {
                return Err(rusqlite::Error::QueryReturnedNoRows);
            }
            db.execute_batch("BEGIN EXCLUSIVE")?;
            let events = db.query_row("SELECT count(*) FROM event", [], |row| row.get(0))?;
            Ok(Self { events: Some(events), given: Given::by(&db)?, db: Some(db) })
        });
        match looked.map_err(InboxError::from) {
            Ok(present) => Ok(Some(present)),
            Err(InboxError::Busy) => Err(in_use(path)),
            Err(_) => Self::of_damaged(path),
        }
    }

    fn of_damaged(path: &Path) -> Result<Option<Self>, InboxError> {
        if untouched::is_used(path) {
            return Err(in_use(path));
        }
        Ok(Some(Self { db: None, events: None, given: Given::by_damaged(path) }))
    }
}

fn in_use(path: &Path) -> InboxError {
    InboxError::InUse(path.parent().unwrap_or(path).to_owned())
}

/// What was found in a backup, and what was changed in its copy.
struct Adapted {
    note: Option<BackupNote>,
    checked: Checked,
    paused: Vec<Paused>,
}

/// Checks the copy of a backup, migrates it, and changes what has to be another in a restored inbox.
fn adapt(
    made: &Path,
    backup: &Path,
    present: Option<&Present>,
    clock: &Arc<dyn Clock>,
) -> Result<Adapted, InboxError> {
    is_inbox(made)?;
    schema::update(made, backup)?;
    let mut db = Connection::open(made)?;
    same_schema::ensure_same(&db)?;
    let checked = check(&mut db, &Unwanted::default())?;
    readable::ensure_readable(&db)?;
    db.pragma_update(None, "synchronous", "FULL")?;
    let changed = db.unchecked_transaction()?;
    const READ: &str = "SELECT value FROM meta WHERE key = ?1";
    let note: Option<String> = changed.query_row(READ, [NOTE], |row| row.get(0)).optional()?;
    let note = note.and_then(|json| serde_json::from_str(&json).ok());
    keep_numbers(&changed, present.map(|present| &present.given))?;
    let store = StoreClock::resume(now::kept(&changed)?, Arc::clone(clock)).now();
    let paused = hold_back(&changed, clock.now())?;
    record(&changed, backup, clock.now(), store)?;
    of_this_machine::forget(&changed)?;
    changed.commit()?;
    // From now on the file is complete without a log beside it.
    db.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))?;
    drop(db);
    File::open(made).and_then(|file| file.sync_all()).map_err(|error| InboxError::open(made, error))?;
    Ok(Adapted { note, checked, paused })
}

/// Turns an error that the copy of a backup gave into one about the backup: the inbox is as it was. A full disk is not the
/// backup's fault.
fn of_backup(backup: &Path, error: InboxError) -> InboxError {
    let why = match error {
        InboxError::Damaged(why) => why,
        InboxError::Sqlite(error) => format!("it can't be read: {error}"),
        error => return error,
    };
    InboxError::NoBackup { path: backup.to_owned(), why }
}

/// Fails if the file is no inbox.
fn is_inbox(made: &Path) -> Result<(), InboxError> {
    let db = Connection::open(made)?;
    let ours =
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'event', 'delivery')";
    let (tables, schema): (i64, i64) = (
        db.query_row(ours, [], |row| row.get(0))?,
        db.pragma_query_value(None, "user_version", |row| row.get(0))?,
    );
    if tables == 3 && schema > 0 { Ok(()) } else { Err(InboxError::Damaged("it is no inbox".to_owned())) }
}

/// Keeps what waits from being sent, because it may have been sent after the backup was made: pauses the targets for which
/// something waits, and ends what waits for those that ended with their command.
fn hold_back(db: &Connection, now: Timestamp) -> Result<Vec<Paused>, InboxError> {
    const END: &str =
        "UPDATE delivery SET state = 5, last_error = ?1, ended_at = ?2, due_at = NULL, claim = NULL,
        claimed_at = NULL WHERE state IN (0, 1) AND target IN (SELECT id FROM target WHERE kind <> 0)";
    const PAUSE: &str = "UPDATE target SET paused = 1 WHERE removed_at IS NULL AND kind = 0
        AND id IN (SELECT target FROM delivery WHERE state IN (0, 1)) RETURNING id, url,
        (SELECT count(*) FROM delivery d WHERE d.target = target.id AND d.state IN (0, 1))";
    db.execute(END, params![RESTORED, now.as_micros()])?;
    let mut pause = db.prepare(PAUSE)?;
    let paused = pause
        .query_map([], |row| Ok(Paused { target: row.get(0)?, url: row.get(1)?, waiting: row.get(2)? }))?;
    Ok(paused.collect::<Result<_, _>>()?)
}

/// Adds an entry to the audit trail.
fn record(db: &Connection, backup: &Path, now: Timestamp, store: i64) -> Result<(), InboxError> {
    const SQL: &str = "INSERT INTO audit (at, stored_at, who, what, detail) VALUES (?1, ?2, ?3, ?4, ?5)";
    let detail = serde_json::json!({ "file": backup.to_string_lossy() }).to_string();
    let (who, what) = (Actor::Cli as i64, Deed::RestoredBackup as i64);
    db.execute(SQL, params![now.as_micros(), store, who, what, detail])?;
    Ok(())
}
