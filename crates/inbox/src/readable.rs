//! Whether an inbox can be used once it is opened: all that is read at the start is read here, before a backup takes the
//! inbox's place.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::{
    InboxError, job_rows, now, retention, routes::Routes, saved_searches, schema, sources, targets, tunnels,
};

/// The numbers of events stay below this one, so that there are always more, and so that JSON can tell them apart.
const NUMBERS: i64 = 1 << 53;

/// The only row of `meta` that goes at some time.
const GOES: &str = "keys_settled";

/// Reads what is read at the start.
pub(crate) fn ensure_readable(db: &Connection) -> Result<(), InboxError> {
    ensure_meta(db)?;
    now::kept(db)?;
    Routes::default().refresh(db)?;
    sources::all(db)?;
    targets::all(db)?;
    tunnels::all(db)?;
    retention::Policy::read(db)?;
    retention::retention(db)?;
    saved_searches::all(db)?;
    job_rows::all_jobs(db)
}

/// Fails if a row of `meta` is missing that each inbox has, or if it holds something else than there.
fn ensure_meta(db: &Connection) -> Result<(), InboxError> {
    let (ours, theirs) = (meta_types(&schema::fresh()?)?, meta_types(db)?);
    let is_bad = |key: &str, kind: &String| match theirs.get(key) {
        Some(found) => found != kind,
        None => key != GOES,
    };
    if let Some((key, _)) = ours.iter().find(|(key, kind)| is_bad(key, kind)) {
        return Err(InboxError::Damaged(format!("its {key} can't be read")));
    }
    const LAST: &str = "SELECT max((SELECT value FROM meta WHERE key = 'last_seq'),
        coalesce((SELECT max(seq) FROM event), 0))";
    let last: i64 = db.query_row(LAST, [], |row| row.get(0))?;
    if last < NUMBERS {
        Ok(())
    } else {
        Err(InboxError::Damaged("it has no number left for an event".to_owned()))
    }
}

/// Returns the type of each row of `meta`.
fn meta_types(db: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut select = db.prepare("SELECT key, typeof(value) FROM meta")?;
    let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.collect()
}
