//! Ends claims, and stores how their attempts ended.

use std::{sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use hookmitt_event::{Attempt, DeliveryState, HeaderLines, Silence, TargetId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    Claimed, Claiming, Inbox, InboxError, Next, batch::Batch, deliveries::is_deleted, hours::Took,
    reasons::DELETED, routing::object_key, target_states::answered,
};

/// How an attempt ended, and what that means for the delivery.
#[derive(Clone, Debug)]
pub enum Finish {
    /// A 2xx answer: the delivery is completed.
    Completed(Attempt),
    /// The delivery is tried again after this wait.
    Retry(Attempt, Duration),
    /// A retry can't mend it: the delivery failed.
    Final(Attempt),
    /// That was the last attempt: the delivery becomes a dead letter.
    Dead(Attempt),
    /// The target can't be reached at all. No attempt is stored; the delivery waits until the target answers again.
    Unreachable(Silence),
    /// The delivery can't be sent at all, for example because its target was removed. It failed; no attempt is stored.
    Refused(String),
    /// The delivery is not sent on purpose, for this reason. It is skipped; no attempt is stored. If its event was
    /// found valid meanwhile, it waits again instead.
    Withheld(&'static str),
}

/// What became of a claim.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Whether the outcome is stored. If not, the claim had ended before.
    pub stored: bool,
    /// Whether it was not known before that somebody answers at the target.
    pub answers_anew: bool,
    /// The delivery that was claimed in the same commit.
    pub next: Option<Claimed>,
}

/// Answers of up to this many bytes are stored even if the disk is nearly full, because they fit beside their row.
const SHORT: usize = 4_096;

impl Finish {
    fn is_answered(&self) -> bool {
        match self {
            Self::Completed(attempt)
            | Self::Retry(attempt, _)
            | Self::Final(attempt)
            | Self::Dead(attempt) => attempt.response.is_some(),
            Self::Unreachable(_) | Self::Refused(_) | Self::Withheld(_) => false,
        }
    }

    fn attempt(&mut self) -> Option<&mut Attempt> {
        match self {
            Self::Completed(attempt)
            | Self::Retry(attempt, _)
            | Self::Final(attempt)
            | Self::Dead(attempt) => Some(attempt),
            Self::Unreachable(_) | Self::Refused(_) | Self::Withheld(_) => None,
        }
    }
}

impl Inbox {
    /// Ends a claim and, in the same commit, claims the delivery that `then` asks for: so an attempt takes one synced
    /// commit. If there is no room on the disk for a long answer, the outcome is stored without the answer's body.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn finish(
        &self,
        claimed: &Claimed,
        mut end: Finish,
        then: Option<Claiming>,
    ) -> Result<Finished, InboxError> {
        let answer = end.attempt().map_or(0, |attempt| attempt.body.len());
        if answer <= SHORT {
            return self.end(claimed, end, answer, 0, then).await;
        }
        match self.end(claimed, end.clone(), answer, answer, then).await {
            Err(InboxError::Full) => {}
            done => return done,
        }
        if let Some(attempt) = end.attempt() {
            (attempt.body, attempt.body_truncated) = (Bytes::new(), true);
        }
        self.end(claimed, end, 0, 0, then).await
    }

    async fn end(
        &self,
        claimed: &Claimed,
        end: Finish,
        answer: usize,
        weight: usize,
        then: Option<Claiming>,
    ) -> Result<Finished, InboxError> {
        let (claimed, owner) = (claimed.clone(), self.owner.load(Ordering::Acquire));
        let work = move |batch: &mut Batch<'_>| {
            batch.arriving.bytes += answer as u64;
            let Some(target) = finish(batch, &claimed, &end)? else {
                return Ok(Finished { stored: false, answers_anew: false, next: None });
            };
            let answers_anew =
                end.is_answered() && answered(batch.db, target, Timestamp::from_micros(batch.now.wall))?;
            let next = match then.map(|then| then.run(batch, owner)).transpose() {
                Ok(Some(Next::Claimed(next))) => Some(next),
                // Without the lock nothing more is claimed, but what came of the attempt is still stored.
                Ok(_) | Err(InboxError::NotOwner) => None,
                Err(error) => return Err(error),
            };
            Ok(Finished { stored: true, answers_anew, next })
        };
        self.add(weight, work).await
    }
}

