//! New verdicts for stored events, after a secret was added or changed, and what that does to their keys.

use hookmitt_event::{Cause, EventId, Timestamp, Verdict, Via};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Inbox, InboxError,
    arrival::causes_json,
    rows::{self, CONFLICT},
    tally::Change,
    writer::Batch,
};

/// A new verdict for a stored event.
#[derive(Clone, Debug)]
pub struct Rejudged {
    /// Which event.
    pub id: EventId,
    /// What verification finds now.
    pub verdict: Verdict,
    /// Why.
    pub causes: Vec<Cause>,
    /// Its claim on its dedupe key; `None` leaves that as it is (a key by content holds for minutes only).
    pub key: Option<KeyClaim>,
}

/// Whether an event may own its dedupe key.
#[derive(Clone, Copy, Debug)]
pub struct KeyClaim {
    /// The first 16 bytes of SHA-256 over the key as it prints.
    pub hash: [u8; 16],
    /// Whether it may own it now.
    pub may_own: bool,
}

impl Inbox {
    /// The events of a source after a sequence number, oldest first.
    ///
    /// # Errors
    /// Whatever SQLite says.
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

    /// The events of any source that have that verdict, after a sequence number, oldest first; none from the bin. Costs
    /// nothing where no event has it, as the totals know.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn ids_with_verdict(
        &self,
        verdict: Verdict,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        const SQL: &str = "SELECT event.seq, event.id FROM tally JOIN event ON event.source = tally.source
            WHERE tally.verdict = ?1 AND tally.events > 0 AND event.verdict = ?1 AND event.seq > ?2
            AND event.deleted_at IS NULL ORDER BY event.seq LIMIT ?3";
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let values = params![verdict as i64, after, limit];
                let found = select.query_map(values, |row| Ok((row.get(0)?, rows::id(row, 1)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Stores new verdicts, oldest event first. An event that may no longer own its key gives it up, to the next
    /// one that may.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn rejudge(&self, verdicts: Vec<Rejudged>) -> Result<(), InboxError> {
        self.write(move |batch| verdicts.iter().try_for_each(|rejudged| one(batch, rejudged))).await
    }
}

impl Inbox {
    /// Notes when the URL of a set-up request was called that confirms it.
    ///
    /// # Errors
    /// Whatever SQLite says.
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
    /// Whatever SQLite says.
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

fn one(batch: &mut Batch<'_>, rejudged: &Rejudged) -> Result<(), InboxError> {
    const FIND: &str = "SELECT seq, source, received_at, deleted_at IS NULL FROM event WHERE id = ?1";
    const SET: &str = "UPDATE event SET verdict = ?2, causes = ?3 WHERE seq = ?1";
    // Another first may have other bytes, or the same.
    const REPEAT: &str = "UPDATE event SET duplicate_of = ?2, flags = (flags & ~?3) | CASE WHEN via <> ?4
        AND EXISTS (SELECT 1 FROM event AS first WHERE first.id = ?2 AND first.sha256 <> event.sha256)
        THEN ?3 ELSE 0 END WHERE seq = ?1 AND duplicate_of IS NOT ?2";
    let db = batch.db;
    let found = db.prepare_cached(FIND)?.query_row([rejudged.id.as_bytes()], |row| {
        Ok(Place { seq: row.get(0)?, source: row.get(1)?, at: row.get(2)?, counts: row.get(3)? })
    });
    let Some(place) = found.optional()? else { return Ok(()) }; // pruned meanwhile
    recount(batch, &place, Change::no_event)?;
    let causes = causes_json(&rejudged.causes);
    db.prepare_cached(SET)?.execute(params![place.seq, rejudged.verdict as i64, causes])?;
    if let Some(claim) = rejudged.key {
        let owner = settle_key(db, rejudged.id, claim, &place)?.filter(|owner| *owner != rejudged.id);
        let owner = owner.as_ref().map(EventId::as_bytes);
        let repeat = params![place.seq, owner, CONFLICT, Via::BackupSync as i64];
        db.prepare_cached(REPEAT)?.execute(repeat)?;
    }
    recount(batch, &place, Change::event)
}

/// Takes an event out of the totals as it is, or puts it in.
fn recount(batch: &mut Batch<'_>, place: &Place, change: fn(bool, i64) -> Change) -> Result<(), InboxError> {
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
struct Place {
    seq: i64,
    source: i64,
    at: i64,
    /// It is not in the bin.
    counts: bool,
}

/// Gives the key up or takes it, as the new verdict has it. Answers who owns it then; an owner that came later than
/// this event doesn't count.
fn settle_key(
    db: &Connection,
    event: EventId,
    claim: KeyClaim,
    place: &Place,
) -> Result<Option<EventId>, InboxError> {
    const GIVE_UP: &str = "DELETE FROM first_key WHERE source = ?1 AND key = ?2 AND seq = ?3";
    const TAKE: &str = "INSERT INTO first_key (source, key, seq, id, at) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET seq = excluded.seq, id = excluded.id, at = excluded.at WHERE seq > excluded.seq";
    const OWNER: &str = "SELECT id FROM first_key WHERE source = ?1 AND key = ?2 AND seq <= ?3";
    let key = params![place.source, claim.hash, place.seq];
    if claim.may_own {
        let own = params![place.source, claim.hash, place.seq, event.as_bytes(), place.at];
        db.prepare_cached(TAKE)?.execute(own)?;
    } else {
        db.prepare_cached(GIVE_UP)?.execute(key)?;
    }
    Ok(db.prepare_cached(OWNER)?.query_row(key, |row| rows::id(row, 0)).optional()?)
}
