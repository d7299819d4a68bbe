//! Where an arriving event goes: makes a delivery for each target, some of them skipped from the start.

use hookmitt_event::{DedupeKey, DeliveryState, OnDuplicate, TargetId, Verdict, Via};
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use crate::{
    InboxError, NewEvent, Route,
    batch::Batch,
    first_key::First,
    reasons::{AWAITS, DUPLICATE, LONGEST_WAIT_US, OTHER_BODY},
};

/// Returns the targets that get an event, each with the reason why nothing is sent there, if any.
pub(crate) fn routes(
    batch: &Batch<'_>,
    new: &NewEvent,
    first: Option<&First>,
) -> Result<Vec<(TargetId, Option<&'static str>)>, InboxError> {
    let looped = is_loop(batch.db, new)?;
    let by_content = matches!(new.dedupe_key, DedupeKey::Content(_));
    let repeat =
        Duplicate { verdict: new.verdict, by_content, on_duplicate: new.on_duplicate, rejects: new.rejects };
    let routed = targets(batch, new).into_iter().map(|target| {
        let reason = match &new.route {
            Route::To(_) => None,
            Route::Withheld(reason) => Some(*reason),
            Route::AwaitsVerdict if !looped => Some(AWAITS),
            _ if looped => Some("it is a delivery of ours that came back: a loop"),
            _ => skip_reason(batch.db, &repeat, first, target)?,
        };
        Ok((target, reason))
    });
    routed.collect()
}

/// Stores the deliveries of an event. Returns the targets whose deliveries wait, and how many deliveries there are.
pub(crate) fn route(
    batch: &Batch<'_>,
    new: &NewEvent,
    seq: i64,
    routes: Vec<(TargetId, Option<&'static str>)>,
) -> Result<(Vec<TargetId>, u32), InboxError> {
    const SQL: &str =
        "INSERT INTO delivery (event, number, target, state, replay, last_error, ended_at, due_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let (mut waiting, mut number) = (Vec::new(), 0);
    for (target, reason) in routes {
        number += 1;
        let state = if reason.is_some() { DeliveryState::Skipped } else { DeliveryState::Pending };
        let ended = reason.map(|_| new.received_at.as_micros());
        let awaits_until = (reason == Some(AWAITS)).then(|| batch.now.store.saturating_add(LONGEST_WAIT_US));
        let replay = new.via == Via::Edit;
        batch.db.prepare_cached(SQL)?.execute(params![
            seq,
            number,
            target.0,
            state as i64,
            replay,
            reason,
            ended,
            awaits_until,
        ])?;
        if reason.is_none() {
            waiting.push(target);
        }
    }
    Ok((waiting, number))
}

fn targets(batch: &Batch<'_>, new: &NewEvent) -> Vec<TargetId> {
    match &new.route {
        Route::Targets | Route::Withheld(_) | Route::AwaitsVerdict => batch.routes.of(new.source),
        Route::To(targets) => targets.clone(),
        Route::Nowhere => Vec::new(),
    }
}

fn is_loop(db: &Connection, new: &NewEvent) -> Result<bool, InboxError> {
    let Some(delivery) = new.delivery_of else { return Ok(false) };
    const SQL: &str =
        "SELECT 1 FROM delivery WHERE event = (SELECT seq FROM event WHERE id = ?1) AND number = ?2";
    Ok(db.prepare_cached(SQL)?.exists(params![delivery.event.as_bytes(), delivery.number])?)
}

/// What decides whether a duplicate is sent.
pub(crate) struct Duplicate {
    pub(crate) verdict: Verdict,
    /// Whether the event is a duplicate only by its content.
    pub(crate) by_content: bool,
    pub(crate) on_duplicate: OnDuplicate,
    /// Whether the source rejects events that aren't found valid.
    pub(crate) rejects: bool,
}

/// Returns why a duplicate is not sent to this target: its first event, or another duplicate of that, is waiting,
/// running or completed there, or was when it was deleted. A duplicate by content alone is always sent.
pub(crate) fn skip_reason(
    db: &Connection,
    repeat: &Duplicate,
    first: Option<&First>,
    target: TargetId,
) -> Result<Option<&'static str>, InboxError> {
    // A valid event is skipped only because of its first event, of valid duplicates and of copies: a forged one proves
    // nothing.
    // There may be very many duplicates, so they come last.
    const SQL: &str = "SELECT 1 FROM delivery WHERE target = ?3 AND state IN (0, 1, 2) AND event = ?1
        UNION ALL SELECT 1 FROM first_key k INDEXED BY first_key_seq, json_each(k.went) w
        WHERE k.seq = ?1 AND w.value = ?3
        UNION ALL SELECT 1 FROM event e CROSS JOIN delivery d ON d.event = e.seq
        WHERE e.duplicate_of = ?2 AND (e.verdict = ?4 OR e.via = 2 OR ?5) AND d.target = ?3 AND d.state IN (0, 1, 2)";
    let Some(first) = first else { return Ok(None) };
    if first.other_body && repeat.rejects {
        return Ok(Some(OTHER_BODY));
    }
    if repeat.by_content || repeat.on_duplicate == OnDuplicate::Forward {
        return Ok(None);
    }
    let (valid, any) = (Verdict::Valid as i64, repeat.verdict != Verdict::Valid);
    let asked = params![first.seq, first.id.as_bytes(), target.0, valid, any];
    let found = db.prepare_cached(SQL)?.exists(asked)?;
    Ok(found.then_some(DUPLICATE))
}

/// Whether a newer event of the same object was delivered already.
pub(crate) fn is_stale(
    db: &Connection,
    source: i64,
    object: Option<&str>,
    time: Option<i64>,
) -> Result<bool, InboxError> {
    let (Some(object), Some(time)) = (object, time) else { return Ok(false) };
    const SQL: &str = "SELECT newest > ?3 FROM object_clock WHERE source = ?1 AND object = ?2";
    let newer =
        db.prepare_cached(SQL)?.query_row(params![source, object_key(object), time], |row| row.get(0));
    Ok(newer.optional()?.unwrap_or(false))
}

/// Returns the hash by which an object is known. It outlives the object's events, which the id itself must not.
pub(crate) fn object_key(object: &str) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::digest(object).into();
    hash.first_chunk().copied().unwrap_or_default()
}
