//! Single events: shows them in full, moves them to the bin, restores them.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_clock::StoreClock;
use hookmitt_event::{
    Answerer, Cause, Delivery, Event, EventId, HeaderLines, Request, SenderAnswer, SignedWith, Tag, Via,
};
use rusqlite::{Connection, Row, params};

use crate::{
    Inbox, InboxError, content,
    deliveries::shown,
    new_event::CHANNELS,
    rows::{self, BROWSER, CALLBACK, CONFLICT, FOLDS, STALE, TAGGED},
};

/// An event with its deliveries.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The event with its body.
    pub event: Event,
    /// Its deliveries with their attempts.
    pub deliveries: Vec<Delivery>,
}

/// The columns that [`read`] needs.
pub(crate) const COLUMNS: &str = "e.seq, e.id, s.slug, e.received_at, e.via, e.verdict, e.flags, e.provider, e.type,
    e.title, e.event_time, e.dedupe_key, e.duplicate_of, e.parent, e.handshake, e.causes, e.deleted_at, e.remote,
    e.url, e.method, e.path, e.query, e.version, e.size, e.sha256, e.handshake_answer, e.signed_with,
    e.foreign_host, e.pinned_at IS NOT NULL, e.note,
    CASE WHEN e.flags & 32 THEN (SELECT group_concat(name, ',' ORDER BY key) FROM tag WHERE event = e.seq) END";

const _: () = assert!(TAGGED == 32);

/// How many columns those are, and so the index of the next column.
pub(crate) const NEXT: usize = 31;

impl Inbox {
    /// Returns one event with its body.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn event(&self, id: EventId) -> Result<Event, InboxError> {
        let clock = self.clock.clone();
        self.readers.read(move |db| whole(db, id, &clock)).await
    }

    /// Returns one event with its body and its deliveries.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn show(&self, id: EventId) -> Result<Shown, InboxError> {
        let clock = self.clock.clone();
        self.readers
            .read(move |db| {
                let event = whole(db, id, &clock)?;
                let deliveries = shown(db, event.seq, id, &clock)?;
                Ok(Shown { event, deliveries })
            })
            .await
    }

    /// Stores what the sender of an event was answered, and how long after its request was there.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_answered(&self, id: EventId, status: u16, after: Duration) -> Result<(), InboxError> {
        const SQL: &str = "INSERT OR REPLACE INTO late_answer (event, answered, answered_after)
            SELECT seq, ?2, ?3 FROM event WHERE id = ?1";
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![id.as_bytes(), status, rows::micros(after)])?;
            Ok(())
        })
        .await
    }

    /// Stores whose secret made the signature of an event that was signed here.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_signed_with(&self, id: EventId, with: SignedWith) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE event SET signed_with = ?2 WHERE id = ?1";
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![id.as_bytes(), with.to_string()])?;
            Ok(())
        })
        .await
    }
}

fn whole(db: &Connection, id: EventId, clock: &StoreClock) -> Result<Event, InboxError> {
    let sql = format!(
        "SELECT {COLUMNS}, e.forwarded, e.stored_at, coalesce(late.answered, e.answered),
            coalesce(late.answered_after, e.answered_after), e.arrival_key IS NOT NULL
            FROM event e JOIN source s ON s.id = e.source LEFT JOIN late_answer late ON late.event = e.seq
            WHERE e.id = ?1"
    );
    let mut select = db.prepare_cached(&sql)?;
    let mut found = select.query([id.as_bytes()])?;
    let row = found.next()?.ok_or_else(|| InboxError::UnknownEvent(id.to_string()))?;
    let mut event = read(row, content::read(db, row.get(0)?)?)?;
    content::ensure_genuine(&event)?;
    let forwarded: Option<Vec<u8>> = row.get(NEXT)?;
    event.forwarded = forwarded.map(content::header_lines).transpose()?;
    let stored_at: Option<i64> = row.get(NEXT + 1)?;
    event.stored_for = stored_at.map(|at| Duration::from_micros(clock.now().abs_diff(at)));
    event.answered = answered(row, event.via)?;
    Ok(event)
}

