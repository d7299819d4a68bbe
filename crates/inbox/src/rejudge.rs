//! Stores new verdicts for stored events, for example after a secret was added or changed, and settles their keys and
//! deliveries.

use hookmitt_event::{Cause, Deed, EventId, TargetId, Timestamp, Verdict, Via};
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use crate::{
    HeldBack, Inbox, InboxError, KeyTerms,
    audit::{Subject, record},
    batch::Batch,
    deliveries::seq_of,
    first_key::{First, KeyPlace, settle_key},
    fold,
    found_provider::settle_provider,
    reasons::DUPLICATE,
    release,
    rows::{self, BROWSER, CONFLICT, causes_json},
    tally::Change,
    yielding,
};

/// A new verdict for a stored event.
#[derive(Clone, Debug)]
pub struct Rejudged {
    /// The event's id.
    pub id: EventId,
    /// The verdict that the event had when it was read to be verified again.
    pub was: Verdict,
    /// What verification finds now.
    pub verdict: Verdict,
    /// The causes of the new verdict.
    pub causes: Vec<Cause>,
    /// The event's claim on its dedupe key; `None` leaves the key as it is.
    pub key: Option<KeyTerms>,
    /// What becomes of deliveries that wait for the verdict.
    pub held: HeldBack,
    /// The provider that this event proves to be the sender, if an event may set its source's provider.
    pub finds_provider: Option<String>,
}

impl Inbox {
    /// Returns the events of a source after a sequence number, oldest first, with their numbers.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn ids_after(
        &self,
        source: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(AFTER)?;
                let found = select
                    .query_map(params![after, source, limit], |row| Ok((row.get(0)?, rows::id(row, 1)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Returns the events of all sources with this verdict after a sequence number, oldest first, with their numbers.
    /// Events in the bin or received before `since` are left out. It costs little if no event has the verdict, because
    /// the running totals show that.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn ids_with_verdict(
        &self,
        verdict: Verdict,
        since: Timestamp,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        let end = self.last_seq().await?;
        let (mut found, mut after) = (Vec::new(), after);
        while after < end && found.len() < limit as usize {
            let wanted = limit as usize - found.len();
            let (upto, read) = (after + STRIDE, (verdict, since, after, wanted));
            found.extend(self.readers.read(move |db| with_verdict(db, read, upto)).await?);
            after = upto;
        }
        Ok(found)
    }

    /// Stores new verdicts, in the order given: the caller passes the oldest event first. An event that may no longer
    /// own its dedupe key gives it up, for the next event that may own it. Deliveries that waited for the verdict are
    /// settled in the same transaction. Returns the targets that get something now, and the events that set the
    /// provider of their source.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn rejudge(
        &self,
        verdicts: Vec<Rejudged>,
    ) -> Result<(Vec<TargetId>, Vec<EventId>), InboxError> {
        self.write(move |batch| {
            let (mut targets, mut set_provider) = (Vec::new(), Vec::new());
            for rejudged in &verdicts {
                targets.extend(one(batch, rejudged)?);
                if finds_provider(batch.db, rejudged)? {
                    set_provider.push(rejudged.id);
                }
            }
            Ok((targets, set_provider))
        })
        .await
    }
}

impl Inbox {
    /// Stores when the confirmation URL of a set-up request was called.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_confirmed(&self, id: EventId, at: Timestamp) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE event SET handshake_answer = json_set(coalesce(handshake_answer,
            '{\"status\":200,\"body\":\"\"}'), '$.confirmed_at', ?2) WHERE id = ?1";
        self.write(move |batch| {
            let seq = seq_of(batch.db, id)?;
            batch.db.prepare_cached(SQL)?.execute(params![id.as_bytes(), at.to_string()])?;
            record(batch, Deed::Confirmed, &Subject::event(id, seq)).map(drop)
        })
        .await
    }

    /// Stores causes that were found after the verdict. Nothing is stored if the event has another verdict by now.
    /// Returns whether the causes were stored.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_causes(
        &self,
        id: EventId,
        verdict: Verdict,
        causes: Vec<Cause>,
    ) -> Result<bool, InboxError> {
        const SQL: &str = "UPDATE event SET causes = ?3 WHERE id = ?1 AND verdict = ?2";
        self.write(move |batch| {
            let values = params![id.as_bytes(), verdict as i64, causes_json(&causes)];
            Ok(batch.db.prepare_cached(SQL)?.execute(values)? == 1)
        })
        .await
    }
}

