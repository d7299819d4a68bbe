//! Which targets a source's events go to, as the writer has it in memory, and the version of the settings that this is
//! from.

use hookmitt_event::TargetId;
use rusqlite::Connection;

use crate::InboxError;

/// The targets, each with the source whose events it gets, as last read by the writer.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    version: Option<i64>,
    targets: Vec<(TargetId, Option<i64>)>,
}

impl Routes {
    /// Reads the targets again if any process has changed the settings.
    pub(crate) fn refresh(&mut self, db: &Connection) -> Result<(), InboxError> {
        const SQL: &str = "SELECT id, source FROM target WHERE removed_at IS NULL AND kind < 2 ORDER BY id";
        let version = config_version(db)?;
        if self.version == Some(version) {
            return Ok(());
        }
        let mut select = db.prepare_cached(SQL)?;
        let found = select.query_map([], |row| Ok((TargetId(row.get(0)?), row.get(1)?)))?;
        self.targets = found.collect::<Result<_, _>>()?;
        self.version = Some(version);
        Ok(())
    }

    /// Returns the targets of a source, which is given by its row.
    pub(crate) fn of(&self, source: i64) -> Vec<TargetId> {
        let wanted = |of: &Option<i64>| of.is_none_or(|of| of == source);
        self.targets.iter().filter(|(_, of)| wanted(of)).map(|(id, _)| *id).collect()
    }
}

/// Returns how many changes were made to sources, targets and tunnels.
pub(crate) fn config_version(db: &Connection) -> Result<i64, InboxError> {
    const SQL: &str = "SELECT value FROM meta WHERE key = 'config'";
    Ok(db.prepare_cached(SQL)?.query_row([], |row| row.get(0))?)
}

/// Counts a change to sources, targets or tunnels.
pub(crate) fn configured(db: &Connection) -> Result<(), InboxError> {
    db.prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'config'")?.execute([])?;
    Ok(())
}