/// Returns the target of the delivery, or `None` if the claim had ended before.
fn finish(batch: &mut Batch<'_>, claimed: &Claimed, end: &Finish) -> Result<Option<TargetId>, InboxError> {
    const SQL: &str = "UPDATE delivery SET state = ?4, claim = NULL, claimed_at = NULL, due_at = ?5,
        last_error = ?6, ended_at = ?7, attempts = attempts + ?8
        WHERE event = ?1 AND number = ?2 AND claim = ?3
        RETURNING target, (SELECT source FROM event WHERE seq = delivery.event)";
    let (db, now) = (batch.db, batch.now);
    let (state, due, error, attempt) = match end {
        Finish::Completed(attempt) => (DeliveryState::Completed, None, None, Some(attempt)),
        Finish::Retry(attempt, wait) => {
            let due = now.store.saturating_add(i64::try_from(wait.as_micros()).unwrap_or(i64::MAX));
            (DeliveryState::Pending, Some(due), Some(said(attempt)), Some(attempt))
        }
        Finish::Final(attempt) => (DeliveryState::Failed, None, Some(said(attempt)), Some(attempt)),
        Finish::Dead(attempt) => (DeliveryState::DeadLetter, None, Some(said(attempt)), Some(attempt)),
        Finish::Unreachable(silence) => (DeliveryState::Pending, None, Some(silence.error.clone()), None),
        Finish::Refused(error) => (DeliveryState::Failed, None, Some(error.clone()), None),
        Finish::Withheld(_) if is_valid(db, claimed.seq)? => (DeliveryState::Pending, None, None, None),
        Finish::Withheld(why) => (DeliveryState::Skipped, None, Some((*why).to_owned()), None),
    };
    let is_over = state == DeliveryState::Pending && is_deleted(db, claimed.seq)?;
    let over = (DeliveryState::Skipped, None, Some(DELETED.to_owned()));
    let (state, due, error) = if is_over { over } else { (state, due, error) };
    let ended = (state != DeliveryState::Pending).then_some(now.wall);
    let values = params![
        claimed.seq,
        claimed.delivery.number,
        claimed.token,
        state as i64,
        due,
        error,
        ended,
        attempt.is_some(),
    ];
    batch.arriving.hours.note(db, claimed.seq)?;
    let read = |row: &Row<'_>| Ok((TargetId(row.get(0)?), row.get(1)?));
    let Some((target, source)) = db.prepare_cached(SQL)?.query_row(values, read).optional()? else {
        return Ok(None);
    };
    batch.arriving.happened.delivered.push(state);
    if let Some(attempt) = attempt {
        let took = Took::delivery(source, attempt.started_at.as_micros(), attempt.duration);
        batch.arriving.happened.took.push(took);
        keep(db, claimed, attempt)?;
    }
    if state == DeliveryState::Completed {
        set_clock(db, claimed.seq)?;
    }
    Ok(Some(target))
}

fn is_valid(db: &Connection, seq: i64) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT 1 FROM event WHERE seq = ?1 AND verdict = 0";
    Ok(db.prepare_cached(SQL)?.exists([seq])?)
}

/// Returns what an attempt leaves in its delivery's `last_error`.
fn said(attempt: &Attempt) -> String {
    match (&attempt.error, &attempt.response) {
        (Some(error), _) => error.clone(),
        (None, Some(head)) => format!("answered {}", head.status),
        (None, None) => "no answer".to_owned(),
    }
}

fn keep(db: &Connection, claimed: &Claimed, attempt: &Attempt) -> Result<(), InboxError> {
    const SQL: &str =
        "INSERT INTO attempt (event, delivery, number, started_at, duration, status, error, truncated,
        headers, body, sent) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let head = attempt.response.as_ref();
    db.prepare_cached(SQL)?.execute(params![
        claimed.seq,
        claimed.delivery.number,
        attempt.number,
        attempt.started_at.as_micros(),
        i64::try_from(attempt.duration.as_micros()).unwrap_or(i64::MAX),
        head.map(|head| head.status),
        attempt.error,
        attempt.body_truncated,
        head.map(|head| &head.headers).map(HeaderLines::as_wire).map(|block| &block[..]),
        &attempt.body[..],
        attempt.sent,
    ])?;
    Ok(())
}

/// Stores the time of the newest event that was delivered for an object, so that older events are recognised as stale.
fn set_clock(db: &Connection, seq: i64) -> Result<(), InboxError> {
    const FIND: &str = "SELECT source, object, event_time FROM event
        WHERE seq = ?1 AND object IS NOT NULL AND event_time IS NOT NULL";
    const SET: &str = "INSERT INTO object_clock (source, object, newest, seq) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET newest = max(newest, excluded.newest), seq = max(seq, excluded.seq)";
    let found = db
        .prepare_cached(FIND)?
        .query_row([seq], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?)));
    if let Some((source, object, time)) = found.optional()? {
        db.prepare_cached(SET)?.execute(params![source, object_key(&object), time, seq])?;
    }
    Ok(())
}
