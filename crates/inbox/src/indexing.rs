//! What the search index is told: which events came, and which of those that it has were changed.
//!
//! The index never misses a change. Before it reads events up to a number, that number is stored; from then on every
//! change to one of them is noted in the transaction that makes it, and stays noted until the index has stored it.
//!
//! Nor does it hold anything that never happened here, as it would after an older copy of the inbox was restored: each of
//! its steps has a name that is stored here first and there afterwards. An index whose last step isn't one of the last
//! two here belongs to another course of events.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use hookmitt_event::{Event, EventStatus, TargetId};
use hookmitt_search::Answer;
use hookmitt_sqlite::{Background, is_called_out};
use rusqlite::{Connection, params};

use crate::{Inbox, InboxError, content, matching::answers, owner, row::by_seq};

/// Where the name of the last step is kept, and that of the step which the index had stored then.
const STEP: &str = "index_step";
const STEP_BEFORE: &str = "index_step_before";

/// An event as it is indexed.
#[derive(Clone, Debug)]
pub struct Indexable {
    /// The event; with its body, if it was read.
    pub event: Event,
    /// Whether the body was read, so that the text by which the event is found is known.
    pub has_text: bool,
    /// Its status.
    pub status: EventStatus,
    /// The targets to which it was bound.
    pub targets: Vec<TargetId>,
    /// The answers to its attempts.
    pub answers: Vec<Answer>,
}

/// A note that an event has changed. It is removed only if the event has not changed again since it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeNote {
    /// The event's number.
    pub seq: i64,
    /// Whether the text by which it is found has changed, too.
    pub text: bool,
    mark: i64,
}

/// Events to be indexed.
#[derive(Clone, Debug, Default)]
pub struct Unindexed {
    /// The events.
    pub events: Vec<Indexable>,
    /// Every event up to this number was read, or is gone.
    pub through: i64,
}

/// How many changes are read at once.
pub const NOTES: usize = 256;

/// The bodies that are read at once have about this many bytes at most.
const BYTES: u64 = 4 * 1024 * 1024;

/// How long events are read at once, on a slow disk.
const LONG: Duration = Duration::from_millis(300);

impl Inbox {
    /// Begins a step of the index, whose last one was `last`. Notes changes to events up to this number from now on, and
    /// removes the notes that the index has stored. Returns the name of the step: what the index stores of the events
    /// has to be read after this.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers.
    pub async fn begin_indexing(
        &self,
        last: Option<i64>,
        up_to: i64,
        stored: Vec<ChangeNote>,
    ) -> Result<i64, InboxError> {
        const LIMIT: &str = "UPDATE meta SET value = ?1 WHERE key = 'indexed' AND value < ?1";
        const FORGET: &str = "DELETE FROM changed WHERE seq = ?1 AND mark = ?2";
        const NAME: &str = "INSERT OR REPLACE INTO meta VALUES (?1, ?2)";
        let (token, name) = (self.owner.load(Ordering::Acquire), rand::random());
        self.write(move |batch| {
            owner::check(batch.db, token)?;
            batch.db.prepare_cached(LIMIT)?.execute([up_to])?;
            let mut forget = batch.db.prepare_cached(FORGET)?;
            for ChangeNote { seq, mark, .. } in &stored {
                forget.execute(params![seq, mark])?;
            }
            let mut set = batch.db.prepare_cached(NAME)?;
            for (key, name) in [(STEP_BEFORE, last), (STEP, Some(name))] {
                if let Some(name) = name {
                    set.execute(params![key, name])?;
                }
            }
            Ok(name)
        })
        .await
    }

