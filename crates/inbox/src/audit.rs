//! The audit trail: who did what that can't be undone, or that another person should know of.

use hookmitt_event::{Actor, Deed, EventId, TargetId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::{Map, Value};

use crate::{Inbox, InboxError, batch::Batch, rows};

/// How many entries are kept.
const MOST: i64 = 100_000;

/// How long an entry is kept, in microseconds of store time: 90 days.
const KEPT_FOR: i64 = 90 * 24 * 60 * 60 * 1_000_000;

/// What a deed was done to. It never holds a secret: of a target's URL only the origin, of a secret only the label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The event and its sequence number.
    pub event: Option<(EventId, i64)>,
    /// The source's name.
    pub source: Option<String>,
    /// The origin of the target's URL.
    pub target: Option<String>,
    /// What else there is to know.
    pub detail: Map<String, Value>,
}

/// An entry of the audit trail.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number, which grows.
    pub id: i64,
    /// When it was done.
    pub at: Timestamp,
    /// Who did it.
    pub who: Actor,
    /// What was done.
    pub what: Deed,
    /// To what.
    pub subject: Subject,
}

/// Selects entries of the audit trail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only entries of this time or later.
    pub since: Option<Timestamp>,
    /// Only entries before this time.
    pub until: Option<Timestamp>,
    /// Only what they did.
    pub who: Option<Actor>,
    /// Only this deed.
    pub what: Option<Deed>,
}

/// A page of the audit trail.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditPage {
    /// The entries, newest first.
    pub items: Vec<Entry>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
}

impl Subject {
    /// Makes the subject for an event.
    pub fn event(id: EventId, seq: i64) -> Self {
        Self { event: Some((id, seq)), ..Self::default() }
    }

    /// Makes the subject for a source.
    pub fn source(slug: &str) -> Self {
        Self { source: Some(slug.to_owned()), ..Self::default() }
    }

    /// Makes the subject for a target.
    pub(crate) fn target(id: TargetId, source: Option<&str>, url: &str) -> Self {
        let subject =
            Self { target: Some(origin(url)), source: source.map(str::to_owned), ..Self::default() };
        subject.with("target_id", id.0)
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.detail.insert(name.to_owned(), value.into());
        self
    }
}

/// Returns a URL's scheme, host and port. What follows may be secret, and so may be what stands before an `@`.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

/// Adds an entry for whoever asked for the running job, and returns its number. What hookmitt does by itself has no
/// entry.
pub(crate) fn record(batch: &Batch<'_>, what: Deed, subject: &Subject) -> Result<Option<i64>, InboxError> {
    const SQL: &str = "INSERT INTO audit (at, stored_at, who, what, event, seq, source, target, detail)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id";
    let Some(who) = batch.by else { return Ok(None) };
    let detail = Some(&subject.detail).filter(|detail| !detail.is_empty());
    let values = params![
        batch.now.wall,
        batch.now.store,
        who as i64,
        what as i64,
        subject.event.map(|(id, _)| *id.as_bytes()),
        subject.event.map(|(_, seq)| seq),
        subject.source,
        subject.target,
        detail.map(|detail| serde_json::to_string(detail).unwrap_or_default()),
    ];
    let id: i64 = batch.db.prepare_cached(SQL)?.query_row(values, |row| row.get(0))?;
    prune(batch.db, batch.now.store, id)?;
    Ok(Some(id))
}

/// Like [`record`] for something that is done to many events in several commits: `entry` is what the first of them
/// returned. Adds `events` to the number of events in the entry.
pub(crate) fn record_more(
    batch: &Batch<'_>,
    entry: Option<i64>,
    what: Deed,
    subject: &Subject,
    events: u64,
) -> Result<Option<i64>, InboxError> {
    const SQL: &str =
        "UPDATE audit SET detail = json_set(detail, '$.events', detail ->> '$.events' + ?2) WHERE id = ?1";
    match entry {
        _ if events == 0 => Ok(entry),
        None => record(batch, what, &subject.clone().with("events", events)),
        Some(id) => {
            batch.db.prepare_cached(SQL)?.execute(params![id, events])?;
            Ok(entry)
        }
    }
}

