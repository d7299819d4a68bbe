//! Whether a file has the schema of an inbox and nothing else: a trigger or a view that somebody else added would change
//! what is stored, and a missing index would let in what it keeps out.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::{InboxError, schema};

/// What SQLite itself adds when somebody has it look at the tables. It has no say in what is stored.
const STATISTICS: &str = "type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat3', 'sqlite_stat4')";

/// What a schema has, by type and name: the table that it belongs to, and the SQL that made it.
type Parts = BTreeMap<(String, String), (String, Option<String>)>;

/// Fails if a file, which has had all migrations, differs from one that was made by them.
pub(crate) fn ensure_same(db: &Connection) -> Result<(), InboxError> {
    let (ours, theirs) = (parts(&schema::fresh()?)?, parts(db)?);
    let mut all = ours.keys().chain(theirs.keys());
    let differs = all.find(|part| ours.get(*part) != theirs.get(*part));
    let Some(part @ (kind, name)) = differs else { return Ok(()) };
    let how = match (ours.contains_key(part), theirs.contains_key(part)) {
        (true, false) => "is missing",
        (false, _) => "doesn't belong there",
        (true, true) => "isn't as hookmitt made it",
    };
    Err(InboxError::Damaged(format!("its {kind} {name} {how}")))
}

fn parts(db: &Connection) -> rusqlite::Result<Parts> {
    let sql = format!("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE NOT ({STATISTICS})");
    let mut select = db.prepare(&sql)?;
    let found = select.query_map([], |row| {
        let sql: Option<String> = row.get(3)?;
        Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, sql.as_deref().map(normal))))
    })?;
    found.collect()
}

/// Returns SQL with one space wherever a line has several. The lines stay, because a comment ends with its line.
fn normal(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
