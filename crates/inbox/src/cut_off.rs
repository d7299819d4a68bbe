//! Attempts whose process ended before their outcome was written. It is not known whether they arrived.

use hookmitt_event::{DeliveryState, TargetId};
use rusqlite::{Connection, Row, params};

use crate::{
    Inbox, InboxError, TargetSettings, batch::Batch, deliveries::is_deleted, now::Now, reasons::DELETED,
};

/// The error text of such an attempt.
const ERROR: &str = "hookmitt stopped before an answer arrived";

/// How many attempts are settled in one commit.
const AT_ONCE: usize = 256;

impl Inbox {
    /// Turns each claim that a process left behind into an attempt without an answer, which counts. The delivery waits
    /// for its next attempt, or becomes a dead letter if that was its last. `target` is a target whose claims nobody
    /// works on. `None` stands for all targets, for a process that has just become the one that delivers. Returns how
    /// many claims there were.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn settle_cut_off(&self, target: Option<TargetId>) -> Result<usize, InboxError> {
        let mut settled = 0;
        loop {
            let some = self.write(move |batch| settle(batch, target)).await?;
            settled += some;
            if some < AT_ONCE {
                return Ok(settled);
            }
        }
    }
}

struct CutOff {
    event: i64,
    number: u32,
    attempts: u32,
    claimed_at: Option<i64>,
    settings: Option<String>,
}

fn settle(batch: &mut Batch<'_>, target: Option<TargetId>) -> Result<usize, InboxError> {
    const FIND: &str = "SELECT d.event, d.number, d.attempts, d.claimed_at, t.settings
        FROM delivery d INDEXED BY delivery_claimed LEFT JOIN target t ON t.id = d.target
        WHERE d.state = 1 AND d.target = coalesce(?1, d.target) LIMIT ?2";
    let read = |row: &Row<'_>| {
        Ok(CutOff {
            event: row.get(0)?,
            number: row.get(1)?,
            attempts: row.get(2)?,
            claimed_at: row.get(3)?,
            settings: row.get(4)?,
        })
    };
    let (db, now) = (batch.db, batch.now);
    let mut select = db.prepare_cached(FIND)?;
    let found = select.query_map(params![target.map(|target| target.0), AT_ONCE], read)?;
    let found: Vec<_> = found.collect::<Result<_, _>>()?;
    for one in &found {
        batch.arriving.hours.note(db, one.event)?;
        settle_one(db, one, now)?;
    }
    Ok(found.len())
}

fn settle_one(db: &Connection, one: &CutOff, now: Now) -> Result<(), InboxError> {
    const KEEP: &str =
        "INSERT INTO attempt (event, delivery, number, started_at, duration, error, truncated, body, sent)
        VALUES (?1, ?2, ?3, ?4, 0, ?5, 0, x'', 1) ON CONFLICT DO NOTHING";
    const END: &str = "UPDATE delivery SET state = ?3, claim = NULL, claimed_at = NULL, attempts = ?4,
        last_error = ?5, ended_at = ?6 WHERE event = ?1 AND number = ?2";
    let CutOff { event, number, attempts, claimed_at, settings } = one;
    let settings: TargetSettings =
        settings.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let made = attempts + 1;
    let (state, why) = match made >= settings.attempts {
        true => (DeliveryState::DeadLetter, ERROR),
        false if is_deleted(db, *event)? => (DeliveryState::Skipped, DELETED),
        false => (DeliveryState::Pending, ERROR),
    };
    let ended = (state != DeliveryState::Pending).then_some(now.wall);
    let started = claimed_at.unwrap_or(now.wall);
    db.prepare_cached(KEEP)?.execute(params![event, number, made, started, ERROR])?;
    db.prepare_cached(END)?.execute(params![event, number, state as i64, made, why, ended])?;
    Ok(())
}
