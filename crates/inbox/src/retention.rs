//! How long events are kept: what was set, and what that means for an event.

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_event::{Deed, Keep, Kept, Retention, Slug, WhenFull};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Inbox, InboxError,
    audit::{Subject, record},
    batch::Batch,
    rows,
};

/// Stands for every source that says nothing else.
const ALL: i64 = 0;

const SIZE_LIMIT: &str = "size_limit";
const WHEN_FULL: &str = "when_full";

/// A change to how long events are kept.
#[derive(Clone, Debug, Default)]
pub struct RetentionChange {
    /// What changes, for one source or for all; `None` takes back what was set.
    pub keep: Vec<(Option<Slug>, Kept, Option<Keep>)>,
    /// The new limit of the bytes in use; `Some(None)` removes it.
    pub size_limit: Option<Option<u64>>,
    /// What is done from now on when the disk is nearly full.
    pub when_full: Option<WhenFull>,
}

impl Inbox {
    /// Returns how long events are kept.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn retention(&self) -> Result<Retention, InboxError> {
        self.readers.read(retention).await
    }

    /// Changes how long events are kept, and returns what holds from now on. All events are gone through anew.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSource`] if a source is unknown; then nothing is changed.
    pub async fn set_retention(&self, change: RetentionChange) -> Result<Retention, InboxError> {
        self.write(move |batch| {
            for (source, kept, keep) in &change.keep {
                set(batch.db, source.as_ref(), *kept, *keep)?;
            }
            if let Some(limit) = change.size_limit {
                put(batch.db, SIZE_LIMIT, limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)))?;
            }
            if let Some(when_full) = change.when_full {
                put(batch.db, WHEN_FULL, Some(when_full as i64))?;
            }
            batch.db.execute("DELETE FROM swept", [])?;
            note(batch, &change)?;
            retention(batch.db)
        })
        .await
    }
}

/// Notes a change in the audit trail.
fn note(batch: &Batch<'_>, change: &RetentionChange) -> Result<(), InboxError> {
    let mut subject = Subject::default();
    for (source, kept, keep) in &change.keep {
        let of = source.as_ref().map_or_else(String::new, |source| format!("{source}: "));
        let keep = keep.map_or_else(|| "default".to_owned(), |keep| keep.to_string());
        subject = subject.with(&format!("{of}{}", kept.as_str()), keep);
    }
    if let Some(limit) = change.size_limit {
        subject = subject.with(SIZE_LIMIT, limit);
    }
    if let Some(when_full) = change.when_full {
        subject = subject.with(WHEN_FULL, when_full.to_string());
    }
    record(batch, Deed::RetentionChanged, &subject).map(drop)
}

fn set(db: &Connection, source: Option<&Slug>, kept: Kept, keep: Option<Keep>) -> Result<(), InboxError> {
    const FIND: &str = "SELECT id FROM source WHERE slug = ?1";
    const SET: &str = "INSERT OR REPLACE INTO retention (source, kept, span) VALUES (?1, ?2, ?3)";
    const UNSET: &str = "DELETE FROM retention WHERE source = ?1 AND kept = ?2";
    let id = match source {
        None => ALL,
        Some(slug) => {
            let found = db.prepare_cached(FIND)?.query_row([slug.as_str()], |row| row.get(0)).optional()?;
            found.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))?
        }
    };
    match keep {
        None => db.prepare_cached(UNSET)?.execute(params![id, kept as i64])?,
        Some(keep) => db.prepare_cached(SET)?.execute(params![id, kept as i64, span(keep)])?,
    };
    Ok(())
}

fn put(db: &Connection, key: &str, value: Option<i64>) -> Result<(), InboxError> {
    const PUT: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
    match value {
        Some(value) => db.prepare_cached(PUT)?.execute(params![key, value])?,
        None => db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?,
    };
    Ok(())
}

/// Returns the length of a time in microseconds, as it is stored; `None` (null) for ever.
fn span(keep: Keep) -> Option<i64> {
    match keep {
        Keep::For(span) => Some(rows::micros(span)),
        Keep::Forever => None,
    }
}

/// Returns how long events are kept.
pub(crate) fn retention(db: &Connection) -> Result<Retention, InboxError> {
    const SQL: &str = "SELECT r.kept, r.span, s.slug FROM retention r LEFT JOIN source s ON s.id = r.source";
    let mut all = Retention::default();
    let mut select = db.prepare_cached(SQL)?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let kept: usize = row.get(0)?;
        let (kept, _) = Kept::ALL.get(kept).copied().ok_or_else(|| rows::corrupt(0, "what is kept"))?;
        let span: Option<u64> = row.get(1)?;
        let keep = span.map_or(Keep::Forever, |span| Keep::For(std::time::Duration::from_micros(span)));
        let of: &mut BTreeMap<_, _> = match row.get::<_, Option<String>>(2)? {
            Some(slug) => all.sources.entry(slug).or_default(),
            None => &mut all.keep,
        };
        of.insert(kept, keep);
    }
    all.size_limit = limit(db)?;
    all.when_full = when_full(db)?;
    Ok(all)
}

/// Returns how many bytes of the file may be in use; `None` if there is no limit.
pub(crate) fn limit(db: &Connection) -> Result<Option<u64>, InboxError> {
    Ok(value(db, SIZE_LIMIT)?.and_then(|limit| u64::try_from(limit).ok()))
}

/// Returns what is done when the disk is nearly full.
pub(crate) fn when_full(db: &Connection) -> Result<WhenFull, InboxError> {
    let prunes = value(db, WHEN_FULL)? == Some(WhenFull::Prune as i64);
    Ok(if prunes { WhenFull::Prune } else { WhenFull::Warn })
}

fn value(db: &Connection, key: &str) -> Result<Option<i64>, InboxError> {
    let mut select = db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    Ok(select.query_row([key], |row| row.get(0)).optional()?)
}

/// For how long events are kept, by source and by what retention tells apart.
#[derive(Debug)]
pub(crate) struct Policy(BTreeMap<(i64, usize), Option<i64>>);

impl Policy {
    /// Reads what was set.
    pub(crate) fn read(db: &Connection) -> Result<Self, InboxError> {
        let mut select = db.prepare_cached("SELECT source, kept, span FROM retention")?;
        let set = select.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
        let default = |kept: Kept| ((ALL, kept as usize), span(kept.default_keep()));
        let mut all: BTreeMap<_, _> = Kept::ALL.into_iter().map(|(kept, _)| default(kept)).collect();
        for one in set {
            let (of, span) = one?;
            all.insert(of, span);
        }
        Ok(Self(all))
    }

    /// Returns for how long an event of a source is kept, in microseconds of store time; `None` for ever.
    pub(crate) fn span(&self, source: i64, kept: Kept) -> Option<i64> {
        let kept = kept as usize;
        self.0.get(&(source, kept)).or_else(|| self.0.get(&(ALL, kept))).copied().flatten()
    }

    /// Returns every span for which some events are kept, the shortest first. What is in the bin is not among them.
    pub(crate) fn spans(&self) -> BTreeSet<i64> {
        let events = self.0.iter().filter(|((_, kept), _)| *kept != Kept::Trash as usize);
        events.filter_map(|(_, span)| *span).collect()
    }

    /// Returns for how long something stays in the bin, in microseconds of store time; `None` for ever.
    pub(crate) fn in_trash(&self) -> Option<i64> {
        self.span(ALL, Kept::Trash)
    }
}
