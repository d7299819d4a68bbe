//! Which numbers of events an inbox has given out, so that the one in its place gives out none of them again.

use std::path::Path;

use rusqlite::Connection;

use crate::{InboxError, pages::Pages, row_forms::is_event, settling::SPARE, untouched::open_untouched};

/// A number above this one is noise in a damaged file.
const LARGEST: i64 = 1 << 53;

/// What is known of the numbers that an inbox has given out.
pub(crate) struct Given {
    /// Which inbox it is; `None` if that can't be read.
    inbox: Option<String>,
    last: i64,
    is_sure: bool,
}

impl Given {
    /// Reads which inbox it is, and the last number that it gave out.
    pub(crate) fn by(db: &Connection) -> rusqlite::Result<Self> {
        const LAST: &str = "SELECT max(coalesce((SELECT max(seq) FROM event), 0),
            coalesce((SELECT value FROM meta WHERE key = 'last_seq'), 0))";
        Ok(Self { inbox: Some(which(db)?), last: db.query_row(LAST, [], |row| row.get(0))?, is_sure: true })
    }

    /// Reads of a damaged inbox what can be read, with SQLite and without.
    pub(crate) fn by_damaged(path: &Path) -> Self {
        const EACH: [&str; 3] = [
            "SELECT value FROM meta WHERE key = 'last_seq'",
            "SELECT max(seq) FROM event",
            "SELECT max(seq) FROM first_key",
        ];
        let db = open_untouched(path);
        let read = |sql| db.as_ref().ok()?.query_row(sql, [], |row| row.get::<_, i64>(0)).ok();
        let found = EACH.into_iter().filter_map(read).chain(in_pages(path)).filter(|seq| *seq < LARGEST);
        let inbox = db.as_ref().ok().and_then(|db| which(db).ok());
        Self { inbox, last: found.max().unwrap_or(0).max(by_index(path)), is_sure: false }
    }
}

/// Returns a number that is no less than any that the search index beside an inbox has; 0 if it can't be read.
pub(crate) fn by_index(inbox: &Path) -> i64 {
    const SQL: &str = "SELECT (max(id) + 1) * 8192 - 1 FROM chunk"; // a chunk holds as many numbers as that
    let index = open_untouched(&inbox.with_file_name("search.db"));
    let last = index.and_then(|index| index.query_row(SQL, [], |row| row.get(0))).unwrap_or(0);
    if last < LARGEST { last } else { 0 }
}

/// Has an inbox give out no number up to this one.
pub(crate) fn leave_out(db: &Connection, last: i64) -> rusqlite::Result<()> {
    const SQL: &str = "UPDATE meta SET value = max(value, ?1) WHERE key = 'last_seq'";
    db.execute(SQL, [last]).map(|_| ())
}

fn which(db: &Connection) -> rusqlite::Result<String> {
    db.query_row("SELECT value FROM meta WHERE key = 'instance'", [], |row| row.get(0))
}

/// Returns the largest number of an event in the pages of a file.
fn in_pages(path: &Path) -> Option<i64> {
    let mut pages = Pages::open(path).ok()?;
    let mut largest = None;
    for number in 1..=pages.count() {
        let events = pages.rows(number).into_iter().filter(|(seq, row)| *seq < LARGEST && is_event(row));
        largest = largest.max(events.map(|(seq, _)| seq).max());
    }
    largest
}

/// Makes sure that a restored inbox gives out no number that the one before it has given out. A damaged one may have given
/// out some that can't be read any more: so some more are left out, as in a recovery.
pub(crate) fn keep_numbers(db: &Connection, before: Option<&Given>) -> Result<(), InboxError> {
    let Given { inbox, last, .. } = Given::by(db)?;
    let before = before.filter(|before| before.inbox.is_none() || before.inbox == inbox);
    let last = before.map_or(last, |before| last.max(before.last) + if before.is_sure { 0 } else { SPARE });
    Ok(leave_out(db, last)?)
}
