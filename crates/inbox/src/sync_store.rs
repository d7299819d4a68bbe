//! Stores what a provider's API lists: copies of events that never came, and what was found of all others.

use hookmitt_event::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use crate::{
    Inbox, InboxError, NewEvent, Stored,
    batch::Batch,
    store::{arrived_before, store_new},
};

/// What came of an item that a provider's API listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Its event was here, or had been.
    Here = 0,
    /// It was missing, and was added.
    Added = 1,
    /// It is missing. Nothing was added, because that was only to be shown.
    Missing = 2,
    /// It is missing and can't be recovered.
    Lost = 3,
}

/// An item that a provider's API listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedItem {
    /// The hash of its dedupe key, or of its type and object ([`object_hash`]).
    pub key: [u8; 16],
    /// Whether it is an object, of which there is one item, however many events it had.
    pub object: bool,
    /// Its id at the provider.
    pub id: String,
    /// When it happened there.
    pub at: Timestamp,
    /// Its type, if that is known.
    pub kind: Option<String>,
    /// What came of it.
    pub outcome: Outcome,
    /// The number of its event.
    pub event: Option<i64>,
    /// Why it can't be recovered.
    pub why: Option<String>,
}

/// What is known of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The number of the event that has it, which may be gone; `None` if that isn't known.
    pub event: Option<i64>,
}

/// What became of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// It was stored.
    Stored(Stored),
    /// The event was here by now, under this number.
    Here(i64),
}

/// Returns the hash by which the copy of an object is known: there is one event of that type for the object.
pub fn object_hash(kind: &str, object: &str) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::digest(format!("object:{kind}\0{object}")).into();
    hash.first_chunk().copied().unwrap_or_default()
}

impl Inbox {
    /// Returns for each key whether an event with it is here, was here, or was added by an earlier sync.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn known_keys(
        &self,
        source: i64,
        keys: Vec<[u8; 16]>,
    ) -> Result<Vec<Option<Known>>, InboxError> {
        self.readers
            .read(move |db| keys.iter().map(|key| known(db, source, key)).collect::<Result<_, _>>())
            .await
    }

    /// Calls `each` with type, object and number of a source's events that were received at `since` or later.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn objects_since(
        &self,
        source: i64,
        since: Timestamp,
    ) -> Result<Vec<(String, String, i64)>, InboxError> {
        let (mut all, mut below) = (Vec::new(), i64::MAX);
        loop {
            let (found, next) = self.readers.read(move |db| objects(db, source, since, below)).await?;
            all.extend(found);
            match next {
                Some(next) => below = next,
                None => return Ok(all),
            }
        }
    }

    /// Stores a copy of an event that never came, unless the event is here by now, together with what its report says of
    /// it. `above` is the number of the last event when the report looked for objects.
    ///
    /// # Errors
    /// Fails like [`store`](Self::store).
    pub async fn store_copy(
        &self,
        report: i64,
        item: ListedItem,
        copy: NewEvent,
        above: i64,
    ) -> Result<Copied, InboxError> {
        let weight = copy.weight();
        self.write_now(weight, move |batch| store_copy(batch, report, item.clone(), &copy, above)).await
    }

    /// Notes what came of some items, and counts them in their report.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn note_listed(&self, report: i64, items: Vec<ListedItem>) -> Result<(), InboxError> {
        self.write(move |batch| {
            let mut counts = Counts::default();
            items.iter().try_for_each(|item| note(batch.db, report, item, &mut counts))?;
            counts.add_to(batch.db, report)
        })
        .await
    }
}

fn known(db: &Connection, source: i64, key: &[u8; 16]) -> Result<Option<Known>, InboxError> {
    const KEY: &str = "SELECT seq FROM first_key WHERE source = ?1 AND key = ?2";
    const LISTED: &str = "SELECT event FROM listed WHERE source = ?1 AND key = ?2 AND outcome IN (0, 1)";
    let values = params![source, key];
    let owner: Option<i64> = db.prepare_cached(KEY)?.query_row(values, |row| row.get(0)).optional()?;
    if owner.is_some() {
        return Ok(Some(Known { event: owner }));
    }
    let listed = db.prepare_cached(LISTED)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(listed.map(|event| Known { event }))
}

/// How many events one read goes through.
const STRIDE: usize = 5_000;

type Objects = (Vec<(String, String, i64)>, Option<i64>);

fn objects(db: &Connection, source: i64, since: Timestamp, below: i64) -> Result<Objects, InboxError> {
    const SQL: &str = "SELECT seq, received_at, type, object FROM event
        WHERE source = ?1 AND seq < ?2 AND deleted_at IS NULL ORDER BY seq DESC LIMIT ?3";
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![source, below, STRIDE])?;
    let (mut found, mut next, mut count) = (Vec::new(), None, 0);
    while let Some(row) = rows.next()? {
        let (seq, at): (i64, i64) = (row.get(0)?, row.get(1)?);
        count += 1;
        // Numbers follow the order of arrival but for imported events, so one old event isn't the end.
        next = Some(seq);
        if at < since.as_micros() {
            continue;
        }
        if let (Some(kind), Some(object)) = (row.get(2)?, row.get(3)?) {
            found.push((kind, object, seq));
        }
    }
    let is_last = count < STRIDE || found.is_empty();
    Ok((found, next.filter(|_| !is_last)))
}

