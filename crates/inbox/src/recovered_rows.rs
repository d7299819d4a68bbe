//! Takes rows out of a damaged inbox, as many as can be read, and puts them into a new one.

use std::{collections::HashMap, io, path::Path};

use rusqlite::{Connection, Statement, params_from_iter, types::Value};

use crate::{
    InboxError,
    pages::Pages,
    row_forms::{entry_of, table_of},
};

/// The tables that SQLite reads, each with its order. What has a row for each event comes in [`OF_EVENTS`].
const TABLES: [(&str, &str); 22] = [
    ("meta", "key"),
    ("source", "id"),
    ("target", "id"),
    ("first_key", "source, key"),
    ("object_clock", "source, object"),
    ("tunnel", "id"),
    ("tunnel_gap", "id"),
    ("dictionary", "id"),
    ("saved_search", "id"),
    ("job", "id"),
    ("job_failure", "job, n"),
    ("sync_report", "id"),
    ("listed", "source, key"),
    ("away", "id"),
    ("tally", "source, verdict"),
    ("hourly", "hour, source, via, verdict, status"),
    ("latency", "hour, source, kind"),
    ("block_gone", "block, start"),
    ("retention", "source, kept"),
    ("passed", "seq"),
    ("audit", "id"),
    ("refusal", "id"),
];

/// The tables with rows for events, each with the column that holds the event's number.
const OF_EVENTS: [(&str, &str); 5] = [
    ("delivery", "event"),
    ("attempt", "event"),
    ("late_answer", "event"),
    ("tag", "event"),
    ("binned", "event"),
];

/// The tables whose rows are always told by their form, too.
const OF_PAGES: [&str; 6] = ["event", "raw", "packed", "block", "dictionary", "source"];

/// The tables whose rows are told by their form where SQLite can't read them all.
const UNREAD: [&str; 7] = ["target", "tunnel", "saved_search", "attempt", "audit", "delivery", "tag"];

/// How many pages are read in one transaction.
const PAGES: u32 = 20_000;

/// How many rows are copied in one transaction.
const ROWS: usize = 4_096;

/// Takes the events with their bytes, what is needed to read them, and rows of the tables that SQLite can't read, out of
/// the pages of a file.
pub(crate) fn take_events(path: &Path, new: &Connection, unread: &[&str]) -> Result<(), InboxError> {
    let failed = |error: io::Error| InboxError::open(path, error);
    let mut pages = Pages::open(path).map_err(failed)?;
    let wanted = OF_PAGES.into_iter().chain(UNREAD.into_iter().filter(|table| unread.contains(table)));
    let known = wanted.map(|table| Ok::<_, rusqlite::Error>((table, columns(new, table)?)));
    let known = known.collect::<Result<HashMap<_, _>, _>>()?;
    let wants_entries = ["delivery", "tag"].iter().any(|table| known.contains_key(table));
    let mut next = 1;
    while next <= pages.count() {
        let some = new.unchecked_transaction()?;
        let end = next.saturating_add(PAGES).min(pages.count().saturating_add(1));
        for number in next..end {
            for (rowid, mut row) in pages.rows(number) {
                let Some((table, columns)) = table_of(&row).and_then(|table| known.get_key_value(table))
                else {
                    continue;
                };
                // The first column of most is the row's number, which is stored apart.
                if row[0] == Value::Null {
                    row[0] = Value::Integer(rowid);
                }
                if rowid > 0 {
                    put(&some, table, columns, row)?;
                }
            }
            let entries = if wants_entries { pages.entries(number) } else { Vec::new() };
            for entry in entries {
                if let Some((table, columns)) = entry_of(&entry).and_then(|table| known.get_key_value(table))
                {
                    put(&some, table, columns, entry)?;
                }
            }
        }
        some.commit()?;
        next = end;
    }
    Ok(())
}

/// Adds a row. A row that doesn't fit the table is left out. A row that was stored before its table got more columns has
/// only the first ones.
fn put(new: &Connection, table: &str, columns: &[String], mut row: Vec<Value>) -> Result<(), InboxError> {
    row.truncate(columns.len());
    let (names, places) = (columns[..row.len()].join(", "), vec!["?"; row.len()].join(", "));
    let sql = format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})");
    accepted(new.prepare_cached(&sql)?.execute(params_from_iter(row)))
}

