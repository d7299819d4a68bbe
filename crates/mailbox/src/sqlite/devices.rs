//! Devices join a tunnel, report that they are connected, and leave.

use std::time::Duration;

use rusqlite::Connection;

use super::{
    boxes::Member,
    trouble::{Trouble, no_device},
    tunnels,
    writer::Batch,
};
use crate::{
    Device, DeviceKey, MailboxError, NewDevice, Revocation,
    age::{Moment, micros},
    model::MOST_INVITES,
};

/// How old the stored time of a device's last connection must be, in microseconds, before [`seen`] writes it again. A
/// relay calls `seen` about once a minute for each connected device.
const SEEN_EVERY: i64 = 60_000_000;

/// Stores a code with which a device may join. If there are too many codes, the one that expires first is deleted.
pub(super) fn add_invite(
    batch: &mut Batch<'_>,
    tunnel: &str,
    code: &[u8; 32],
    lasting: Duration,
    now: Moment,
) -> Result<i64, Trouble> {
    const SQL: &str = "INSERT INTO invite (code, tunnel, until, store_until) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (code) DO UPDATE SET tunnel = excluded.tunnel, until = excluded.until,
            store_until = excluded.store_until";
    const FEW: &str = "DELETE FROM invite WHERE tunnel = ?1 AND code NOT IN
        (SELECT code FROM invite WHERE tunnel = ?1 ORDER BY store_until DESC LIMIT ?2)";
    let id = batch.boxes.open(tunnel)?.id;
    let [until, store_until] = [now.wall, now.store].map(|now| now.saturating_add(micros(lasting)));
    batch.db.prepare_cached(SQL)?.execute((&code[..], id, until, store_until))?;
    batch.db.prepare_cached(FEW)?.execute((id, MOST_INVITES))?;
    Ok(until)
}

/// Refuses an invalid code without using the writer, because anybody can try codes.
pub(super) fn try_code(
    db: &Connection,
    tunnel: &str,
    code: &[u8; 32],
    now: Moment,
) -> Result<(), MailboxError> {
    is_good(db, (tunnels::id(db, tunnel)?, tunnel), code, now)
}

fn is_good(
    db: &Connection,
    (id, tunnel): (i64, &str),
    code: &[u8; 32],
    now: Moment,
) -> Result<(), MailboxError> {
    const IS_GOOD: &str = "SELECT 1 FROM invite WHERE code = ?1 AND tunnel = ?2
        AND until > ?3 AND store_until > ?4";
    if db.prepare_cached(IS_GOOD)?.exists((&code[..], id, now.wall, now.store))? {
        return Ok(());
    }
    Err(MailboxError::Unknown { what: "code", name: format!("for {tunnel}") })
}

/// Registers a device by a code, which is used up. A device that already takes part stays unchanged.
pub(super) fn join(
    batch: &mut Batch<'_>,
    tunnel: &str,
    code: &[u8; 32],
    device: &NewDevice,
    most: usize,
    now: Moment,
) -> Result<bool, Trouble> {
    const USE: &str = "DELETE FROM invite WHERE code = ?1";
    let mailbox = batch.boxes.open(tunnel)?;
    is_good(batch.db, (mailbox.id, tunnel), code, now)?;
    let is_there = mailbox.member(&device.key).is_ok();
    if !is_there && mailbox.members.len() >= most {
        return Err(MailboxError::TooManyDevices(most).into());
    }
    batch.db.prepare_cached(USE)?.execute([&code[..]])?;
    if is_there {
        return Ok(false);
    }
    let member = Member { key: device.key, cursor: mailbox.newest, there_at: now.store };
    tunnels::add_device(batch.db, mailbox.id, &member, &device.name, now.wall)?;
    mailbox.members.push(member);
    batch.news.changed.push(tunnel.to_owned());
    Ok(true)
}

/// Records which letters a device reads, and the proof that it was invited.
pub(super) fn introduce(
    batch: &mut Batch<'_>,
    tunnel: &str,
    device: &DeviceKey,
    letters: u8,
    proof: &[u8; 32],
) -> Result<(), Trouble> {
    // Writes only if something changed, because every app introduces itself each time it connects.
    const SQL: &str = "UPDATE device SET letters = ?3, proof = ?4
        WHERE tunnel = ?1 AND key = ?2 AND (letters <> ?3 OR proof IS NOT ?4)";
    let mailbox = batch.boxes.open(tunnel)?;
    let id = mailbox.id;
    mailbox.member(device)?;
    if batch.db.prepare_cached(SQL)?.execute((id, &device[..], letters, &proof[..]))? > 0 {
        batch.news.changed.push(tunnel.to_owned());
    }
    Ok(())
}

