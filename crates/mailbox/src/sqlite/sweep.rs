//! House-keeping: removes letters that are too old, devices that were idle for too long, and expired codes.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::{boxes::MailBox, devices, put_times, trouble::Trouble, writer::Batch};
use crate::{
    DeviceKey, Quota,
    age::{Moment, Note, micros},
    short,
};

/// How long one step may delay letters.
const STEP: Duration = Duration::from_millis(5);

/// The file is shrunk if at least this many bytes of it, and at least half of it, are empty.
const EMPTY: u64 = 16 * 1024 * 1024;

/// Letters put, and devices last seen, at or after these store times are kept.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    letters: i64,
    devices: i64,
    now: Moment,
}

impl Limits {
    pub(super) fn new(quota: &Quota, note: &Note, now: Moment) -> Self {
        let letters = now.store.saturating_sub(micros(quota.age));
        Self { letters, devices: note.idle_before(quota.idle), now }
    }
}

/// Deletes expired codes, has the counts of refusals written, and returns the names of the tunnels to sweep.
pub(super) fn begin(batch: &mut Batch<'_>, now: Moment) -> Result<Vec<String>, Trouble> {
    const SQL: &str = "DELETE FROM invite WHERE until <= ?1 OR store_until <= ?2";
    batch.db.prepare_cached(SQL)?.execute((now.wall, now.store))?;
    batch.news.at_once = true;
    Ok(batch.boxes.names())
}

/// Sweeps some tunnels, starting at the end of the list. Returns how many are left.
pub(super) fn step(batch: &mut Batch<'_>, tunnels: &[String], limits: Limits) -> Result<usize, Trouble> {
    let started = Instant::now();
    let mut left = tunnels.len();
    while left > 0 && started.elapsed() < STEP {
        sweep(batch, &tunnels[left - 1], limits)?;
        left -= 1;
    }
    Ok(left)
}

fn sweep(batch: &mut Batch<'_>, tunnel: &str, limits: Limits) -> Result<(), Trouble> {
    // The tunnel may have been shut since the list was made.
    let Ok(mailbox) = batch.boxes.open(tunnel) else { return Ok(()) };
    // Idle devices go first, so that letters which waited only for them are not counted as lost.
    let idle = mailbox.members.iter().filter(|member| member.there_at < limits.devices);
    let idle: Vec<DeviceKey> = idle.map(|member| member.key).collect();
    for device in &idle {
        tracing::warn!(tunnel = short(tunnel), "a device was away for too long and has expired");
        devices::leave(batch, tunnel, device, limits.now.store)?;
    }
    let Ok(mailbox) = batch.boxes.open(tunnel) else { return Ok(()) };
    let done = mailbox.done();
    let floor = put_times::too_old(batch.db, mailbox, limits.letters)?;
    if floor > done {
        give_up(batch.db, mailbox, floor, limits.now.wall)?;
        let letters = floor - done;
        tracing::warn!(tunnel = short(tunnel), letters, "events waited for too long and were deleted");
        batch.boxes.look_at(tunnel);
    }
    Ok(())
}

/// Gives up the letters up to a position, and counts them as lost for each device that does not have them.
pub(super) fn give_up(db: &Connection, mailbox: &mut MailBox, floor: u64, wall: i64) -> rusqlite::Result<()> {
    const MARK: &str = "UPDATE mark SET floor = ?2 WHERE tunnel = ?1";
    const SQL: &str =
        "UPDATE device SET expired = expired + ?3, expired_at = ?4 WHERE tunnel = ?1 AND key = ?2";
    db.prepare_cached(MARK)?.execute((mailbox.id, floor))?;
    for member in &mailbox.members {
        let lost = floor.saturating_sub(member.cursor.max(mailbox.floor));
        if lost > 0 {
            db.prepare_cached(SQL)?.execute((mailbox.id, &member.key[..], lost, wall))?;
        }
    }
    mailbox.floor = floor;
    Ok(())
}

/// Returns some of the empty space of a mostly empty file to the system. Returns whether there is more to return.
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
