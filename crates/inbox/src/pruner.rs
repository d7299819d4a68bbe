//! Prunes the inbox step by step: the upkeep of the process that delivers, and a job that somebody asks for.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use hookmitt_event::{Deed, JobState, WhenFull};
use hookmitt_sqlite::Disk;
use rusqlite::{Connection, params};

use crate::{
    Inbox, InboxError,
    audit::{Subject, record_more},
    batch::Batch,
    forget, job_rows,
    make_room::{goal, make_room},
    owner,
    retention::{self, Policy},
    sweep::{self, Share},
    usage::{empty, in_use},
};

/// How long a step waits for the writer's queue to be empty, and how often it looks. If capture never rests, pruning
/// goes on slowly.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How long all that is deleted is one entry in the audit trail, in microseconds of store time: a day.
const ENTRY: i64 = 24 * 60 * 60 * 1_000_000;

/// How long to wait before all events are looked through again for what may go, once there was nothing left.
const NOTHING_LEFT: Duration = Duration::from_secs(10 * 60);

/// What came of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many events were deleted for good.
    pub gone: u64,
    /// How many bytes their bodies had.
    pub bytes: u64,
    /// Whether there may be more to do.
    pub more: bool,
}

/// Prunes an inbox.
#[derive(Debug)]
pub struct Pruner {
    inbox: Inbox,
    job: Option<i64>,
    /// The entry in the audit trail, and when it was begun, in store time.
    entry: Option<(i64, i64)>,
    /// How many bytes may be left in use, while room is made.
    goal: Option<u64>,
    /// How far the events were gone through to make room.
    place: i64,
    /// When there was nothing left that could make room.
    nothing_left: Option<Instant>,
}

/// What the next step is about.
struct Due {
    /// How many bytes may be left in use, if there are too many.
    goal: Option<u64>,
}

impl Inbox {
    /// Returns the disk that holds the inbox, or `None` if the system doesn't say how large it is.
    pub fn disk(&self) -> Option<Disk> {
        Disk::of(&self.path())
    }
}

impl Pruner {
    /// Makes the pruner for upkeep; or, with a job's number, for that job.
    pub const fn new(inbox: Inbox, job: Option<i64>) -> Self {
        Self { inbox, job, entry: None, goal: None, place: 0, nothing_left: None }
    }

    /// Deletes a little for good of what has been kept for long enough, or of what is too much.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers, or with [`InboxError::JobEnded`] if the job
    /// doesn't run.
    pub async fn step(&mut self) -> Result<Pruned, InboxError> {
        let Some(Due { goal }) = self.due().await? else { return Ok(Pruned::default()) };
        self.inbox.rests(PATIENCE, LOOK_EVERY).await;
        let (token, job) = (self.inbox.owner.load(Ordering::Acquire), self.job);
        let now = self.inbox.clock.now();
        let entry = self.entry.filter(|(_, since)| now.saturating_sub(*since) < ENTRY);
        let (number, place) = (entry.map(|(number, _)| number), self.place);
        let step = self.inbox.write(move |batch| {
            owner::check(batch.db, token)?;
            let mut share = Share::begin();
            let place = run(batch, goal.map(|goal| (goal, place)), &mut share)?;
            let entry = record_more(batch, number, Deed::DeletedForGood, &Subject::default(), share.gone)?;
            if let Some(job) = job {
                count(batch.db, job, &share)?;
            }
            Ok((share, place, entry))
        });
        let (share, place, number) = step.await?;
        self.entry = number.map(|number| (number, entry.map_or(now, |(_, since)| since)));
        if goal.is_some() {
            (self.place, self.nothing_left) = match place {
                Some(place) => (place, None),
                None => (0, Some(Instant::now())),
            };
        }
        Ok(Pruned { gone: share.gone, bytes: share.bytes, more: true })
    }

    /// Returns what there is to do; `None` if there is nothing.
    async fn due(&mut self) -> Result<Option<Due>, InboxError> {
        let now = self.inbox.clock.now();
        let may_make_room = self.nothing_left.is_none_or(|since| since.elapsed() >= NOTHING_LEFT);
        let lacks = self.inbox.disk().map_or(0, Disk::lacks);
        let begun = self.goal;
        let due = self.inbox.readers.read(move |db| due(db, now, may_make_room, (lacks, begun))).await?;
        self.goal = due.as_ref().and_then(|due| due.goal);
        if due.as_ref().is_none_or(|due| due.goal.is_none()) && may_make_room {
            (self.place, self.nothing_left) = (0, None);
        }
        Ok(due)
    }
}

fn due(
    db: &Connection,
    now: i64,
    may_make_room: bool,
    room: (u64, Option<u64>),
) -> Result<Option<Due>, InboxError> {
    let goal = if may_make_room { room_goal(db, room)? } else { None };
    let policy = Policy::read(db)?;
    let is_due = goal.is_some() || sweep::is_due(db, &policy, now)? || forget::is_due(db, now)?;
    Ok(is_due.then_some(Due { goal }))
}

/// Returns how many bytes may be left in use, because of the limit or of a disk that lacks some, if there are too many.
/// Making room that was begun goes on down to its goal.
pub(crate) fn room_goal(
    db: &Connection,
    (lacks, begun): (u64, Option<u64>),
) -> Result<Option<u64>, InboxError> {
    let (in_use, limit) = (in_use(db)?, retention::limit(db)?);
    let begun = begun.filter(|goal| limit.is_some_and(|limit| *goal < limit) && in_use > *goal);
    let within = goal(in_use, limit).or(begun);
    let lacks = lacks.saturating_sub(empty(db)?); // pages of the file that are empty already are given back
    let prunes = lacks > 0 && retention::when_full(db)? == WhenFull::Prune;
    let fits = prunes.then(|| in_use.saturating_sub(lacks));
    Ok(within.into_iter().chain(fits).min())
}

/// Does what fits into a commit. Returns where making room goes on; `None` if no event is left that could go.
fn run(
    batch: &mut Batch<'_>,
    room: Option<(u64, i64)>,
    share: &mut Share,
) -> Result<Option<i64>, InboxError> {
    let policy = Policy::read(batch.db)?;
    sweep::sweep(batch, &policy, share)?;
    forget::forget(batch.db, batch.now, share)?;
    match room {
        Some((goal, place)) if !share.is_over() => make_room(batch, place, goal, share),
        Some((_, place)) => Ok(Some(place)),
        None => Ok(None),
    }
}

/// Adds what a job has deleted to its numbers.
fn count(db: &Connection, job: i64, share: &Share) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE job SET done = ?2, result = ?3 WHERE id = ?1";
    let mut job = job_rows::job(db, job)?;
    if job.state != JobState::Running {
        return Err(InboxError::JobEnded);
    }
    job.result.events += share.gone;
    let result = serde_json::to_string(&job.result).unwrap_or_default();
    db.prepare_cached(SQL)?.execute(params![job.id, job.done + share.gone, result])?;
    Ok(())
}
