//! Stores one event: its row, its dedupe key and its deliveries, in one transaction.

use std::mem;

use hookmitt_event::{
    Cause, DedupeKey, DeliveryId, EventId, Facts, HandshakeAnswer, HeaderLines, OnDuplicate, Request,
    TargetId, Timestamp, Verdict, Via,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Inbox, InboxError, KeyClaim, Route, SingleUse,
    clock::Now,
    first_key::{KeyPlace, own_key},
    found_provider::settle_provider,
    routing::route,
    rows::{self, BROWSER, CALLBACK, CONFLICT, STALE},
    tally::{Change, Tally},
    writer::Batch,
};

/// A judged request, ready to be stored.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its id, made by the caller.
    pub id: EventId,
    /// The row of its source.
    pub source: i64,
    /// The request, byte for byte.
    pub request: Request,
    /// The URL as the provider called it, where it isn't `http://` + Host + `/slug` + path.
    pub url: Option<String>,
    /// The sender's address.
    pub remote: Option<String>,
    /// When it was received.
    pub received_at: Timestamp,
    /// How it came in.
    pub via: Via,
    /// The catalogue id of its provider.
    pub provider: Option<String>,
    /// It may set the provider of its source. Whether it does is decided where it is stored.
    pub finds_provider: bool,
    /// What was read out of it.
    pub facts: Facts,
    /// What it was answered as a set-up request.
    pub handshake_answer: Option<HandshakeAnswer>,
    /// What verification found.
    pub verdict: Verdict,
    /// Why.
    pub causes: Vec<Cause>,
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// What makes it the same as another.
    pub dedupe_key: DedupeKey,
    /// The first 16 bytes of SHA-256 over the key as it prints.
    pub key_hash: [u8; 16],
    /// Whether it may own its key: valid where the source can prove anything, and not from a web page.
    pub may_own: bool,
    /// The signed id that only this body may come under; `None` where the signature covers the body.
    pub single_use: Option<SingleUse>,
    /// Whether the source rejects, so that another body under that id is withheld.
    pub rejects: bool,
    /// What the source does with a repeat.
    pub on_duplicate: OnDuplicate,
    /// Sent by a web page of another origin, or by one that may be.
    pub browser: bool,
    /// A web page's navigation that is forwarded all the same.
    pub callback: bool,
    /// The name that it was called by, where it is withheld because that is none of this machine's.
    pub foreign_host: Option<String>,
    /// The delivery of ours that it says it is: where that is so, it isn't forwarded again.
    pub delivery_of: Option<DeliveryId>,
    /// Tunnel and sequence, or sync id: a re-send with the same adds no row.
    pub arrival_key: Option<Vec<u8>>,
    /// The lines that a relay's trusted proxy added to the request's own.
    pub forwarded: Option<HeaderLines>,
    /// The tunnel whose open gap it was caught up from.
    pub caught_up_by: Option<i64>,
    /// The event that it is an edit of.
    pub parent: Option<EventId>,
    /// Where it goes.
    pub route: Route,
}

/// What became of an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The id of the event: an earlier one's, where the arrival key was known.
    pub id: EventId,
    /// Its sequence number.
    pub seq: i64,
    /// The first event with the same key.
    pub duplicate_of: Option<EventId>,
    /// The deliveries that wait to be sent.
    pub waiting: Vec<TargetId>,
    /// How many deliveries the event has, those skipped included.
    pub deliveries: u32,
    /// Another request came under its arrival key or its id before.
    pub name_was_used: bool,
    /// It is withheld, for its signed id came with another body before.
    pub turned_away: bool,
    /// It set the provider of its source.
    pub set_provider: bool,
}

/// What an event adds to the log beside its own bytes: index pages, key, delivery, page rounding.
const ROW_OVERHEAD: usize = 12 * 1024;

