//! Stores one event: its row, its dedupe key and its deliveries, in one transaction.

use std::time::Duration;

use hookmitt_event::{DedupeKey, EventId, EventStatus, Timestamp, Verdict, Via};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Inbox, InboxError, KeyTerms, NewEvent, PlannedAnswer, Route, Stored,
    audit::record_elsewhere,
    batch::Batch,
    bin::set_deleted,
    first_key::{First, KeyPlace, own_key},
    fold,
    found_provider::settle_provider,
    hours::{Cell, Counted, Took, hour_of},
    now::Now,
    routing::{is_stale, route, routes},
    rows::{self, BROWSER, CALLBACK, CONFLICT, STALE, causes_json},
    tally::Change,
    yielding,
};

/// About how many bytes an event adds to the log beside its own: index pages, key, delivery, page rounding.
const ROW_OVERHEAD: usize = 12 * 1024;

impl Inbox {
    /// Stores an event durably, with its key and its deliveries, or nothing of it. Returns after the commit.
    ///
    /// # Errors
    /// Fails with [`InboxError::Full`] or [`InboxError::Overloaded`], and if SQLite does. The sender must be told to
    /// retry.
    pub async fn store(&self, new: NewEvent) -> Result<Stored, InboxError> {
        let weight = new.weight();
        self.write_now(weight, move |batch| store(batch, &new)).await
    }
}

pub(crate) fn store(batch: &mut Batch<'_>, new: &NewEvent) -> Result<Stored, InboxError> {
    match arrived_before(batch.db, new)? {
        Some(earlier) => Ok(earlier),
        None => store_new(batch, new),
    }
}

/// Stores an event that is known not to have arrived before.
pub(crate) fn store_new(batch: &mut Batch<'_>, new: &NewEvent) -> Result<Stored, InboxError> {
    let left = match new.moved_from {
        Some(before) => set_deleted(batch, before, Some(Timestamp::from_micros(batch.now.wall)), None)?
            .ok_or_else(|| InboxError::UnknownEvent(before.to_string()))?,
        None => Vec::new(),
    };
    let seq = batch.arriving.seq(batch.db)?;
    let size = new.request.body.len() + new.request.headers.as_wire().len() + ROW_OVERHEAD;
    batch.arriving.bytes += u64::try_from(size).unwrap_or(u64::MAX);
    let Claimed { first, copy, takes_over } = claim(batch, new, seq)?;
    let duplicate_of = first.as_ref().map(|first| first.shown_for(batch.db, new.id)).transpose()?.flatten();
    let routes = routes(batch, new, first.as_ref().or(copy.as_ref()))?;
    let flags = flags(batch.db, new, first.as_ref())?;
    let answer = new.planned.map(|answer| answer.now());
    insert(batch.db, new, &Settled { seq, flags, duplicate_of, answer }, batch.now)?;
    let (mut waiting, deliveries) = route(batch, new, seq, routes)?;
    count(batch, new, duplicate_of.is_some(), (waiting.len(), deliveries));
    waiting.extend(left);
    if let Some(copy) = copy.filter(|_| takes_over) {
        yielding::point_at(batch, &copy, new.id)?;
    }
    note_elsewhere(batch, new, seq)?;
    if duplicate_of.is_some() && !matches!(new.route, Route::Withheld(_)) {
        fold::settle(batch.db, seq)?;
    }
    let finds = new.provider.as_deref().filter(|_| new.finds_provider);
    let set_provider = settle_provider(batch.db, new.source, finds, new.id)?;
    let turned_away = new.rejects && first.as_ref().is_some_and(|first| first.other_body);
    Ok(Stored {
        id: new.id,
        seq,
        duplicate_of,
        waiting,
        deliveries,
        name_was_used: false,
        turned_away,
        set_provider,
        answered_after: answer.and_then(|(_, after)| after),
    })
}

/// Who owns a new event's key.
struct Claimed {
    /// The first event that it repeats.
    first: Option<First>,
    /// The copy from backup sync that it is the webhook of.
    copy: Option<First>,
    /// Whether that copy yields to it.
    takes_over: bool,
}

