//! Tunnels are opened, found and shut.

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    boxes::{MailBox, Member},
    offers,
    tokens::no_token,
    trouble::{Trouble, no_tunnel},
    writer::Batch,
};
use crate::{MailboxError, NewTunnel, Tunnel};

/// Why a tunnel is shut: its token was revoked.
pub(super) const REVOKED: i64 = 1;

/// Why a tunnel is shut: its last device is gone.
pub(super) const LEFT: i64 = 2;

/// The most tunnels that a file may ever have: their ids share 63 bits with the positions.
const MOST: i64 = 1 << 23;

/// Opens a tunnel with its first device.
pub(super) fn open(batch: &mut Batch<'_>, tunnel: &NewTunnel, now: i64) -> Result<(), Trouble> {
    const SQL: &str = "INSERT INTO tunnel (name, token, sealing_key, shut, created_at)
        VALUES (?1, ?2, ?3, 0, ?4)";
    const MARK: &str = "INSERT INTO mark (tunnel, floor, cleared, cleared_bytes, refused, unknown)
        VALUES (?1, 0, 0, 0, 0, 0)";
    let NewTunnel { name, token, sealing_key, device } = tunnel;
    let db = batch.db;
    let most = "SELECT most_tunnels FROM token WHERE id = ?1 AND revoked_at IS NULL";
    let most: Option<u32> = db.prepare_cached(most)?.query_row([token], |row| row.get(0)).optional()?;
    let most = most.ok_or_else(|| no_token(token))?;
    if db.prepare_cached("SELECT 1 FROM tunnel WHERE name = ?1")?.exists([name])? {
        return Err(MailboxError::NameTaken(name.clone()).into());
    }
    let open = "SELECT count(*) FROM tunnel WHERE token = ?1 AND shut = 0";
    if db.prepare_cached(open)?.query_row([token], |row| row.get::<_, u32>(0))? >= most {
        return Err(MailboxError::TooManyTunnels(most).into());
    }
    let last: Option<i64> = db.query_row("SELECT max(id) FROM tunnel", [], |row| row.get(0))?;
    if last.is_some_and(|last| last + 1 >= MOST) {
        return Err(
            MailboxError::Failed(format!("the file has had {MOST} tunnels, and takes no more")).into()
        );
    }
    db.prepare_cached(SQL)?.execute((name, token, &sealing_key[..], now))?;
    let id = db.last_insert_rowid();
    db.prepare_cached(MARK)?.execute([id])?;
    let member = Member { key: device.key, cursor: 0, seen_at: now };
    super::devices::insert(db, id, &member, &device.name)?;
    db.prepare_cached("UPDATE token SET used_at = ?2 WHERE id = ?1")?.execute((token, now))?;
    batch.boxes.add(name, MailBox::new(id, member));
    batch.news.changed.push(name.clone());
    Ok(())
}

/// Shuts an open tunnel for good: its devices go, and its letters with them. The name stays taken.
pub(super) fn shut(batch: &mut Batch<'_>, tunnel: &str, why: i64) -> Result<(), Trouble> {
    let mailbox = batch.boxes.open(tunnel)?;
    let (id, newest) = (mailbox.id, mailbox.newest);
    let db = batch.db;
    db.prepare_cached("UPDATE tunnel SET shut = ?2 WHERE id = ?1")?.execute((id, why))?;
    // What is to be deleted is known after a restart, too.
    db.prepare_cached("UPDATE mark SET floor = ?2 WHERE tunnel = ?1")?.execute((id, newest))?;
    db.prepare_cached("DELETE FROM device WHERE tunnel = ?1")?.execute([id])?;
    db.prepare_cached("DELETE FROM invite WHERE tunnel = ?1")?.execute([id])?;
    batch.boxes.shut(tunnel);
    batch.news.rung.insert(id, u64::MAX);
    batch.news.changed.push(tunnel.to_owned());
    Ok(())
}

/// The file's count of changes to tunnels.
pub(super) fn config(db: &Connection) -> Result<i64, MailboxError> {
    let mut statement = db.prepare_cached("SELECT value FROM meta WHERE key = 'config'")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// A tunnel that is open, or whose token was revoked.
pub(super) fn find(db: &Connection, name: &str) -> Result<Option<Tunnel>, MailboxError> {
    const SQL: &str = "SELECT id, sealing_key, shut FROM tunnel WHERE name = ?1 AND shut < 2";
    let found = db
        .prepare_cached(SQL)?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? == REVOKED)));
    let Some((id, sealing_key, revoked)) = found.optional()? else { return Ok(None) };
    Ok(Some(Tunnel { name: name.to_owned(), sealing_key, sources: offers::of_tunnel(db, id)?, revoked }))
}

/// The id of an open tunnel.
pub(super) fn id(db: &Connection, name: &str) -> Result<i64, MailboxError> {
    const SQL: &str = "SELECT id FROM tunnel WHERE name = ?1 AND shut = 0";
    let id = db.prepare_cached(SQL)?.query_row([name], |row| row.get(0)).optional()?;
    id.ok_or_else(|| no_tunnel(name))
}