/// What a job adds beside its rows.
#[derive(Default)]
pub(crate) struct Arriving {
    /// Goes on from one job of a group to the next; none where it is to be asked for.
    next_seq: Option<i64>,
    /// About how many bytes the job writes.
    pub(crate) bytes: u64,
    /// What it changes in the totals.
    pub(crate) tally: Tally,
}

impl Arriving {
    /// Takes what the job added; the next one goes on from there.
    pub(crate) fn take(&mut self) -> (u64, Tally) {
        (mem::take(&mut self.bytes), mem::take(&mut self.tally))
    }

    fn seq(&mut self, db: &Connection) -> Result<i64, InboxError> {
        let seq = match self.next_seq {
            Some(seq) => seq,
            None => db
                .prepare_cached("SELECT coalesce(max(seq), 0) + 1 FROM event")?
                .query_row([], |row| row.get(0))?,
        };
        self.next_seq = Some(seq + 1);
        Ok(seq)
    }
}

impl Arrival {
    /// About how many bytes it adds. Never none: on a disk that is nearly full, only what adds something is refused, and
    /// keeps its place among what is.
    pub(crate) fn weight(&self) -> usize {
        let Request { headers, body, .. } = &self.request;
        1 + headers.as_wire().len() + body.len()
    }
}

impl Inbox {
    /// Stores an event durably: its row, its key and its deliveries, or nothing. Answers after the commit.
    ///
    /// # Errors
    /// [`InboxError::Full`], [`InboxError::Overloaded`] and whatever SQLite says: the sender must be told to retry.
    pub async fn store(&self, arrival: Arrival) -> Result<Stored, InboxError> {
        let weight = arrival.weight();
        self.write_now(weight, move |batch| store(batch, &arrival)).await
    }
}

pub(crate) fn store(batch: &mut Batch<'_>, arrival: &Arrival) -> Result<Stored, InboxError> {
    match arrived_before(batch.db, arrival)? {
        Some(earlier) => Ok(earlier),
        None => store_new(batch, arrival),
    }
}

/// Stores what is known not to have arrived before.
pub(crate) fn store_new(batch: &mut Batch<'_>, arrival: &Arrival) -> Result<Stored, InboxError> {
    let seq = batch.arriving.seq(batch.db)?;
    let size = arrival.request.body.len() + arrival.request.headers.as_wire().len() + ROW_OVERHEAD;
    batch.arriving.bytes += u64::try_from(size).unwrap_or(u64::MAX);
    let claim = KeyClaim {
        hash: arrival.key_hash,
        may_own: arrival.may_own,
        by_content: matches!(arrival.dedupe_key, DedupeKey::Content(_)),
        single_use: arrival.single_use,
    };
    let place = KeyPlace {
        source: arrival.source,
        seq,
        id: arrival.id,
        at: arrival.received_at.as_micros(),
        is_proved: arrival.verdict == Verdict::Valid,
    };
    let first = own_key(batch.db, claim, &place)?;
    let mut flags = if arrival.browser { BROWSER } else { 0 };
    if arrival.callback {
        flags |= CALLBACK;
    }
    if let Some(first) = &first
        && (first.other_body || differs(batch.db, arrival, first.seq)?)
    {
        flags |= CONFLICT;
    }
    let time = arrival.facts.event_time.map(Timestamp::as_micros);
    if is_stale(batch.db, arrival.source, arrival.facts.object.as_deref(), time)? {
        flags |= STALE;
    }
    insert(batch.db, arrival, seq, flags, first.as_ref().map(|first| first.id), batch.now)?;
    let (waiting, deliveries) = route(batch, arrival, seq, first.as_ref())?;
    let length = i64::try_from(arrival.request.body.len()).unwrap_or(i64::MAX);
    let change = Change { deliveries: deliveries.into(), ..Change::event(first.is_some(), length) };
    batch.arriving.tally.add(arrival.source, arrival.verdict as i64, change);
    let finds = arrival.provider.as_deref().filter(|_| arrival.finds_provider);
    let set_provider = settle_provider(batch.db, arrival.source, finds, arrival.id)?;
    let turned_away = arrival.rejects && first.as_ref().is_some_and(|first| first.other_body);
    Ok(Stored {
        id: arrival.id,
        seq,
        duplicate_of: first.map(|first| first.id),
        waiting,
        deliveries,
        name_was_used: false,
        turned_away,
        set_provider,
    })
}

