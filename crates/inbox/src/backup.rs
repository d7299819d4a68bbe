//! Backups: a copy of the file that is made while it is written, rid of what belongs to this machine, and checked.

use std::{
    fs::File,
    io::{Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hookmitt_event::Timestamp;
use hookmitt_sqlite::Copying;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::{Inbox, InboxError, content, of_this_machine, rows::LOST};

/// The row of `meta` in which a backup says what it is.
pub(crate) const NOTE: &str = "backup";

/// How many events of a backup are read and compared with their SHA-256.
const SAMPLE: i64 = 200;

/// After how many virtual machine steps SQLite looks whether it should stop.
const STEPS: i32 = 100_000;

/// What a backup says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupNote {
    /// When it was made.
    pub made_at: Timestamp,
    /// The version of hookmitt that made it.
    pub version: String,
    /// The secrets that there were, each as the name of its source and its label. Their values are not in the backup.
    pub secrets: Vec<(String, String)>,
}

/// What was found in a file that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many events it holds, those in the bin included.
    pub events: u64,
    /// How many of those have lost their body: the inbox was damaged before.
    pub without_body: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// Tells a check that it is no longer wanted. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Unwanted(Arc<AtomicBool>);

impl Unwanted {
    /// Ends the check as soon as possible.
    pub fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Inbox {
    /// Begins to copy the inbox into a file that exists, is empty, and is private.
    ///
    /// # Errors
    /// Fails with [`InboxError::Backup`] if the file is anything else, or if its disk has too little room.
    pub async fn copy_into(&self, part: &Path) -> Result<Copying, InboxError> {
        let to = opened(&accepted(part)?)?;
        let needed = std::fs::metadata(self.path()).map_or(0, |file| file.len());
        if let Some(free) = hookmitt_sqlite::free_beside(part).filter(|free| *free < needed) {
            return Err(failed(part, format!("it needs {needed} bytes, and {free} are free there")));
        }
        self.copy_to(to).await
    }
}

impl Inbox {
    /// Returns what the backup says of itself that this inbox was restored from; `None` if it wasn't.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn restored_from(&self) -> Result<Option<BackupNote>, InboxError> {
        const SQL: &str = "SELECT value FROM meta WHERE key = ?1";
        let read =
            |db: &Connection| Ok(db.query_row(SQL, [NOTE], |row| row.get::<_, String>(0)).optional()?);
        let note = self.readers.read(read).await?;
        Ok(note.and_then(|json| serde_json::from_str(&json).ok()))
    }
}

/// Returns the real path of a file that a backup may be written into. Whoever asks for a backup makes that file: so the
/// process that writes it can't be made to overwrite anything, nor to write where the asker couldn't.
fn accepted(part: &Path) -> Result<PathBuf, InboxError> {
    let refused = |why: &str| failed(part, why);
    let there = std::fs::symlink_metadata(part).map_err(|error| failed(part, error))?;
    if !part.is_absolute() || !there.is_file() {
        return Err(refused("it is no file"));
    }
    if there.len() != 0 {
        return Err(refused("it isn't empty"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if there.mode() & 0o077 != 0 || there.nlink() != 1 {
            return Err(refused("others can read it"));
        }
    }
    in_real_folder(part)
}

fn opened(part: &Path) -> Result<Connection, InboxError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(part, flags)?;
    // If it isn't finished, the file is of no use anyway; it is synced once it is.
    db.pragma_update(None, "journal_mode", "off")?;
    db.pragma_update(None, "synchronous", "off")?;
    Ok(db)
}

/// Finishes a copy: removes what belongs to the running process, says in it what it is, checks it, and syncs it.
///
/// # Errors
/// Fails with [`InboxError::Backup`] if the copy is not whole, or once it is unwanted.
pub fn finish_backup(part: &Path, note: &BackupNote, unwanted: &Unwanted) -> Result<Checked, InboxError> {
    let said = |error: InboxError| failed(part, error);
    let file = hookmitt_sqlite::open_unlinked(part).map_err(|error| failed(part, error))?;
    leave_wal(&file).map_err(|error| failed(part, error))?;
    let mut db = opened(&in_real_folder(part)?).map_err(said)?;
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    strip(&db, note)?;
    let checked = check(&mut db, unwanted).map_err(said)?;
    drop(db);
    file.sync_all().map_err(|error| failed(part, error))?;
    Ok(checked)
}

/// Resolves the links on the way to a file, but not the file itself: that it is one is checked when it is opened.
fn in_real_folder(part: &Path) -> Result<PathBuf, InboxError> {
    let folder = part.parent().ok_or_else(|| failed(part, "it is in no folder"))?;
    let folder = folder.canonicalize().map_err(|error| failed(part, error))?;
    Ok(folder.join(part.file_name().ok_or_else(|| failed(part, "it has no name"))?))
}

/// Turns a copy of a file with a write-ahead log into one without, as `PRAGMA journal_mode` would, but without making
/// other files beside it. The bytes 18 and 19 are described in SQLite's file format.
fn leave_wal(mut file: &File) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(18))?;
    file.write_all(&[1, 1])
}