fn claim(batch: &mut Batch<'_>, new: &NewEvent, seq: i64) -> Result<Claimed, InboxError> {
    let claim = KeyTerms {
        hash: new.key_hash,
        may_own: new.may_own,
        by_content: matches!(new.dedupe_key, DedupeKey::Content(_)),
        single_use: new.single_use,
    };
    let place = KeyPlace {
        source: new.source,
        seq,
        id: new.id,
        at: new.received_at.as_micros(),
        is_proved: new.verdict == Verdict::Valid,
    };
    let takes_over = yielding::may_take_over(new.verdict, new.via);
    let copy = yielding::copy_of(batch.db, &place, &new.key_hash, new.object_key.as_ref(), takes_over)?;
    let mut first = own_key(batch.db, claim, &place)?;
    if let Some(copy) = copy.as_ref().filter(|_| takes_over) {
        yielding::end_waiting(batch, copy.seq)?;
    } else if first.is_none() {
        first = copy;
    }
    Ok(Claimed { first, copy, takes_over })
}

/// Counts a new event, of whose deliveries some wait, in the totals and in the history.
fn count(batch: &mut Batch<'_>, new: &NewEvent, is_duplicate: bool, (waiting, deliveries): (usize, u32)) {
    let (source, at, arriving) = (new.source, new.received_at.as_micros(), &mut *batch.arriving);
    let bytes = i64::try_from(new.request.body.len()).unwrap_or(i64::MAX);
    let change = Change { deliveries: deliveries.into(), ..Change::event(is_duplicate, bytes) };
    arriving.tally.add(source, new.verdict as i64, change);
    let status = event_status(waiting, deliveries);
    let (via, verdict) = (new.via as i64, new.verdict as i64);
    let cell = Cell { hour: hour_of(at), source, via, verdict, status };
    arriving.hours.count(Counted { cell, is_duplicate, bytes });
    arriving.happened.captured.push((source, new.via, new.verdict));
    if let Some(PlannedAnswer::Ours { since, .. }) = new.planned {
        arriving.happened.took.push(Took::capture(source, at, since));
    }
}

/// Returns the status of an event that was just routed.
fn event_status(waiting: usize, deliveries: u32) -> EventStatus {
    match (waiting, deliveries) {
        (_, 0) => EventStatus::Captured,
        (0, _) => EventStatus::Skipped,
        _ => EventStatus::Pending,
    }
}

/// Notes in the audit trail that an edited event is sent to a URL given once.
fn note_elsewhere(batch: &Batch<'_>, new: &NewEvent, seq: i64) -> Result<(), InboxError> {
    match &new.route {
        Route::To(targets) if new.via == Via::Edit => record_elsewhere(batch, (new.id, seq), targets),
        _ => Ok(()),
    }
}

/// Returns the event's flags. Whether it folds is settled once its deliveries are there.
fn flags(db: &Connection, new: &NewEvent, first: Option<&First>) -> Result<i64, InboxError> {
    let mut flags = if new.browser { BROWSER } else { 0 };
    if new.callback {
        flags |= CALLBACK;
    }
    if let Some(first) = first
        && (first.other_body || differs(db, new, first.seq)?)
    {
        flags |= CONFLICT;
    }
    let time = new.facts.event_time.map(Timestamp::as_micros);
    if is_stale(db, new.source, new.facts.object.as_deref(), time)? {
        flags |= STALE;
    }
    Ok(flags)
}

/// What is decided about an event when it is stored.
struct Settled {
    seq: i64,
    flags: i64,
    duplicate_of: Option<EventId>,
    /// What its sender is answered, and how long after the request.
    answer: Option<(u16, Option<Duration>)>,
}