/// Adds an entry for each of these targets that is a URL given once.
pub(crate) fn record_elsewhere(
    batch: &Batch<'_>,
    event: (EventId, i64),
    targets: &[TargetId],
) -> Result<(), InboxError> {
    const URL: &str = "SELECT url FROM target WHERE id = ?1 AND kind = 2";
    let mut targets = targets.to_vec();
    targets.sort_unstable_by_key(|target| target.0);
    targets.dedup();
    for target in targets {
        let url: Option<String> =
            batch.db.prepare_cached(URL)?.query_row([target.0], |row| row.get(0)).optional()?;
        if let Some(url) = url {
            let subject = Subject { event: Some(event), target: Some(origin(&url)), ..Subject::default() };
            record(batch, Deed::ReplayedElsewhere, &subject)?;
        }
    }
    Ok(())
}

/// Removes some of the oldest entries that are too old or too many, if there are any.
fn prune(db: &Connection, now: i64, newest: i64) -> Result<(), InboxError> {
    const SQL: &str = "DELETE FROM audit WHERE id IN
        (SELECT id FROM (SELECT id, stored_at FROM audit ORDER BY id LIMIT 50) WHERE stored_at < ?1 OR id <= ?2)";
    db.prepare_cached(SQL)?.execute([now - KEPT_FOR, newest - MOST])?;
    Ok(())
}

/// Removes some of the oldest entries that are too old.
pub(crate) fn prune_old(batch: &Batch<'_>) -> Result<(), InboxError> {
    prune(batch.db, batch.now.store, 0)
}

impl Inbox {
    /// Adds an entry to the audit trail, for something that was done outside the inbox.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn record(&self, what: Deed, subject: Subject) -> Result<(), InboxError> {
        self.write(move |batch| record(batch, what, &subject).map(drop)).await
    }

    /// Returns a page of at most `limit` entries of the audit trail with a number below `cursor`, newest first.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn audit(
        &self,
        filter: AuditFilter,
        cursor: Option<i64>,
        limit: usize,
    ) -> Result<AuditPage, InboxError> {
        const SQL: &str = "SELECT id, at, who, what, event, seq, source, target, detail FROM audit
            WHERE id < ?1 AND stored_at >= ?2 AND at >= ?3 AND at < ?4 AND who = coalesce(?5, who)
            AND what = coalesce(?6, what) ORDER BY id DESC LIMIT ?7";
        let oldest = self.clock.now() - KEPT_FOR;
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let values = params![
                    cursor.unwrap_or(i64::MAX),
                    oldest,
                    filter.since.map_or(i64::MIN, Timestamp::as_micros),
                    filter.until.map_or(i64::MAX, Timestamp::as_micros),
                    filter.who.map(|who| who as i64),
                    filter.what.map(|what| what as i64),
                    limit + 1,
                ];
                let mut items: Vec<_> = select.query_map(values, entry)?.collect::<Result<_, _>>()?;
                let more = items.len() > limit;
                items.truncate(limit);
                let next = items.last().filter(|_| more).map(|entry: &Entry| entry.id);
                Ok(AuditPage { items, next })
            })
            .await
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let (who, what): (usize, usize) = (row.get(2)?, row.get(3)?);
    let detail: Option<String> = row.get(8)?;
    let detail = detail.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
    let event = rows::id_or_null(row, 4)?.zip(row.get(5)?);
    Ok(Entry {
        id: row.get(0)?,
        at: rows::moment(row, 1)?,
        who: Actor::ALL.get(who).ok_or_else(|| rows::corrupt(2, "actor"))?.0,
        what: Deed::ALL.get(what).ok_or_else(|| rows::corrupt(3, "deed"))?.0,
        subject: Subject { event, source: row.get(6)?, target: row.get(7)?, detail },
    })
}