fn strip(db: &Connection, note: &BackupNote) -> Result<(), InboxError> {
    const THIS: &str = "DELETE FROM job WHERE kind = 'backup' AND state < 2";
    const SAYS: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
    of_this_machine::forget(db)?;
    db.execute(THIS, [])?;
    db.execute(SAYS, (NOTE, serde_json::to_string(note).unwrap_or_default()))?;
    Ok(())
}

/// Checks all that SQLite can check, the number of events, and the bytes of some of them.
pub(crate) fn check(db: &mut Connection, unwanted: &Unwanted) -> Result<Checked, InboxError> {
    let asked = unwanted.clone();
    db.progress_handler(STEPS, Some(move || asked.is_ended()))?;
    let found: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(InboxError::Damaged(found));
    }
    let (there, counted) = (
        number(db, "SELECT count(*) FROM event WHERE deleted_at IS NULL")?,
        number(db, "SELECT coalesce(sum(events), 0) FROM tally")?,
    );
    if there != counted {
        return Err(InboxError::Damaged(format!("it holds {there} events, but counts {counted}")));
    }
    compare_some(db, unwanted)?;
    db.progress_handler(0, None::<fn() -> bool>)?;
    let bytes = number(db, "PRAGMA page_count")? * number(db, "PRAGMA page_size")?;
    let without_body = number(db, &format!("SELECT count(*) FROM event WHERE flags & {LOST}"))?;
    Ok(Checked { events: number(db, "SELECT count(*) FROM event")?, without_body, bytes })
}

fn number(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.query_row(sql, [], |row| row.get(0))
}

/// Compares the bodies of events, evenly spread over all of them, with their SHA-256. Bodies that were lost to damage
/// before are missing in the inbox as well.
fn compare_some(db: &Connection, unwanted: &Unwanted) -> Result<(), InboxError> {
    const RANGE: &str = "SELECT coalesce(min(seq), 0), coalesce(max(seq), -1) FROM event";
    const NEXT: &str = "SELECT seq FROM event WHERE seq >= ?1 AND NOT flags & ?2 ORDER BY seq LIMIT 1";
    let (first, last): (i64, i64) = db.query_row(RANGE, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stride = ((last - first) / SAMPLE).max(1);
    let mut from = first;
    while from <= last && !unwanted.is_ended() {
        let next = db.prepare_cached(NEXT)?.query_row([from, LOST], |row| row.get::<_, i64>(0)).optional()?;
        let Some(seq) = next else { break };
        let is_genuine = content::is_genuine(db, seq).or_else(|error| match error {
            InboxError::Lost(_) => Ok(false),
            error => Err(error),
        });
        if !is_genuine? {
            return Err(InboxError::Damaged(format!("the body of event #{seq} isn't the one that came")));
        }
        from = seq + stride;
    }
    Ok(())
}

fn failed(part: &Path, why: impl std::fmt::Display) -> InboxError {
    InboxError::Backup(format!("{}: {why}", part.display()))
}