pub(crate) fn arrived_before(db: &Connection, arrival: &Arrival) -> Result<Option<Stored>, InboxError> {
    let Some(key) = &arrival.arrival_key else { return Ok(None) };
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
        })
    });
    Ok(earlier.optional()?)
}

/// Whether the first has other bytes. One that was pruned can't be compared.
fn differs(db: &Connection, arrival: &Arrival, first: i64) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT sha256 FROM event WHERE seq = ?1";
    if arrival.via == Via::BackupSync {
        return Ok(false);
    }
    let sha256 = db.prepare_cached(SQL)?.query_row([first], |row| row.get::<_, [u8; 32]>(0)).optional()?;
    Ok(sha256.is_some_and(|sha256| sha256 != arrival.sha256))
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
    let newer = db.prepare_cached(SQL)?.query_row(params![source, object, time], |row| row.get(0));
    Ok(newer.optional()?.unwrap_or(false))
}

fn insert(
    db: &Connection,
    arrival: &Arrival,
    seq: i64,
    flags: i64,
    first: Option<EventId>,
    now: Now,
) -> Result<(), InboxError> {
    const SQL: &str = "INSERT INTO event (seq, id, source, received_at, via, verdict, flags, provider, type, title,
        event_time, object, dedupe_key, duplicate_of, parent, arrival_key, handshake, causes, remote, url, method,
        path, query, version, size, sha256, headers, body, handshake_answer, forwarded, signed_with, foreign_host,
        stored_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
        ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)";
    let Arrival { request, facts, .. } = arrival;
    let signed_with =
        arrival.delivery_of.map(|delivery| signer_of(db, delivery.event)).transpose()?.flatten();
    db.prepare_cached(SQL)?.execute(params![
        seq,
        arrival.id.as_bytes(),
        arrival.source,
        arrival.received_at.as_micros(),
        arrival.via as i64,
        arrival.verdict as i64,
        flags,
        arrival.provider,
        facts.event_type,
        facts.title,
        facts.event_time.map(Timestamp::as_micros),
        facts.object,
        arrival.dedupe_key.to_string(),
        first.as_ref().map(EventId::as_bytes),
        arrival.parent.as_ref().map(EventId::as_bytes),
        arrival.arrival_key,
        facts.handshake,
        causes_json(&arrival.causes),
        arrival.remote,
        arrival.url,
        request.method,
        request.path,
        request.query,
        rows::version_number(request.version),
        request.body.len(),
        arrival.sha256,
        &request.headers.as_wire()[..],
        &request.body[..],
        arrival.handshake_answer.as_ref().and_then(|answer| serde_json::to_string(answer).ok()),
        arrival.forwarded.as_ref().map(|lines| &lines.as_wire()[..]),
        signed_with,
        arrival.foreign_host,
        now.store,
    ])?;
    Ok(())
}

/// Who signed an event whose delivery comes back to us, by way of a relay: it brings our signature along. One that was
/// sent or edited and has no mark yet counts as signed with a secret of the owner's.
fn signer_of(db: &Connection, id: EventId) -> Result<Option<String>, InboxError> {
    const SQL: &str =
        "SELECT coalesce(signed_with, iif(via IN (?2, ?3), 'own', NULL)) FROM event WHERE id = ?1";
    let values = params![id.as_bytes(), Via::Send as i64, Via::Edit as i64];
    let found = db.prepare_cached(SQL)?.query_row(values, |row| row.get(0));
    Ok(found.optional()?.flatten())
}

/// Causes as they are stored; null where there is none.
pub(crate) fn causes_json(causes: &[Cause]) -> Option<String> {
    if causes.is_empty() { None } else { serde_json::to_string(causes).ok() }
}