    /// Whether an index belongs to this course of events, by the name of its last step. An empty one, which has none,
    /// always does.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn knows_index(&self, last: Option<i64>) -> Result<bool, InboxError> {
        const SQL: &str = "SELECT count(*) FROM meta WHERE key IN (?1, ?2) AND value = ?3";
        let Some(last) = last else { return Ok(true) };
        self.readers
            .read(move |db| {
                let same: i64 =
                    db.prepare_cached(SQL)?.query_row(params![STEP, STEP_BEFORE, last], |row| row.get(0))?;
                Ok(same > 0)
            })
            .await
    }

    /// Forgets the index, because damage was found in it: from now on it is not [known](Self::knows_index), so the
    /// process that writes it makes it anew.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn forget_index(&self) -> Result<(), InboxError> {
        const SQL: &str = "DELETE FROM meta WHERE key IN (?1, ?2)";
        self.write(|batch| {
            batch.db.prepare_cached(SQL)?.execute([STEP, STEP_BEFORE])?;
            Ok(())
        })
        .await
    }

    /// Returns the events with numbers above `after` and up to `up_to`, oldest first, as many as may be read at once.
    /// Those in the bin are among them. They are read on the thread `on`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn unindexed(&self, after: i64, up_to: i64, on: &Background) -> Result<Unindexed, InboxError> {
        const SQL: &str = "SELECT seq, size FROM event WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
        self.readers
            .read_on(on, move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let mut found = select.query([after, up_to])?;
                let (mut all, mut bytes) = (Unindexed { through: up_to, ..Unindexed::default() }, 0);
                let begun = Instant::now();
                while let Some(row) = found.next()? {
                    let (seq, size): (i64, u64) = (row.get(0)?, row.get(1)?);
                    bytes += size;
                    let is_enough = bytes > BYTES || begun.elapsed() > LONG || is_called_out();
                    if !all.events.is_empty() && is_enough {
                        all.through = seq - 1;
                        break;
                    }
                    all.events.extend(indexable(db, seq, true)?);
                }
                Ok(all)
            })
            .await
    }

    /// Returns the events of which a change is noted, with the notes and the numbers of those that are gone; a few at a
    /// time. They are read on the thread `on`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn changed(&self, on: &Background) -> Result<(Vec<Indexable>, Vec<ChangeNote>), InboxError> {
        const SQL: &str = "SELECT seq, mark, text FROM changed ORDER BY seq LIMIT ?1";
        self.readers
            .read_on(on, |db| {
                let mut select = db.prepare_cached(SQL)?;
                let notes = select.query_map([NOTES], |row| {
                    Ok(ChangeNote { seq: row.get(0)?, mark: row.get(1)?, text: row.get(2)? })
                })?;
                let (mut events, mut taken, mut bytes) = (Vec::new(), Vec::new(), 0);
                let begun = Instant::now();
                for note in notes {
                    let note = note?;
                    let is_enough = bytes > BYTES || begun.elapsed() > LONG || is_called_out();
                    if !taken.is_empty() && is_enough {
                        break;
                    }
                    if let Some(found) = indexable(db, note.seq, note.text)? {
                        bytes += found.event.request.body.len() as u64;
                        events.push(found);
                    }
                    taken.push(note);
                }
                Ok((events, taken))
            })
            .await
    }

    /// Returns the numbers of the events below a number of which a change is noted, newest first, `limit` at most.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn changed_below(&self, below: i64, limit: u32) -> Result<Vec<i64>, InboxError> {
        const SQL: &str = "SELECT seq FROM changed WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map(params![below, limit], |row| row.get(0))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// Reads an event; with its body, if its text is indexed, too.
fn indexable(db: &Connection, seq: i64, with_text: bool) -> Result<Option<Indexable>, InboxError> {
    const TARGETS: &str = "SELECT DISTINCT target FROM delivery WHERE event = ?1";
    let Some(listed) = by_seq(db, seq)? else { return Ok(None) };
    let mut event = listed.event;
    let body = if with_text { content::body_or_none(db, seq)? } else { None };
    let has_text = body.is_some();
    event.request.body = body.unwrap_or_default();
    let mut select = db.prepare_cached(TARGETS)?;
    let targets = select.query_map([seq], |row| Ok(TargetId(row.get(0)?)))?.collect::<Result<_, _>>()?;
    Ok(Some(Indexable { event, has_text, status: listed.status, targets, answers: answers(db, seq)? }))
}
