//! House-keeping: letters that are too old, devices that were idle for too long, codes whose time is over.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::{
    boxes::{MailBox, letter_id, position_of},
    devices,
    trouble::Trouble,
    writer::Batch,
};
use crate::{DeviceKey, Quota, short};

/// How long one step may keep letters waiting.
const STEP: Duration = Duration::from_millis(5);

/// How many letters are looked over in one step.
const LETTERS: u64 = 1_000;

/// So much of the file must be empty, and half of it, before it is given back to the system.
const EMPTY: u64 = 16 * 1024 * 1024;

/// From when on letters, and devices, are young enough.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    letters: i64,
    devices: i64,
    now: i64,
}

impl Limits {
    pub(super) fn new(quota: &Quota, now: i64) -> Self {
        let before = |age: Duration| now.saturating_sub(i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
        Self { letters: before(quota.age), devices: before(quota.idle), now }
    }
}

/// Forgets codes whose time is over, writes what was refused, and answers which tunnels there are to be swept.
pub(super) fn begin(batch: &mut Batch<'_>, now: i64) -> Result<Vec<String>, Trouble> {
    batch.db.prepare_cached("DELETE FROM invite WHERE until <= ?1")?.execute([now])?;
    batch.news.at_once = true;
    Ok(batch.boxes.names())
}

/// Sweeps some tunnels, the last of the list first; answers how many are left.
pub(super) fn step(batch: &mut Batch<'_>, tunnels: &[String], limits: Limits) -> Result<usize, Trouble> {
    let started = Instant::now();
    let mut left = tunnels.len();
    while left > 0 && started.elapsed() < STEP {
        if sweep(batch, &tunnels[left - 1], limits)? {
            left -= 1;
        }
    }
    Ok(left)
}

/// Sweeps one tunnel; answers whether it is done.
fn sweep(batch: &mut Batch<'_>, tunnel: &str, limits: Limits) -> Result<bool, Trouble> {
    // It may have been shut since the list was made.
    let Ok(mailbox) = batch.boxes.open(tunnel) else { return Ok(true) };
    // First the devices: what waited only for one that is forgotten is not lost to anybody.
    let idle = mailbox.members.iter().filter(|member| member.seen_at < limits.devices);
    let idle: Vec<DeviceKey> = idle.map(|member| member.key).collect();
    for device in &idle {
        tracing::warn!(tunnel = short(tunnel), "a device was away for too long and is forgotten");
        devices::leave(batch, tunnel, device, limits.now)?;
    }
    let Ok(mailbox) = batch.boxes.open(tunnel) else { return Ok(true) };
    let done = mailbox.done();
    let floor = too_old(batch.db, mailbox, limits.letters)?;
    if floor > done {
        give_up(batch.db, mailbox, floor, limits.now)?;
        let letters = floor - done;
        tracing::warn!(tunnel = short(tunnel), letters, "letters waited for too long and are deleted");
        batch.boxes.look_at(tunnel);
    }
    Ok(floor - done < LETTERS)
}

/// Gives up the letters up to a position, and counts them for each device that does not have them.
pub(super) fn give_up(db: &Connection, mailbox: &mut MailBox, floor: u64, now: i64) -> rusqlite::Result<()> {
    const MARK: &str = "UPDATE mark SET floor = ?2 WHERE tunnel = ?1";
    const SQL: &str =
        "UPDATE device SET expired = expired + ?3, expired_at = ?4 WHERE tunnel = ?1 AND key = ?2";
    db.prepare_cached(MARK)?.execute((mailbox.id, floor))?;
    for member in &mailbox.members {
        let lost = floor.saturating_sub(member.cursor.max(mailbox.floor));
        if lost > 0 {
            db.prepare_cached(SQL)?.execute((mailbox.id, &member.key[..], lost, now))?;
        }
    }
    mailbox.floor = floor;
    Ok(())
}

/// The position up to which the letters that still wait are too old, looking over so many at most.
fn too_old(db: &Connection, mailbox: &MailBox, young: i64) -> rusqlite::Result<u64> {
    const SQL: &str = "SELECT id, received_at FROM letter WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3";
    let mut last = mailbox.done();
    let range = (letter_id(mailbox.id, last), letter_id(mailbox.id, mailbox.newest), LETTERS);
    let mut statement = db.prepare_cached(SQL)?;
    let mut rows = statement.query(range)?;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? >= young {
            break;
        }
        last = position_of(row.get(0)?);
    }
    Ok(last)
}

/// Gives a little of a file that is mostly empty back to the system; answers whether there is more to give.
pub(super) fn shrink(batch: &mut Batch<'_>) -> Result<bool, Trouble> {
    const PAGES: u64 = 64;
    let number = |pragma| batch.db.pragma_query_value(None, pragma, |row| row.get::<_, u64>(0));
    let page = number("page_size")?;
    let started = Instant::now();
    while started.elapsed() < STEP {
        let empty = number("freelist_count")?;
        if empty * page < EMPTY || empty * 2 < number("page_count")? {
            return Ok(false);
        }
        batch.db.execute_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        batch.news.bytes += PAGES * page;
    }
    Ok(true)
}