/// Revokes a device on behalf of the owner, and replaces the sealing key.
pub(super) fn revoke(
    batch: &mut Batch<'_>,
    tunnel: &str,
    by: &DeviceKey,
    revocation: &Revocation,
) -> Result<(), Trouble> {
    const KEYS: &str = "SELECT sealing_key, owner FROM tunnel WHERE id = ?1";
    const TURN: &str = "UPDATE tunnel SET sealing_key = ?2 WHERE id = ?1";
    const NOTE: &str = "UPDATE device SET note = ?3 WHERE tunnel = ?1 AND key = ?2";
    let Revocation { device, before, sealing_key, notes } = revocation;
    let mailbox = batch.boxes.open(tunnel)?;
    let (id, db) = (mailbox.id, batch.db);
    let (key, owner): ([u8; 32], Option<DeviceKey>) =
        db.prepare_cached(KEYS)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if owner != Some(*by) || device == by {
        return Err(MailboxError::NotOwner.into());
    }
    mailbox.member(device)?;
    let members: Vec<_> = mailbox.members.iter().map(|member| member.key).collect();
    if key != *before || !revocation.knows(&members) {
        return Err(MailboxError::Changed.into());
    }
    leave(batch, tunnel, device, 0)?; // 0 is never used as a time: the owner stays, so the tunnel is not shut
    db.prepare_cached("DELETE FROM invite WHERE tunnel = ?1")?.execute([id])?;
    db.prepare_cached(TURN)?.execute((id, &sealing_key[..]))?;
    for (device, note) in notes {
        db.prepare_cached(NOTE)?.execute((id, &device[..], &note[..]))?;
    }
    Ok(())
}

/// Returns a tunnel's devices, in the order of their keys.
pub(super) fn all(db: &Connection, tunnel: &str) -> Result<Vec<Device>, MailboxError> {
    const SQL: &str =
        "SELECT key, device.name, cursor, seen_at, joined_at, letters, proof, note, key IS owner
        FROM device JOIN tunnel ON device.tunnel = id WHERE device.tunnel = ?1 ORDER BY key";
    let mut statement = db.prepare_cached(SQL)?;
    let devices = statement.query_map([tunnels::id(db, tunnel)?], |row| {
        Ok(Device {
            key: row.get(0)?,
            name: row.get(1)?,
            cursor: row.get(2)?,
            seen_at: row.get(3)?,
            joined_at: row.get(4)?,
            letters: row.get(5)?,
            proof: row.get(6)?,
            note: row.get::<_, Vec<u8>>(7)?.into(),
            is_owner: row.get(8)?,
        })
    });
    Ok(devices?.collect::<rusqlite::Result<_>>()?)
}

/// Records that a device is connected just now.
pub(super) fn seen(
    batch: &mut Batch<'_>,
    tunnel: &str,
    device: &DeviceKey,
    now: Moment,
) -> Result<(), Trouble> {
    const SQL: &str = "UPDATE device SET seen_at = ?3, there_at = ?4 WHERE tunnel = ?1 AND key = ?2";
    let mailbox = batch.boxes.open(tunnel)?;
    let id = mailbox.id;
    mailbox.member(device)?;
    tunnels::keep_name(batch.db, mailbox)?;
    let member = mailbox.member(device)?;
    if now.store - member.there_at >= SEEN_EVERY {
        batch.db.prepare_cached(SQL)?.execute((id, &device[..], now.wall, now.store))?;
        member.there_at = now.store;
    }
    Ok(())
}

/// Removes a device. With the last one the tunnel is shut, at `now` in store time.
pub(super) fn leave(
    batch: &mut Batch<'_>,
    tunnel: &str,
    device: &DeviceKey,
    now: i64,
) -> Result<(), Trouble> {
    const SQL: &str = "DELETE FROM device WHERE tunnel = ?1 AND key = ?2";
    let mailbox = batch.boxes.open(tunnel)?;
    let place = mailbox.members.iter().position(|member| member.key == *device);
    let place = place.ok_or_else(|| no_device(device))?;
    if mailbox.members.len() == 1 {
        return tunnels::shut(batch, tunnel, tunnels::LEFT, now);
    }
    batch.db.prepare_cached(SQL)?.execute((mailbox.id, &device[..]))?;
    mailbox.members.remove(place);
    batch.boxes.look_at(tunnel);
    batch.news.changed.push(tunnel.to_owned());
    Ok(())
}
