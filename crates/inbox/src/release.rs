//! Deliveries that a rejecting source held back until there was a verdict: sent now, or rejected.

use hookmitt_event::{OnDuplicate, TargetId, Verdict};
use rusqlite::{Connection, params};

use crate::{
    InboxError,
    first_key::First,
    now::Now,
    reasons::{AWAITS, LATE, LONGEST_WAIT_US, REJECTED},
    routing::{Duplicate, is_stale, skip_reason},
    rows::STALE,
};

/// What becomes of the deliveries that wait for their event's verdict.
#[derive(Clone, Copy, Debug)]
pub enum HeldBack {
    /// They go on waiting.
    Wait,
    /// They are sent, unless the event duplicates one that their target has or gets.
    Send {
        /// What the source does with a duplicate.
        on_duplicate: OnDuplicate,
    },
    /// They are not sent.
    Reject,
}

/// Settles the deliveries of an event that wait for its verdict. `first` is the event that it duplicates, if any.
/// Returns the targets that get the event now.
pub(crate) fn settle(
    db: &Connection,
    seq: i64,
    held: HeldBack,
    by_content: bool,
    first: Option<&First>,
    now: Now,
) -> Result<Vec<TargetId>, InboxError> {
    match held {
        HeldBack::Wait => Ok(Vec::new()),
        HeldBack::Reject => {
            const SQL: &str =
                "UPDATE delivery SET last_error = ?3 WHERE event = ?1 AND state = 5 AND last_error = ?2";
            db.prepare_cached(SQL)?.execute(params![seq, AWAITS, REJECTED])?;
            Ok(Vec::new())
        }
        HeldBack::Send { on_duplicate } => {
            let repeat = Duplicate { verdict: Verdict::Valid, by_content, on_duplicate, rejects: true };
            send(db, seq, &repeat, first, now)
        }
    }
}

fn send(
    db: &Connection,
    seq: i64,
    repeat: &Duplicate,
    first: Option<&First>,
    now: Now,
) -> Result<Vec<TargetId>, InboxError> {
    const FIND: &str =
        "SELECT d.number, d.target, coalesce(d.due_at, d.ended_at + ?3, ?3), t.id IS NULL FROM delivery d
        LEFT JOIN target t ON t.id = d.target AND t.removed_at IS NULL
        WHERE d.event = ?1 AND d.state = 5 AND d.last_error = ?2 ORDER BY d.number";
    const SEND: &str = "UPDATE delivery SET state = 0, last_error = NULL, ended_at = NULL, due_at = NULL
        WHERE event = ?1 AND number = ?2";
    const FAIL: &str =
        "UPDATE delivery SET state = 3, last_error = 'the target was removed', ended_at = ?3, due_at = NULL
        WHERE event = ?1 AND number = ?2";
    const KEEP: &str = "UPDATE delivery SET last_error = ?3, due_at = NULL WHERE event = ?1 AND number = ?2";
    let mut select = db.prepare_cached(FIND)?;
    let held = select.query_map(params![seq, AWAITS, LONGEST_WAIT_US], |row| {
        Ok(Held {
            number: row.get(0)?,
            target: TargetId(row.get(1)?),
            until: row.get(2)?,
            is_gone: row.get(3)?,
        })
    })?;
    let held = held.collect::<Result<Vec<_>, _>>()?;
    let mut sent = Vec::new();
    for Held { number, target, until, is_gone } in held {
        let is_late = now.store > until;
        let why = if is_late { Some(LATE) } else { skip_reason(db, repeat, first, target)? };
        match why {
            _ if is_gone => db.prepare_cached(FAIL)?.execute(params![seq, number, now.wall])?,
            Some(why) => db.prepare_cached(KEEP)?.execute(params![seq, number, why])?,
            None => {
                sent.push(target);
                db.prepare_cached(SEND)?.execute(params![seq, number])?
            }
        };
    }
    if !sent.is_empty() {
        note_stale(db, seq)?;
    }
    Ok(sent)
}

struct Held {
    number: u32,
    target: TargetId,
    /// In store time, in microseconds.
    until: i64,
    is_gone: bool,
}

/// Marks an event as stale if a newer event of its object was delivered while it waited.
fn note_stale(db: &Connection, seq: i64) -> Result<(), InboxError> {
    const FIND: &str = "SELECT source, object, event_time FROM event WHERE seq = ?1";
    const NOTE: &str = "UPDATE event SET flags = flags | ?2 WHERE seq = ?1";
    let (source, object, time) = db.prepare_cached(FIND)?.query_row([seq], |row| {
        Ok((row.get(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, Option<i64>>(2)?))
    })?;
    if is_stale(db, source, object.as_deref(), time)? {
        db.prepare_cached(NOTE)?.execute(params![seq, STALE])?;
    }
    Ok(())
}
