//! Takes rows out of a damaged inbox, as many as can be read, and puts them into a new one.

use std::{collections::HashMap, io, path::Path};

use rusqlite::{Connection, params_from_iter, types::Value};

use crate::{InboxError, pages::Pages};

/// The tables that SQLite reads, each with its order. What has a row for each event comes in [`OF_EVENTS`].
const TABLES: [(&str, &str); 19] = [
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

/// The tables whose rows are told by their form.
const OF_PAGES: [&str; 6] = ["event", "raw", "packed", "block", "dictionary", "source"];

/// How many pages are read in one transaction.
const PAGES: u32 = 20_000;

/// Takes the events with their bytes, and what is needed to read them, out of the pages of a file.
pub(crate) fn take_events(path: &Path, new: &Connection) -> Result<(), InboxError> {
    let failed = |error: io::Error| InboxError::open(path, error);
    let mut pages = Pages::open(path).map_err(failed)?;
    let known = OF_PAGES.map(|table| Ok::<_, rusqlite::Error>((table, columns(new, table)?)));
    let known = known.into_iter().collect::<Result<HashMap<_, _>, _>>()?;
    let mut next = 1;
    while next <= pages.count() {
        let some = new.unchecked_transaction()?;
        let end = next.saturating_add(PAGES).min(pages.count().saturating_add(1));
        for number in next..end {
            for (rowid, row) in pages.rows(number) {
                if let Some((table, columns)) = table_of(&row).and_then(|table| known.get_key_value(table)) {
                    put(&some, table, columns, rowid, row)?;
                }
            }
        }
        some.commit()?;
        next = end;
    }
    Ok(())
}

/// Returns the table that a row is of, by its form. The first column is the row's number, which is stored apart.
fn table_of(row: &[Value]) -> Option<&'static str> {
    use Value::{Blob, Integer, Null, Text};
    let is_id = |value: &Value| matches!(value, Blob(bytes) if bytes.len() == 16);
    let is_sha256 = |value: &Value| matches!(value, Blob(bytes) if bytes.len() == 32);
    match row {
        [Null, Blob(_), Blob(_)] => Some("raw"),
        [Null, Text(_), Blob(_)] => Some("dictionary"),
        [Null, Integer(_), Integer(_), Blob(_)] => Some("block"),
        [Null, Integer(_) | Null, Blob(_), Blob(_)] => Some("packed"),
        [Null, Integer(_) | Null, Blob(_), Blob(_), Integer(_) | Null, Integer(_) | Null] => Some("packed"),
        [Null, Text(_), Text(_) | Null, Text(_), Integer(_), Integer(_), Integer(_) | Null] => Some("source"),
        [Null, id, Integer(_), Integer(_), rest @ ..]
            if is_id(id) && rest.len() >= 27 && rest.get(24).is_some_and(is_sha256) =>
        {
            Some("event")
        }
        _ => None,
    }
}

/// Adds a row with its number. A row that doesn't fit the table is left out. A row that was stored before its table got
/// more columns has only the first ones.
fn put(
    new: &Connection,
    table: &str,
    columns: &[String],
    rowid: i64,
    mut row: Vec<Value>,
) -> Result<(), InboxError> {
    if rowid < 1 || row.is_empty() {
        return Ok(());
    }
    row[0] = Value::Integer(rowid);
    row.truncate(columns.len());
    let (names, places) = (columns[..row.len()].join(", "), vec!["?"; row.len()].join(", "));
    let sql = format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})");
    match new.prepare_cached(&sql)?.execute(params_from_iter(row)) {
        Err(error) if hookmitt_sqlite::refusal(&error).is_some() => Err(error.into()),
        _ => Ok(()), // a row of noise, which the table's own rules refuse
    }
}

/// Returns the names of a table's columns.
fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = db.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    select.query_map([table], |row| row.get(0))?.collect()
}

/// Copies the other tables, as far as SQLite can read them: from both ends of each.
pub(crate) fn take_tables(old: &Connection, new: &Connection) -> Result<(), InboxError> {
    for (table, order) in TABLES {
        if !copy(old, new, table, &format!("ORDER BY {order}"), &[])? {
            let backwards = order.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>();
            copy(old, new, table, &format!("ORDER BY {}", backwards.join(", ")), &[])?;
        }
    }
    let mut select = new.prepare("SELECT seq FROM event ORDER BY seq")?;
    let events: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for (table, event) in OF_EVENTS {
        if copy(old, new, table, "", &[])? {
            continue;
        }
        let some = new.unchecked_transaction()?;
        for seq in &events {
            copy(old, &some, table, &format!("WHERE {event} = ?1"), &[*seq])?;
        }
        some.commit()?;
    }
    Ok(())
}

/// Copies rows until the end or until one can't be read. Returns whether all were copied.
fn copy(
    old: &Connection,
    new: &Connection,
    table: &str,
    which: &str,
    values: &[i64],
) -> Result<bool, InboxError> {
    // Rows that were made with the new file give way to those of the old one.
    let (ours, Ok(theirs)) = (columns(new, table)?, columns(old, table)) else { return Ok(false) };
    let both: Vec<_> = ours.into_iter().filter(|column| theirs.contains(column)).collect();
    if both.is_empty() {
        return Ok(false);
    }
    let (names, places) = (both.join(", "), vec!["?"; both.len()].join(", "));
    let Ok(mut select) = old.prepare_cached(&format!("SELECT {names} FROM {table} {which}")) else {
        return Ok(false);
    };
    let mut add =
        new.prepare_cached(&format!("INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})"))?;
    let Ok(mut rows) = select.query(params_from_iter(values)) else { return Ok(false) };
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let read = |column| row.get::<_, Value>(column);
                let Ok(row) = (0..both.len()).map(read).collect::<Result<Vec<Value>, _>>() else { continue };
                let _unfit = add.execute(params_from_iter(row));
            }
            Ok(None) => return Ok(true),
            Err(_) => return Ok(false),
        }
    }
}