/// Passes over a row of noise, which the table's own rules refuse. A disk that is full is no reason to leave rows out.
fn accepted(added: rusqlite::Result<usize>) -> Result<(), InboxError> {
    match added {
        Err(error) if hookmitt_sqlite::refusal(&error).is_some() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns the names of a table's columns.
fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = db.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    select.query_map([table], |row| row.get(0))?.collect()
}

/// Copies the other tables, as far as SQLite can read them: from both ends of each. Returns those that it can't read to
/// the end.
pub(crate) fn take_tables(old: &Connection, new: &Connection) -> Result<Vec<&'static str>, InboxError> {
    let mut unread = Vec::new();
    for (table, order) in TABLES.into_iter().filter(|(table, _)| may_be_in(old, table)) {
        if !copy_all(old, new, table, &format!("ORDER BY {order}"))? {
            let backwards = order.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>();
            copy_all(old, new, table, &format!("ORDER BY {}", backwards.join(", ")))?;
            unread.push(table);
        }
    }
    for (table, _) in OF_EVENTS.into_iter().filter(|(table, _)| may_be_in(old, table)) {
        if !copy_all(old, new, table, "")? {
            unread.push(table);
        }
    }
    Ok(unread)
}

/// Whether a table is in the file, or may be: an inbox of an earlier schema lacks some.
fn may_be_in(old: &Connection, table: &str) -> bool {
    const SQL: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let has_any = || old.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, u64>(0));
    let count = old.query_row(SQL, [table], |row| row.get::<_, u64>(0));
    count.map_or(true, |count| count > 0) || has_any().unwrap_or(0) == 0
}

/// Copies rows of tables that can't be read from end to end, for each event by itself.
pub(crate) fn take_by_event(old: &Connection, new: &Connection, unread: &[&str]) -> Result<(), InboxError> {
    let unread: Vec<_> = OF_EVENTS.into_iter().filter(|(table, _)| unread.contains(table)).collect();
    if unread.is_empty() {
        return Ok(());
    }
    let mut select = new.prepare("SELECT seq FROM event ORDER BY seq")?;
    let events: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for (table, event) in unread {
        let copy = Copy::of(old, new, table, &format!("WHERE {event} = ?1"))?;
        let Some(mut copy) = copy else { continue };
        for some in events.chunks(ROWS) {
            let together = new.unchecked_transaction()?;
            for seq in some {
                copy.run(new, &[*seq])?;
            }
            together.commit()?;
        }
    }
    Ok(())
}

/// Copies a table. Returns whether all rows could be read.
fn copy_all(old: &Connection, new: &Connection, table: &str, which: &str) -> Result<bool, InboxError> {
    let Some(mut copy) = Copy::of(old, new, table, which)? else { return Ok(false) };
    let all = new.unchecked_transaction()?;
    let is_whole = copy.run(new, &[])?;
    all.commit()?;
    Ok(is_whole)
}

/// Copies rows of a table.
struct Copy<'a> {
    select: Statement<'a>,
    add: Statement<'a>,
    columns: usize,
}

impl<'a> Copy<'a> {
    /// Prepares it. Returns `None` if SQLite can't read the table at all.
    fn of(
        old: &'a Connection,
        new: &'a Connection,
        table: &str,
        which: &str,
    ) -> Result<Option<Self>, InboxError> {
        let (ours, Ok(theirs)) = (columns(new, table)?, columns(old, table)) else { return Ok(None) };
        let both: Vec<_> = ours.into_iter().filter(|column| theirs.contains(column)).collect();
        if both.is_empty() {
            return Ok(None);
        }
        let (names, places) = (both.join(", "), vec!["?"; both.len()].join(", "));
        let Ok(select) = old.prepare(&format!("SELECT {names} FROM {table} {which}")) else {
            return Ok(None);
        };
        // Rows that were made with the new file give way to those of the old one.
        let add = new.prepare(&format!("INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})"))?;
        Ok(Some(Self { select, add, columns: both.len() }))
    }

    /// Copies rows until the end or until one can't be read, inside a transaction, which is committed now and then.
    /// Returns whether all were copied.
    fn run(&mut self, new: &Connection, values: &[i64]) -> Result<bool, InboxError> {
        let Self { select, add, columns } = self;
        let Ok(mut rows) = select.query(params_from_iter(values)) else { return Ok(false) };
        let mut count = 0;
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let read = |column| row.get::<_, Value>(column);
                    let Ok(row) = (0..*columns).map(read).collect::<Result<Vec<Value>, _>>() else {
                        continue;
                    };
                    accepted(add.execute(params_from_iter(row)))?;
                    count += 1;
                    if count % ROWS == 0 {
                        new.execute_batch("COMMIT; BEGIN")?;
                    }
                }
                Ok(None) => return Ok(true),
                Err(_) => return Ok(false),
            }
        }
    }
}