fn store_copy(
    batch: &mut Batch<'_>,
    report: i64,
    mut item: ListedItem,
    copy: &NewEvent,
    above: i64,
) -> Result<Copied, InboxError> {
    let here = match known(batch.db, copy.source, &item.key)? {
        Some(known) => Some(known.event),
        None => came_meanwhile(batch.db, copy, above)?.map(Some),
    };
    let here = match here {
        Some(event) => Some(event),
        None => arrived_before(batch.db, copy)?.map(|earlier| Some(earlier.seq)),
    };
    if let Some(event) = here {
        (item.outcome, item.event) = (Outcome::Here, event);
        note_one(batch.db, report, &item)?;
        return Ok(Copied::Here(event.unwrap_or_default()));
    }
    let stored = store_new(batch, copy)?;
    (item.outcome, item.event) = (Outcome::Added, Some(stored.seq));
    note_one(batch.db, report, &item)?;
    Ok(Copied::Stored(stored))
}

/// Returns the event about the copied object that came since the report looked for such.
fn came_meanwhile(db: &Connection, copy: &NewEvent, above: i64) -> Result<Option<i64>, InboxError> {
    const SQL: &str = "SELECT seq FROM event WHERE source = ?1 AND seq > ?2 AND type = ?3 AND object = ?4
        AND deleted_at IS NULL ORDER BY seq LIMIT 1";
    let (Some(kind), Some(object), Some(_)) = (&copy.facts.event_type, &copy.facts.object, copy.object_key)
    else {
        return Ok(None);
    };
    let values = params![copy.source, above, kind, object];
    Ok(db.prepare_cached(SQL)?.query_row(values, |row| row.get(0)).optional()?)
}

/// How many items of a report had each outcome.
#[derive(Default)]
struct Counts([i64; 4]);

impl Counts {
    fn add_to(&self, db: &Connection, report: i64) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE sync_report SET checked = checked + ?2 + ?3 + ?4 + ?5, here = here + ?2,
            added = added + ?3, missing = missing + ?4, lost = lost + ?5 WHERE id = ?1";
        let [here, added, missing, lost] = self.0;
        db.prepare_cached(SQL)?.execute(params![report, here, added, missing, lost])?;
        Ok(())
    }
}

fn note_one(db: &Connection, report: i64, item: &ListedItem) -> Result<(), InboxError> {
    let mut counts = Counts::default();
    note(db, report, item, &mut counts)?;
    counts.add_to(db, report)
}

/// Notes what came of an item, and counts it for its report, in which it occurs once. What a sync added stays added.
fn note(db: &Connection, report: i64, item: &ListedItem, counts: &mut Counts) -> Result<(), InboxError> {
    const BEFORE: &str = "SELECT outcome, report, seen FROM listed WHERE source = ?1 AND key = ?2";
    const KEEP: &str =
        "INSERT INTO listed (source, key, id, at, kind, outcome, event, report, why, seen, object)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO UPDATE SET id = excluded.id,
        at = excluded.at, kind = coalesce(excluded.kind, kind), outcome = excluded.outcome,
        event = coalesce(excluded.event, event), report = excluded.report,
        why = iif(excluded.outcome = 3, coalesce(excluded.why, why), NULL), seen = excluded.seen";
    let source: i64 = db
        .prepare_cached("SELECT source FROM sync_report WHERE id = ?1")?
        .query_row([report], |row| row.get(0))?;
    let before = db.prepare_cached(BEFORE)?.query_row(params![source, item.key], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    let before = before.optional()?;
    let (added, lost) = (Outcome::Added as i64, Outcome::Lost as i64);
    let (outcome, by) = match before {
        Some((outcome, by, _)) if outcome == added => (added, by),
        // Only an attempt tells that something can be recovered after all.
        Some((outcome, by, _)) if outcome == lost && item.outcome == Outcome::Missing => (lost, by),
        _ => (item.outcome as i64, report),
    };
    let values = params![
        source,
        item.key,
        item.id,
        item.at.as_micros(),
        item.kind,
        outcome,
        item.event,
        by,
        item.why,
        report,
        item.object,
    ];
    db.prepare_cached(KEEP)?.execute(values)?;
    let counts_as = if outcome == added && by != report { Outcome::Here as i64 } else { outcome };
    if before.is_none_or(|(.., seen)| seen != report) {
        counts.0[usize::try_from(counts_as).unwrap_or(0).min(3)] += 1;
    }
    Ok(())
}

/// Forgets what was listed of a source before a moment.
pub(crate) fn forget(db: &Connection, source: i64, before: Timestamp) -> Result<(), InboxError> {
    const SQL: &str = "DELETE FROM listed WHERE (source, key) IN
        (SELECT source, key FROM listed WHERE source = ?1 AND at < ?2 LIMIT 1000)";
    db.prepare_cached(SQL)?.execute(params![source, before.as_micros()])?;
    Ok(())
}