/// Reads what the sender was answered, from the last three columns of [`whole`].
fn answered(row: &Row<'_>, via: Via) -> rusqlite::Result<Option<SenderAnswer>> {
    let (status, micros): (Option<u16>, Option<u64>) = (row.get(NEXT + 2)?, row.get(NEXT + 3)?);
    let is_letter = via == Via::Tunnel && row.get(NEXT + 4)?;
    let by = match status {
        _ if is_letter => Answerer::Relay,
        Some(CHANNELS) => Answerer::Channel,
        Some(_) => Answerer::Hookmitt,
        None => return Ok(None),
    };
    let status = status.filter(|status| *status != CHANNELS);
    Ok(Some(SenderAnswer { by, status, after_ms: micros.map(|micros| micros / 1_000) }))
}

/// Reads an event from a row of [`COLUMNS`], with its header lines and its body.
pub(crate) fn read(row: &Row<'_>, content: (HeaderLines, Bytes)) -> rusqlite::Result<Event> {
    let flags: i64 = row.get(6)?;
    let slug: String = row.get(2)?;
    let source = slug.parse().map_err(|_| rows::corrupt(2, "source name"))?;
    let dedupe_key: Option<String> = row.get(11)?;
    let causes: Option<String> = row.get(15)?;
    let handshake_answer: Option<String> = row.get(25)?;
    let signed_with: Option<String> = row.get(26)?;
    let request = request(row, content)?;
    let url: Option<String> = row.get(18)?;
    Ok(Event {
        seq: row.get(0)?,
        id: rows::id(row, 1)?,
        url: url.unwrap_or_else(|| request.called_url(&slug)),
        source,
        received_at: rows::moment(row, 3)?,
        via: rows::via(row, 4)?,
        verdict: rows::verdict(row, 5)?,
        browser: flags & BROWSER != 0,
        callback: flags & CALLBACK != 0,
        foreign_host: row.get(27)?,
        conflict: flags & CONFLICT != 0,
        folds: flags & FOLDS != 0,
        stale: flags & STALE != 0,
        provider: row.get(7)?,
        event_type: row.get(8)?,
        title: row.get(9)?,
        event_time: rows::moment_or_null(row, 10)?,
        dedupe_key: dedupe_key.and_then(|key| key.parse().ok()),
        duplicate_of: rows::id_or_null(row, 12)?,
        parent: rows::id_or_null(row, 13)?,
        handshake: row.get(14)?,
        handshake_answer: handshake_answer.and_then(|json| serde_json::from_str(&json).ok()),
        causes: causes.map(|json| causes_of(&json)).transpose()?.unwrap_or_default(),
        deleted_at: rows::moment_or_null(row, 16)?,
        signed_with: signed_with
            .map(|text| text.parse())
            .transpose()
            .map_err(|_| rows::corrupt(26, "signer"))?,
        pinned: row.get(28)?,
        note: row.get(29)?,
        tags: tags(row, 30)?,
        remote: row.get(17)?,
        forwarded: None,
        answered: None,
        stored_for: None,
        size: row.get(23)?,
        sha256: row.get(24)?,
        request,
    })
}

/// Reads the names of tags, which contain no commas.
fn tags(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<Tag>> {
    let Some(names) = row.get::<_, Option<String>>(column)? else { return Ok(Vec::new()) };
    names.split(',').map(|name| name.parse().map_err(|_| rows::corrupt(column, "tag"))).collect()
}

fn causes_of(json: &str) -> rusqlite::Result<Vec<Cause>> {
    serde_json::from_str(json).map_err(|_| rows::corrupt(15, "causes"))
}

fn request(row: &Row<'_>, (headers, body): (HeaderLines, Bytes)) -> rusqlite::Result<Request> {
    Ok(Request {
        method: row.get(19)?,
        path: row.get(20)?,
        query: row.get(21)?,
        version: rows::version(row, 22)?,
        headers,
        body,
    })
}
