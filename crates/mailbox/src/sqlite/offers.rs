//! The sources that each device of a tunnel takes.

use hookmitt_wire::SourceOffer;
use rusqlite::{Connection, types::Type};

use super::{trouble::Trouble, writer::Batch};
use crate::{DeviceKey, MailboxError, offers};

/// Replaces the sources that a device takes.
pub(super) fn set(
    batch: &mut Batch<'_>,
    tunnel: &str,
    device: &DeviceKey,
    sources: &[SourceOffer],
) -> Result<(), Trouble> {
    // Writes only if something changed, because every app sends its sources each time it connects.
    const SQL: &str = "UPDATE device SET sources = ?3 WHERE tunnel = ?1 AND key = ?2 AND sources <> ?3";
    let mailbox = batch.boxes.open(tunnel)?;
    let id = mailbox.id;
    mailbox.member(device)?;
    let text = serde_json::to_string(sources).map_err(|why| MailboxError::Failed(why.to_string()))?;
    if batch.db.prepare_cached(SQL)?.execute((id, &device[..], text))? > 0 {
        batch.news.changed.push(tunnel.to_owned());
    }
    Ok(())
}

/// Returns the sources that a tunnel takes.
pub(super) fn of_tunnel(db: &Connection, id: i64) -> rusqlite::Result<Vec<SourceOffer>> {
    const SQL: &str = "SELECT sources FROM device WHERE tunnel = ?1 ORDER BY joined_at, key";
    let mut statement = db.prepare_cached(SQL)?;
    let devices = statement.query_map([id], |row| {
        let sources = serde_json::from_str(row.get_ref(0)?.as_str()?);
        sources.map_err(|why| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(why)))
    })?;
    let devices = devices.collect::<rusqlite::Result<Vec<Vec<SourceOffer>>>>()?;
    Ok(offers::of_all(devices.iter().map(Vec::as_slice)))
}