/// Selects the events of a source after a number, without those in the bin.
pub(crate) const AFTER: &str = "SELECT seq, id FROM event
    WHERE seq > ?1 AND source = ?2 AND deleted_at IS NULL ORDER BY seq LIMIT ?3";

/// How many events one read may pass over. Between two reads the writer may start its log over.
const STRIDE: i64 = 20_000;

fn with_verdict(
    db: &Connection,
    (verdict, since, after, limit): (Verdict, Timestamp, i64, usize),
    upto: i64,
) -> Result<Vec<(i64, EventId)>, InboxError> {
    // CROSS JOIN makes SQLite read the totals first, and no events of a source whose totals show none.
    const SQL: &str = "SELECT event.seq, event.id FROM tally CROSS JOIN event ON event.source = tally.source
        WHERE tally.verdict = ?1 AND tally.events > 0 AND event.verdict = ?1 AND event.seq > ?2
        AND event.seq <= ?5 AND event.deleted_at IS NULL AND event.received_at >= ?4
        ORDER BY event.seq LIMIT ?3";
    let mut select = db.prepare_cached(SQL)?;
    let values = params![verdict as i64, after, limit, since.as_micros(), upto];
    let found = select.query_map(values, |row| Ok((row.get(0)?, rows::id(row, 1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn finds_provider(db: &Connection, rejudged: &Rejudged) -> Result<bool, InboxError> {
    let Some(provider) = rejudged.finds_provider.as_deref() else { return Ok(false) };
    let Some(place) = EventRow::find(db, rejudged.id)? else { return Ok(false) };
    settle_provider(db, place.source, Some(provider), rejudged.id)
}

fn one(batch: &mut Batch<'_>, rejudged: &Rejudged) -> Result<Vec<TargetId>, InboxError> {
    const SET: &str = "UPDATE event SET verdict = ?2, causes = ?3 WHERE seq = ?1";
    let Some(place) = EventRow::find(batch.db, rejudged.id)? else { return Ok(Vec::new()) }; // pruned meanwhile
    if !place.counts {
        return Ok(Vec::new()); // deleted meanwhile; when it is restored, it is judged again
    }
    let valid = Verdict::Valid as i64;
    if place.verdict == valid && rejudged.was as i64 != valid && rejudged.verdict as i64 != valid {
        return Ok(Vec::new()); // another process proved it meanwhile
    }
    batch.arriving.hours.note(batch.db, place.seq)?;
    recount(batch, &place, Change::no_event)?;
    let causes = causes_json(&rejudged.causes);
    batch.db.prepare_cached(SET)?.execute(params![place.seq, rejudged.verdict as i64, causes])?;
    let is_proved = rejudged.verdict == Verdict::Valid;
    let copy = match rejudged.key.filter(|_| is_proved && place.via != Via::BackupSync as i64) {
        Some(claim) => {
            yielding::copy_of(batch.db, &place.key_place(rejudged.id, true), &claim.hash, None, true)?
        }
        None => None,
    };
    let first = rejudged.key.map(|claim| settle_first(batch.db, rejudged.id, is_proved, claim, &place));
    let first = first.transpose()?.flatten();
    recount(batch, &place, Change::event)?;
    if let Some(copy) = copy.filter(|_| first.is_none()) {
        yielding::point_at(batch, &copy, rejudged.id)?;
    }
    let by_content = rejudged.key.is_none_or(|claim| claim.by_content);
    let sent = release::settle(batch.db, place.seq, rejudged.held, by_content, first.as_ref(), batch.now)?;
    fold::settle(batch.db, place.seq)?;
    Ok(sent)
}

/// Settles who owns the key of a stored event whose verdict stays. If the event turns out to be no duplicate, its
/// skipped deliveries say so.
pub(crate) fn settle_stored(
    batch: &mut Batch<'_>,
    id: EventId,
    claim: impl Fn(i64, bool) -> KeyTerms,
) -> Result<(), InboxError> {
    const TELL: &str =
        "UPDATE delivery SET last_error = ?3 WHERE event = ?1 AND state = 5 AND last_error = ?2";
    let Some(place) = EventRow::find(batch.db, id)? else { return Ok(()) };
    let claim = claim(place.verdict, place.browser);
    batch.arriving.hours.note(batch.db, place.seq)?;
    recount(batch, &place, Change::no_event)?;
    let first = settle_first(batch.db, id, place.verdict == Verdict::Valid as i64, claim, &place)?;
    if first.is_none() && claim.may_own {
        batch.db.prepare_cached(TELL)?.execute(params![place.seq, DUPLICATE, MISTAKEN])?;
    }
    fold::settle(batch.db, place.seq)?;
    recount(batch, &place, Change::event)
}

/// Why a delivery was skipped: its event was taken for a duplicate of an event that proved nothing.
const MISTAKEN: &str = "it was treated as a duplicate of an unverified event";

/// Settles who owns the key of an event. Stores and returns the first event that it duplicates, if any.
fn settle_first(
    db: &Connection,
    id: EventId,
    is_proved: bool,
    claim: KeyTerms,
    place: &EventRow,
) -> Result<Option<First>, InboxError> {
    let first = settle_key(db, claim, &place.key_place(id, is_proved))?;
    let shown = first.as_ref().map(|first| first.shown_for(db, id)).transpose()?.flatten();
    let other_body = first.as_ref().is_some_and(|first| first.other_body);
    let is_new = point_at(db, "seq = ?1", &place.seq, shown, other_body)? > 0;
    if is_new && shown.is_some() {
        // Its own duplicates go with it, because a duplicate never points at another one.
        point_at(db, "duplicate_of = ?1", id.as_bytes(), shown, false)?;
    }
    Ok(first)
}

/// Has some events, chosen by `?1`, point at the first event that they duplicate. Their conflict flag is set anew,
/// because another first event may have other bytes, or the same. Returns how many events pointed elsewhere before.
fn point_at(
    db: &Connection,
    which: &str,
    value: &dyn ToSql,
    first: Option<EventId>,
    other_body: bool,
) -> Result<usize, InboxError> {
    let sql = format!(
        "UPDATE event SET duplicate_of = ?2, flags = (flags & ~?3) | CASE WHEN ?5 OR via <> ?4
        AND EXISTS (SELECT 1 FROM event AS first WHERE first.id = ?2 AND first.sha256 <> event.sha256)
        THEN ?3 ELSE 0 END WHERE {which} AND duplicate_of IS NOT ?2"
    );
    let first = first.as_ref().map(EventId::as_bytes);
    let values = params![value, first, CONFLICT, Via::BackupSync as i64, other_body];
    Ok(db.prepare_cached(&sql)?.execute(values)?)
}

/// Removes an event, as it is now, from the running totals, or adds it.
fn recount(
    batch: &mut Batch<'_>,
    place: &EventRow,
    change: fn(bool, i64) -> Change,
) -> Result<(), InboxError> {
    const SQL: &str = "SELECT verdict, duplicate_of IS NOT NULL, size FROM event WHERE seq = ?1";
    if place.counts {
        let (verdict, is_duplicate, size) = batch
            .db
            .prepare_cached(SQL)?
            .query_row([place.seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        batch.arriving.tally.add(place.source, verdict, change(is_duplicate, size));
    }
    Ok(())
}

/// What is needed of an event's row to judge it again.
struct EventRow {
    seq: i64,
    source: i64,
    at: i64,
    verdict: i64,
    browser: bool,
    /// Whether the event counts in the totals: it is not in the bin.
    counts: bool,
    via: i64,
}

impl EventRow {
    const fn key_place(&self, id: EventId, is_proved: bool) -> KeyPlace {
        KeyPlace { source: self.source, seq: self.seq, id, at: self.at, is_proved }
    }

    fn find(db: &Connection, id: EventId) -> Result<Option<Self>, InboxError> {
        const SQL: &str = "SELECT seq, source, received_at, verdict, flags, deleted_at IS NULL, via FROM event WHERE id = ?1";
        let found = db.prepare_cached(SQL)?.query_row([id.as_bytes()], |row| {
            Ok(Self {
                seq: row.get(0)?,
                source: row.get(1)?,
                at: row.get(2)?,
                verdict: row.get(3)?,
                browser: row.get::<_, i64>(4)? & BROWSER != 0,
                counts: row.get(5)?,
                via: row.get(6)?,
            })
        });
        Ok(found.optional()?)
    }
}
