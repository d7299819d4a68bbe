//! Empties the trash step by step, as a job that somebody asks for.

use std::sync::atomic::Ordering;

use hookmitt_event::{Deed, EventId, JobState, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::{
    Inbox, InboxError,
    audit::{Subject, record_more},
    batch::Batch,
    job_rows::{Job, job},
    job_steps::note,
    owner,
    purge::{Purged, purge},
    rows,
};

/// How many events are looked up at a time.
const PIECE: usize = 200;

/// Why an event stays.
const SENT_NOW: &str = "it is being sent right now: try again";

/// What came of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emptied {
    /// How many events are gone.
    pub gone: u64,
    /// How many stay, because they are being sent right now.
    pub stay: u64,
    /// Whether there may be more to do.
    pub more: bool,
}

/// Deletes for good what is in the bin.
#[derive(Debug)]
pub struct Emptier {
    inbox: Inbox,
    job: i64,
    part: BinPart,
    /// When the last one was deleted that was dealt with, and its number.
    place: Option<(i64, i64)>,
    /// The entry in the audit trail.
    entry: Option<i64>,
}

/// Where the next step goes on, and what it hands over.
type Done = Option<((i64, i64), Option<i64>, Purged)>;

/// Which part of the bin is emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BinPart {
    /// Only what was deleted before this moment, by the wall clock.
    pub before: Option<Timestamp>,
    /// Only what was in the bin when the inbox's own clock read this, in microseconds. The wall clock may be set back
    /// meanwhile. Jobs of earlier versions have no such bound.
    pub there_at: Option<i64>,
}

impl BinPart {
    fn bounds(self) -> (i64, i64) {
        (self.before.map_or(i64::MAX, Timestamp::as_micros), self.there_at.unwrap_or(i64::MAX))
    }
}

impl Inbox {
    /// Returns what is in the bin now, or that of it which was deleted before a moment.
    pub fn bin_now(&self, before: Option<Timestamp>) -> BinPart {
        BinPart { before, there_at: Some(self.clock.now()) }
    }

    /// Counts a part of the bin.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn count_bin(&self, part: BinPart) -> Result<u64, InboxError> {
        const SQL: &str = "SELECT count(*) FROM event INDEXED BY event_bin
            WHERE deleted_at IS NOT NULL AND deleted_at < ?1
            AND NOT EXISTS (SELECT 1 FROM binned WHERE event = seq AND at > ?2)";
        self.readers
            .read(move |db| Ok(db.prepare_cached(SQL)?.query_row(part.bounds(), |row| row.get(0))?))
            .await
    }
}

impl Emptier {
    /// Makes the emptier for a job, which is about a part of the bin.
    pub const fn new(inbox: Inbox, job: i64, part: BinPart) -> Self {
        Self { inbox, job, part, place: None, entry: None }
    }

    /// Deletes a little for good. Captures go on meanwhile.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers, or with [`InboxError::JobEnded`] if the job
    /// doesn't run.
    pub async fn step(&mut self) -> Result<Emptied, InboxError> {
        let token = self.inbox.owner.load(Ordering::Acquire);
        let (id, part, place, entry) = (self.job, self.part, self.place, self.entry);
        let step = self.inbox.write(move |batch| {
            owner::check(batch.db, token)?;
            empty(batch, id, part, (place, entry))
        });
        let Some((place, entry, Purged { done, gone, .. })) = step.await? else {
            return Ok(Emptied::default());
        };
        (self.place, self.entry) = (Some(place), entry);
        Ok(Emptied { gone, stay: done as u64 - gone, more: true })
    }
}

fn empty(
    batch: &mut Batch<'_>,
    id: i64,
    part: BinPart,
    (place, entry): (Option<(i64, i64)>, Option<i64>),
) -> Result<Done, InboxError> {
    let mut job = job(batch.db, id)?;
    if job.state != JobState::Running {
        return Err(InboxError::JobEnded);
    }
    if place.is_none() {
        forget_who_stayed(batch.db, &mut job)?;
    }
    let place = place.unwrap_or((i64::MIN, i64::MIN));
    let found = binned_after(batch.db, place, part)?;
    let seqs: Vec<_> = found.iter().map(|(_, seq)| *seq).collect();
    let purged = purge(batch, &seqs)?;
    let subject = Subject::default().with("job", id);
    let entry = record_more(batch, entry, Deed::DeletedForGood, &subject, purged.gone)?;
    count(batch, &mut job, &seqs[..purged.done], purged.gone)?;
    let last = purged.done.checked_sub(1).and_then(|last| found.get(last).copied());
    Ok(last.or(purged.begun.then_some(place)).map(|last| (last, entry, purged)))
}

/// Forgets what stayed in an earlier run of a job, which looks at it again.
fn forget_who_stayed(db: &Connection, job: &mut Job) -> Result<(), InboxError> {
    if job.failed > 0 {
        db.prepare_cached("DELETE FROM job_failure WHERE job = ?1")?.execute([job.id])?;
        job.done = job.done.saturating_sub(job.failed);
        job.failed = 0;
    }
    Ok(())
}

/// Adds to a job's numbers what was dealt with, and notes what of that stays.
fn count(batch: &Batch<'_>, job: &mut Job, seqs: &[i64], gone: u64) -> Result<(), InboxError> {
    const FIND: &str = "SELECT id FROM event WHERE seq = ?1";
    const SQL: &str =
        "UPDATE job SET done = ?2, failed = ?3, result = ?4, total = max(total, ?2) WHERE id = ?1";
    if seqs.len() as u64 > gone {
        for seq in seqs {
            let read = |row: &rusqlite::Row<'_>| rows::id(row, 0);
            let stays: Option<EventId> = batch.db.prepare_cached(FIND)?.query_row([seq], read).optional()?;
            if let Some(stays) = stays {
                job.failed += 1;
                note(batch, job.id, job.failed, stays, SENT_NOW)?;
            }
        }
    }
    job.done += seqs.len() as u64;
    job.result.events += gone;
    let result = serde_json::to_string(&job.result).unwrap_or_default();
    batch.db.prepare_cached(SQL)?.execute(params![job.id, job.done, job.failed, result])?;
    Ok(())
}

/// Returns when they were deleted, and the numbers, of the next events of a part of the bin.
fn binned_after(
    db: &Connection,
    (at, seq): (i64, i64),
    part: BinPart,
) -> Result<Vec<(i64, i64)>, InboxError> {
    let (before, there_at) = part.bounds();
    let mut select = db.prepare_cached(BINNED)?;
    let found =
        select.query_map(params![at, seq, before, PIECE, there_at], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Selects a part of the bin, after a place, what was deleted first.
pub(crate) const BINNED: &str = "SELECT deleted_at, seq FROM event INDEXED BY event_bin
    WHERE deleted_at IS NOT NULL AND (deleted_at, seq) > (?1, ?2) AND deleted_at < ?3
    AND NOT EXISTS (SELECT 1 FROM binned WHERE event = seq AND at > ?5)
    ORDER BY deleted_at, seq LIMIT ?4";
