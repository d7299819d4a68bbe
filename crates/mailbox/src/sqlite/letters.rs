//! Stores, acknowledges and counts letters.

use hookmitt_wire::{Depth, Parcel};
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    boxes::{MailBox, letter_id, newest},
    clear, put_times,
    refusals::Count,
    sweep,
    trouble::{Trouble, no_device, no_tunnel},
    tunnels,
    writer::Batch,
};
use crate::{DeviceKey, MailboxError, Quota, age::Moment};

/// Stores a letter at the end of its mailbox, and returns its position.
pub(super) fn put(
    batch: &mut Batch<'_>,
    tunnel: &str,
    parcel: &Parcel,
    quota: &Quota,
    now: Moment,
) -> Result<u64, Trouble> {
    const SQL: &str = "INSERT INTO letter (id, upto, received_at, number, held, epoch, data)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mailbox = batch.boxes.open(tunnel)?;
    let size = u64::try_from(parcel.data.len()).unwrap_or(u64::MAX);
    if let Err(full) = fits(mailbox, size, quota) {
        crowd_out(batch.db, mailbox, (size, now.wall), quota)?;
        fits(mailbox, size, quota).map_err(|_| full)?;
    }
    tunnels::keep_name(batch.db, mailbox)?;
    let position = mailbox.newest + 1;
    let upto = mailbox.newest_bytes + size;
    let (epoch, data) = (&parcel.epoch[..], &parcel.data[..]);
    let id = letter_id(mailbox.id, position);
    let row = (id, upto, parcel.received_at, parcel.number, parcel.held, epoch, data);
    batch.db.prepare_cached(SQL)?.execute(row)?;
    put_times::note(batch.db, mailbox, position, now.store)?;
    mailbox.newest = position;
    mailbox.newest_bytes = upto;
    batch.news.rung.insert(mailbox.id, position);
    batch.news.bytes += size;
    Ok(position)
}

fn fits(mailbox: &MailBox, size: u64, quota: &Quota) -> Result<(), MailboxError> {
    if mailbox.letters() >= quota.letters {
        return Err(MailboxError::QuotaFull("it already holds as many events as it may"));
    }
    if mailbox.bytes().saturating_add(size) > quota.bytes {
        return Err(MailboxError::QuotaFull("it already holds as many bytes as it may"));
    }
    Ok(())
}

/// Makes room by deleting letters that the most advanced device already has, because a slow or absent device must not
/// keep new letters from it (Threat 12). The others' counts say how many letters they lost. Deletes in small steps, and
/// only as much as needed.
fn crowd_out(
    db: &Connection,
    mailbox: &mut MailBox,
    (size, now): (u64, i64),
    quota: &Quota,
) -> rusqlite::Result<()> {
    const STEPS: usize = 16;
    let most = (quota.letters / 16).clamp(1, 128);
    for _ in 0..STEPS {
        let ahead = mailbox.members.iter().map(|member| member.cursor).max().unwrap_or(0);
        let done = mailbox.done();
        if size > quota.bytes || fits(mailbox, size, quota).is_ok() || ahead.max(done) <= mailbox.cleared {
            return Ok(());
        }
        if done == mailbox.cleared {
            sweep::give_up(db, mailbox, ahead.min(done + most), now)?;
        }
        clear::step(db, mailbox)?;
    }
    Ok(())
}

/// Moves a device's cursor forward, but not beyond the newest letter.
pub(super) fn ack(
    batch: &mut Batch<'_>,
    tunnel: &str,
    device: &DeviceKey,
    through: u64,
) -> Result<(), Trouble> {
    let mailbox = batch.boxes.open(tunnel)?;
    let (id, through) = (mailbox.id, through.min(mailbox.newest));
    let member = mailbox.member(device)?;
    if through <= member.cursor {
        return Ok(());
    }
    batch.db.prepare_cached("UPDATE device SET cursor = ?3 WHERE tunnel = ?1 AND key = ?2")?.execute((
        id,
        &device[..],
        through,
    ))?;
    member.cursor = through;
    batch.boxes.look_at(tunnel);
    Ok(())
}

/// Returns what waits for a device, and the newest position.
pub(super) fn depth(
    db: &Connection,
    tunnel: &str,
    device: &DeviceKey,
    count: Count,
) -> Result<(Depth, u64), MailboxError> {
    const TUNNEL: &str = "SELECT id, floor, cleared, cleared_bytes FROM tunnel JOIN mark ON tunnel = id
        WHERE name = ?1 AND shut = 0";
    const CURSOR: &str = "SELECT cursor, expired, expired_at FROM device WHERE tunnel = ?1 AND key = ?2";
    const FIRST: &str = "SELECT received_at, upto - length(data) FROM letter
        WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1";
    let found = db.prepare_cached(TUNNEL)?.query_row([tunnel], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?, (row.get(2)?, row.get(3)?)))
    });
    let (id, floor, cleared) = found.optional()?.ok_or_else(|| no_tunnel(tunnel))?;
    let known = db.prepare_cached(CURSOR)?.query_row((id, &device[..]), |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, u64>(1)?, row.get::<_, Option<i64>>(2)?))
    });
    let (cursor, expired, expired_at) = known.optional()?.ok_or_else(|| no_device(device))?;
    let after = floor.max(cursor);
    let (newest, upto) = newest(db, id)?.unwrap_or(cleared);
    let range = (letter_id(id, after), letter_id(id, u64::MAX));
    let first = db.prepare_cached(FIRST)?.query_row(range, |row| Ok((row.get(0)?, row.get(1)?)));
    let first: Option<(i64, u64)> = first.optional()?;
    let Count { refused, refused_at, unknown } = count;
    let depth = Depth {
        letters: newest.saturating_sub(after),
        bytes: first.map_or(0, |(_, before)| upto.saturating_sub(before)),
        oldest: first.map(|(received_at, _)| received_at),
        refused: refused + expired,
        refused_at: refused_at.max(expired_at),
        unknown,
    };
    Ok((depth, newest))
}