pub(crate) fn arrived_before(db: &Connection, new: &NewEvent) -> Result<Option<Stored>, InboxError> {
    let Some(key) = &new.arrival_key else { return Ok(None) };
    const SQL: &str = "SELECT id, seq, duplicate_of FROM event WHERE arrival_key = ?1";
    let earlier = db.prepare_cached(SQL)?.query_row([key], |row| {
        let (id, duplicate_of) = (rows::id(row, 0)?, rows::id_or_null(row, 2)?);
        let seq = row.get(1)?;
        Ok(Stored {
            id,
            seq,
            duplicate_of,
            waiting: Vec::new(),
            deliveries: 0,
            name_was_used: false,
            turned_away: false,
            set_provider: false,
            answered_after: None,
        })
    });
    Ok(earlier.optional()?)
}

/// Whether the first event has other bytes, or had, if it was deleted. A copy from backup sync is not compared.
fn differs(db: &Connection, new: &NewEvent, first: i64) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT coalesce((SELECT sha256 FROM event WHERE seq = ?1),
        (SELECT max(sha256) FROM first_key WHERE seq = ?1))";
    if new.via == Via::BackupSync {
        return Ok(false);
    }
    let sha256 = db.prepare_cached(SQL)?.query_row([first], |row| row.get::<_, Option<[u8; 32]>>(0))?;
    Ok(sha256.is_some_and(|sha256| sha256 != new.sha256))
}

fn insert(db: &Connection, new: &NewEvent, settled: &Settled, now: Now) -> Result<(), InboxError> {
    const SQL: &str = "INSERT INTO event (seq, id, source, received_at, via, verdict, flags, provider, type, title,
        event_time, object, dedupe_key, duplicate_of, parent, arrival_key, handshake, causes, remote, url, method,
        path, query, version, size, sha256, headers, body, handshake_answer, forwarded, signed_with, foreign_host,
        stored_at, answered, answered_after)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
        ?22, ?23, ?24, ?25, ?26, x'', x'', ?27, ?28, ?29, ?30, ?31, ?32, ?33)";
    const CONTENT: &str = "INSERT INTO raw (seq, headers, body) VALUES (?1, ?2, ?3)";
    let NewEvent { request, facts, .. } = new;
    let Settled { seq, flags, duplicate_of, answer } = settled;
    let signed_with = new.delivery_of.map(|delivery| signer_of(db, delivery.event)).transpose()?.flatten();
    db.prepare_cached(SQL)?.execute(params![
        seq,
        new.id.as_bytes(),
        new.source,
        new.received_at.as_micros(),
        new.via as i64,
        new.verdict as i64,
        flags,
        new.provider,
        facts.event_type,
        facts.title,
        facts.event_time.map(Timestamp::as_micros),
        facts.object,
        new.dedupe_key.to_string(),
        duplicate_of.as_ref().map(EventId::as_bytes),
        new.parent.as_ref().map(EventId::as_bytes),
        new.arrival_key,
        facts.handshake,
        causes_json(&new.causes),
        new.remote,
        new.url,
        request.method,
        request.path,
        request.query,
        rows::version_number(request.version),
        request.body.len(),
        new.sha256,
        new.handshake_answer.as_ref().and_then(|answer| serde_json::to_string(answer).ok()),
        new.forwarded.as_ref().map(|lines| &lines.as_wire()[..]),
        signed_with,
        new.foreign_host,
        now.store,
        answer.map(|(status, _)| status),
        answer.and_then(|(_, after)| after).map(rows::micros),
    ])?;
    db.prepare_cached(CONTENT)?.execute(params![seq, &request.headers.as_wire()[..], &request.body[..]])?;
    Ok(())
}

/// Returns whose secret signed the event `id`, one of whose deliveries came back to us through a relay, with our
/// signature on it. An event that was sent or edited and has no mark yet counts as signed with a secret of the owner's.
fn signer_of(db: &Connection, id: EventId) -> Result<Option<String>, InboxError> {
    const SQL: &str =
        "SELECT coalesce(signed_with, iif(via IN (?2, ?3), 'own', NULL)) FROM event WHERE id = ?1";
    let values = params![id.as_bytes(), Via::Send as i64, Via::Edit as i64];
    let found = db.prepare_cached(SQL)?.query_row(values, |row| row.get(0));
    Ok(found.optional()?.flatten())
}
