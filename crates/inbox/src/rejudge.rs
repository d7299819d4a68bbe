//! New verdicts for stored events, after a secret was added or changed, and what that does to their keys.

use hookmitt_event::{Cause, EventId, TargetId, Timestamp, Verdict, Via};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    HeldBack, Inbox, InboxError, KeyTerms,
    batch::Batch,
    first_key::{First, KeyPlace, settle_key},
    found_provider::settle_provider,
    reasons::DUPLICATE,
    release,
    rows::{self, BROWSER, CONFLICT, causes_json},
    tally::Change,
};

/// A new verdict for a stored event.
#[derive(Clone, Debug)]
pub struct Rejudged {
    /// Which event.
    pub id: EventId,
    /// The verdict that it had when it was looked at.
    pub was: Verdict,
    /// What verification finds now.
    pub verdict: Verdict,
    /// Why.
    pub causes: Vec<Cause>,
    /// Its claim on its dedupe key; `None` leaves that as it is.
    pub key: Option<KeyTerms>,
    /// What becomes of deliveries that wait for the verdict.
    pub held: HeldBack,
    /// The provider that this event proves to be the sender, where its source's may be set by an event.
    pub finds_provider: Option<String>,
}

impl Inbox {
    /// The events of a source after a sequence number, oldest first.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn ids_after(
        &self,
        source: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        const SQL: &str = "SELECT seq, id FROM event WHERE seq > ?1 AND source = ?2 ORDER BY seq LIMIT ?3";
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select
                    .query_map(params![after, source, limit], |row| Ok((row.get(0)?, rows::id(row, 1)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// The events of any source that have that verdict, after a sequence number, oldest first; none from the bin, and
    /// none that was received before `since`. Costs little where no event has it, as the totals know.
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

    /// Stores new verdicts, oldest event first. An event that may no longer own its key gives it up, to the next
    /// one that may. What waited for a verdict is settled with it: answers the targets that get something now, and
    /// the events that set the provider of their source.
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
    /// Notes when the URL of a set-up request was called that confirms it.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_confirmed(&self, id: EventId, at: Timestamp) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE event SET handshake_answer = json_set(coalesce(handshake_answer,
            '{\"status\":200,\"body\":\"\"}'), '$.confirmed_at', ?2) WHERE id = ?1";
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![id.as_bytes(), at.to_string()])?;
            Ok(())
        })
        .await
    }

    /// Stores the causes of a verdict that were found after it. One that has become another meanwhile keeps its own.
    /// Answers whether they were stored.
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

/// How many events one look may pass over. Between two looks the writer may start its log over.
const STRIDE: i64 = 20_000;

fn with_verdict(
    db: &Connection,
    (verdict, since, after, limit): (Verdict, Timestamp, i64, usize),
    upto: i64,
) -> Result<Vec<(i64, EventId)>, InboxError> {
    // CROSS JOIN: the totals are read first, and no event where they have none.
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
    let valid = Verdict::Valid as i64;
    if place.verdict == valid && rejudged.was as i64 != valid && rejudged.verdict as i64 != valid {
        return Ok(Vec::new()); // another process proved it meanwhile
    }
    recount(batch, &place, Change::no_event)?;
    let causes = causes_json(&rejudged.causes);
    batch.db.prepare_cached(SET)?.execute(params![place.seq, rejudged.verdict as i64, causes])?;
    let is_proved = rejudged.verdict == Verdict::Valid;
    let first = rejudged.key.map(|claim| settle_first(batch.db, rejudged.id, is_proved, claim, &place));
    let first = first.transpose()?.flatten();
    recount(batch, &place, Change::event)?;
    let by_content = rejudged.key.is_none_or(|claim| claim.by_content);
    // What is in the bin goes nowhere.
    let held = if place.counts { rejudged.held } else { HeldBack::Wait };
    release::settle(batch.db, place.seq, held, by_content, first.as_ref(), batch.now)
}

/// Settles who owns the key of a stored event, whose verdict stays. What was taken for a repeat and is none says so.
pub(crate) fn settle_stored(
    batch: &mut Batch<'_>,
    id: EventId,
    claim: impl Fn(i64, bool) -> KeyTerms,
) -> Result<(), InboxError> {
    const TELL: &str =
        "UPDATE delivery SET last_error = ?3 WHERE event = ?1 AND state = 5 AND last_error = ?2";
    let Some(place) = EventRow::find(batch.db, id)? else { return Ok(()) };
    let claim = claim(place.verdict, place.browser);
    recount(batch, &place, Change::no_event)?;
    let first = settle_first(batch.db, id, place.verdict == Verdict::Valid as i64, claim, &place)?;
    if first.is_none() && claim.may_own {
        batch.db.prepare_cached(TELL)?.execute(params![place.seq, DUPLICATE, MISTAKEN])?;
    }
    recount(batch, &place, Change::event)
}

/// Why a delivery was skipped whose event was taken for a repeat of one that proved nothing.
const MISTAKEN: &str = "it was taken for a duplicate of an event that proved nothing";

/// Settles who owns the key of an event, and whose repeat that makes it.
fn settle_first(
    db: &Connection,
    id: EventId,
    is_proved: bool,
    claim: KeyTerms,
    place: &EventRow,
) -> Result<Option<First>, InboxError> {
    // Another first may have other bytes, or the same.
    const REPEAT: &str =
        "UPDATE event SET duplicate_of = ?2, flags = (flags & ~?3) | CASE WHEN ?5 OR via <> ?4
        AND EXISTS (SELECT 1 FROM event AS first WHERE first.id = ?2 AND first.sha256 <> event.sha256)
        THEN ?3 ELSE 0 END WHERE seq = ?1 AND duplicate_of IS NOT ?2";
    let key_place = KeyPlace { source: place.source, seq: place.seq, id, at: place.at, is_proved };
    let first = settle_key(db, claim, &key_place)?;
    let owner = first.as_ref().map(|first| first.id.as_bytes());
    let other_body = first.as_ref().is_some_and(|first| first.other_body);
    let repeat = params![place.seq, owner, CONFLICT, Via::BackupSync as i64, other_body];
    db.prepare_cached(REPEAT)?.execute(repeat)?;
    Ok(first)
}

/// Takes an event out of the totals as it is, or puts it in.
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

/// Where an event stands.
struct EventRow {
    seq: i64,
    source: i64,
    at: i64,
    verdict: i64,
    browser: bool,
    /// It is not in the bin.
    counts: bool,
}

impl EventRow {
    fn find(db: &Connection, id: EventId) -> Result<Option<Self>, InboxError> {
        const SQL: &str =
            "SELECT seq, source, received_at, verdict, flags, deleted_at IS NULL FROM event WHERE id = ?1";
        let found = db.prepare_cached(SQL)?.query_row([id.as_bytes()], |row| {
            Ok(Self {
                seq: row.get(0)?,
                source: row.get(1)?,
                at: row.get(2)?,
                verdict: row.get(3)?,
                browser: row.get::<_, i64>(4)? & BROWSER != 0,
                counts: row.get(5)?,
            })
        });
        Ok(found.optional()?)
    }
}
