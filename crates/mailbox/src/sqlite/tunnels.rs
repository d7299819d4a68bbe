//! Opens, finds and shuts tunnels.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    boxes::{MailBox, Member},
    offers,
    trouble::{Trouble, no_token, no_tunnel},
    writer::Batch,
};
use crate::{COUNTED, DeviceKey, MailboxError, NewTunnel, Tunnel, age::Moment};

/// The `shut` value of a tunnel whose token was revoked.
pub(super) const REVOKED: i64 = 1;

/// The `shut` value of a tunnel whose last device is gone.
pub(super) const LEFT: i64 = 2;

/// How many tunnels a file may ever have, because their ids share 63 bits with the positions of letters.
const MOST: i64 = 1 << 23;

/// Opens a tunnel with its first device.
pub(super) fn open(batch: &mut Batch<'_>, tunnel: &NewTunnel, now: Moment) -> Result<(), Trouble> {
    let NewTunnel { name, token, device, .. } = tunnel;
    let db = batch.db;
    let most = "SELECT most_tunnels FROM token WHERE id = ?1 AND revoked_at IS NULL";
    let most: Option<u32> = db.prepare_cached(most)?.query_row([token], |row| row.get(0)).optional()?;
    let most = most.ok_or_else(|| no_token(token))?;
    let known = "SELECT id, token = ?2 AND NOT used FROM tunnel WHERE name = ?1";
    let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
    let known = db.prepare_cached(known)?.query_row((name, token), row);
    let id = match known.optional()? {
        Some((_, false)) => return Err(MailboxError::NameTaken(name.clone()).into()),
        known => known.map(|(id, _)| id),
    };
    if counted(db, token, id, now.store)? >= most {
        return Err(MailboxError::TooManyTunnels(most).into());
    }
    let id = match id {
        Some(id) => again(batch, id, tunnel, now.wall)?,
        None => first(db, tunnel, now.wall)?,
    };
    let member = Member { key: device.key, cursor: 0, there_at: now.store };
    add_device(db, id, &member, &device.name, now.wall)?;
    db.prepare_cached("UPDATE token SET used_at = ?2 WHERE id = ?1")?.execute((token, now.wall))?;
    batch.boxes.add(name, MailBox::new(id, member));
    batch.news.changed.push(name.clone());
    Ok(())
}

/// Returns how many tunnels of a token count against its limit, leaving out the tunnel `but`: those that are open, and
/// those that were shut within [`COUNTED`] before `now`, in store time.
fn counted(db: &Connection, token: &str, but: Option<i64>, now: i64) -> rusqlite::Result<u32> {
    const SQL: &str =
        "SELECT count(*) FROM tunnel WHERE token = ?1 AND id IS NOT ?2 AND (shut = 0 OR shut_at > ?3)";
    let row = (token, but, now.saturating_sub(COUNTED));
    db.prepare_cached(SQL)?.query_row(row, |row| row.get(0))
}

/// Stores a tunnel whose name was never used, and returns its id.
fn first(db: &Connection, tunnel: &NewTunnel, wall: i64) -> Result<i64, Trouble> {
    const SQL: &str = "INSERT INTO tunnel (name, token, sealing_key, shut, created_at, used, owner)
        VALUES (?1, ?2, ?3, 0, ?4, 0, ?5)";
    const MARK: &str = "INSERT INTO mark (tunnel, floor, cleared, cleared_bytes, refused, unknown)
        VALUES (?1, 0, 0, 0, 0, 0)";
    let last: Option<i64> = db.query_row("SELECT max(id) FROM tunnel", [], |row| row.get(0))?;
    if last.is_some_and(|last| last + 1 >= MOST) {
        return Err(
            MailboxError::Failed(format!("the store has had {MOST} tunnels, which is the limit")).into()
        );
    }
    let row = (&tunnel.name, &tunnel.token, &tunnel.sealing_key[..], wall, &tunnel.device.key[..]);
    db.prepare_cached(SQL)?.execute(row)?;
    let id = db.last_insert_rowid();
    db.prepare_cached(MARK)?.execute([id])?;
    Ok(id)
}

/// Reuses the row of a tunnel that was never in use: only its own token knew about it, and no letter ever waited there.
fn again(batch: &mut Batch<'_>, id: i64, tunnel: &NewTunnel, wall: i64) -> Result<i64, Trouble> {
    const SQL: &str =
        "UPDATE tunnel SET sealing_key = ?2, shut = 0, shut_at = NULL, created_at = ?3, owner = ?4
        WHERE id = ?1";
    let row = (id, &tunnel.sealing_key[..], wall, &tunnel.device.key[..]);
    batch.db.prepare_cached(SQL)?.execute(row)?;
    batch.db.prepare_cached("DELETE FROM device WHERE tunnel = ?1")?.execute([id])?;
    batch.db.prepare_cached("DELETE FROM invite WHERE tunnel = ?1")?.execute([id])?;
    batch.news.rung.insert(id, u64::MAX);
    Ok(id)
}

/// Stores a new device.
pub(super) fn add_device(
    db: &Connection,
    tunnel: i64,
    member: &Member,
    name: &str,
    wall: i64,
) -> rusqlite::Result<()> {
    const SQL: &str = "INSERT INTO device (tunnel, key, name, cursor, seen_at, joined_at, there_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
    let row = (tunnel, &member.key[..], name, member.cursor, wall, member.there_at);
    db.prepare_cached(SQL)?.execute(row).map(|_| ())
}

/// Marks a tunnel as used, because a device is connected or a letter arrives: its name is never given out again.
pub(super) fn keep_name(db: &Connection, mailbox: &mut MailBox) -> rusqlite::Result<()> {
    if !mailbox.used {
        db.prepare_cached("UPDATE tunnel SET used = 1 WHERE id = ?1")?.execute([mailbox.id])?;
        mailbox.used = true;
    }
    Ok(())
}

/// Shuts an open tunnel for good, at `now` in store time: its devices and letters are deleted. The name stays taken.
pub(super) fn shut(batch: &mut Batch<'_>, tunnel: &str, why: i64, now: i64) -> Result<(), Trouble> {
    let mailbox = batch.boxes.open(tunnel)?;
    let (id, newest) = (mailbox.id, mailbox.newest);
    let db = batch.db;
    db.prepare_cached("UPDATE tunnel SET shut = ?2, shut_at = ?3 WHERE id = ?1")?.execute((id, why, now))?;
    // So that what to delete is also known after a restart.
    db.prepare_cached("UPDATE mark SET floor = ?2 WHERE tunnel = ?1")?.execute((id, newest))?;
    db.prepare_cached("DELETE FROM device WHERE tunnel = ?1")?.execute([id])?;
    db.prepare_cached("DELETE FROM invite WHERE tunnel = ?1")?.execute([id])?;
    batch.boxes.shut(tunnel);
    batch.news.rung.insert(id, u64::MAX);
    batch.news.changed.push(tunnel.to_owned());
    Ok(())
}

/// Returns the file's count of changes to tunnels.
pub(super) fn config(db: &Connection) -> Result<i64, MailboxError> {
    let mut statement = db.prepare_cached("SELECT value FROM meta WHERE key = 'config'")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Returns a tunnel that is open, or one whose token was revoked.
pub(super) fn find(db: &Connection, name: &str) -> Result<Option<Tunnel>, MailboxError> {
    const SQL: &str = "SELECT id, token, sealing_key, shut FROM tunnel WHERE name = ?1 AND shut < 2";
    let found = db.prepare_cached(SQL)?.query_row([name], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)? == REVOKED))
    });
    let Some((id, token, sealing_key, revoked)) = found.optional()? else { return Ok(None) };
    let mut devices = db.prepare_cached("SELECT key, letters FROM device WHERE tunnel = ?1")?;
    let devices = devices.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let devices: Vec<(DeviceKey, u8)> = devices.collect::<rusqlite::Result<_>>()?;
    Ok(Some(Tunnel {
        name: name.to_owned(),
        token,
        sealing_key,
        sources: offers::of_tunnel(db, id)?,
        letters: devices.iter().map(|(_, letters)| *letters).min().unwrap_or(1),
        devices: devices.into_iter().map(|(key, _)| key).collect(),
        revoked,
    }))
}

/// Returns the id of an open tunnel.
pub(super) fn id(db: &Connection, name: &str) -> Result<i64, MailboxError> {
    const SQL: &str = "SELECT id FROM tunnel WHERE name = ?1 AND shut = 0";
    let id = db.prepare_cached(SQL)?.query_row([name], |row| row.get(0)).optional()?;
    id.ok_or_else(|| no_tunnel(name))
}
