//! The steps of a job: what it does to events, and in the same commit how far it is.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use hookmitt_clock::StoreClock;
use hookmitt_event::{Deed, Delivery, EventId, JobResult, JobState, TargetId, Timestamp};
use rusqlite::params;
use serde_json::Value;

use crate::{
    Inbox, InboxError,
    audit::{Subject, record_more},
    batch::Batch,
    bin,
    deliveries::{is_deleted, of_event, seq_of},
    job_rows::job,
    owner,
    retry::{self, Which},
};

/// How long a step may keep the writer. It ends after the event with which this time is over.
const TURN: Duration = Duration::from_millis(5);

/// How many failures of a job are kept.
const MOST_FAILURES: u64 = 10_000;

/// Says why nothing of an event with these deliveries can be retried; `None` stands for an event in the bin.
type Says = dyn Fn(Option<&[Delivery]>) -> String + Send + Sync;

/// Says why nothing of an event can be retried, so that this is stored with the step.
#[derive(Clone)]
pub struct WhyNot(pub Arc<Says>);

impl fmt::Debug for WhyNot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("WhyNot")
    }
}

/// What a job does to each of its events.
#[derive(Clone, Debug)]
pub enum Act {
    /// Puts it into the bin, as of a moment, and ends what waits.
    Delete(Timestamp),
    /// Takes it out of the bin, and makes wait again what its deletion ended.
    Restore,
    /// Makes its failed, dead and skipped deliveries wait again.
    Retry(WhyNot),
    /// Makes its failed and dead deliveries wait again.
    RetryFailed(WhyNot),
}

/// The next events of a job.
#[derive(Clone, Debug)]
pub struct Step {
    /// The job's number.
    pub job: i64,
    /// What is done to each of them.
    pub act: Act,
    /// The events, each with the position that the job has once it is done.
    pub events: Arc<[(i64, EventId)]>,
    /// The entry in the audit trail for the steps before, if they had one.
    pub entry: Option<i64>,
}

/// What came of a step.
#[derive(Clone, Debug, Default)]
pub struct Stepped {
    /// How many of the events were done; at least one, if there was one.
    pub done: usize,
    /// The events that were changed, each with the targets of the deliveries that were.
    pub changed: Vec<(EventId, Vec<TargetId>)>,
    /// The entry in the audit trail, to be handed to the next step.
    pub entry: Option<i64>,
}

impl Inbox {
    /// Does what a job does to as many of these events as fit into a step, and stores how far it is.
    ///
    /// # Errors
    /// Fails with [`InboxError::JobEnded`] if the job doesn't run, or [`InboxError::NotOwner`] if another process
    /// delivers. Nothing is done then.
    pub async fn step(&self, step: Step) -> Result<Stepped, InboxError> {
        let (token, clock) = (self.owner.load(Ordering::Acquire), self.clock.clone());
        self.write(move |batch| {
            owner::check(batch.db, token)?;
            run(batch, &step, &clock)
        })
        .await
    }
}

fn run(batch: &mut Batch<'_>, step: &Step, clock: &StoreClock) -> Result<Stepped, InboxError> {
    const SQL: &str = "UPDATE job SET position = ?2, done = ?3, failed = ?4, result = ?5 WHERE id = ?1";
    let mut job = job(batch.db, step.job)?;
    if job.state != JobState::Running {
        return Err(InboxError::JobEnded);
    }
    let (begun, mut stepped) = (Instant::now(), Stepped::default());
    for (position, event) in &*step.events {
        match step.act.on(batch, *event, step.job, clock)? {
            Ok(None) => {}
            Ok(Some(targets)) => {
                count(&mut job.result, &targets);
                stepped.changed.push((*event, targets));
            }
            Err(why) => {
                job.failed += 1;
                note(batch, job.id, job.failed, *event, &why)?;
            }
        }
        stepped.done += 1;
        job.done += 1;
        job.position = Some(*position);
        if begun.elapsed() >= TURN {
            break;
        }
    }
    stepped.entry = recorded(batch, step, &job.asked, stepped.changed.len() as u64)?;
    let result = serde_json::to_string(&job.result).unwrap_or_default();
    batch.db.prepare_cached(SQL)?.execute(params![job.id, job.position, job.done, job.failed, result])?;
    Ok(stepped)
}

/// Adds what was deleted or restored to the entry of the run in the audit trail, which tells what was asked for as well: the
/// job itself is forgotten sooner.
fn recorded(batch: &Batch<'_>, step: &Step, asked: &Value, events: u64) -> Result<Option<i64>, InboxError> {
    let deed = match step.act {
        Act::Delete(_) => Deed::Deleted,
        Act::Restore => Deed::Restored,
        Act::Retry(_) | Act::RetryFailed(_) => return Ok(None),
    };
    let mut subject = Subject::default().with("job", step.job);
    if let Some(search) = asked["q"].as_str() {
        subject = subject.with("q", search);
    }
    let cleared = &asked["clear"];
    subject.source = cleared["source"].as_str().map(str::to_owned);
    if let Some(until) = cleared["until"].as_str() {
        subject = subject.with("until", until);
    }
    record_more(batch, step.entry, deed, &subject, events)
}

fn count(result: &mut JobResult, targets: &[TargetId]) {
    result.events += 1;
    result.deliveries += targets.len() as u64;
}

/// Keeps that something of a job failed.
pub(crate) fn note(batch: &Batch<'_>, job: i64, n: u64, event: EventId, why: &str) -> Result<(), InboxError> {
    const SQL: &str = "INSERT INTO job_failure SELECT ?1, ?2, ?3, (SELECT seq FROM event WHERE id = ?3), ?4";
    if n <= MOST_FAILURES {
        batch.db.prepare_cached(SQL)?.execute(params![job, n, event.as_bytes(), why])?;
    }
    Ok(())
}

/// The targets of the deliveries that were changed with an event; `None` if the event was as wanted already. Or why it
/// couldn't be changed.
type Done = Result<Option<Vec<TargetId>>, String>;

impl Act {
    fn on(
        &self,
        batch: &mut Batch<'_>,
        event: EventId,
        job: i64,
        clock: &StoreClock,
    ) -> Result<Done, InboxError> {
        match self {
            Self::Delete(at) => Ok(Ok(bin::set_deleted(batch, event, Some(*at), Some(job))?)),
            Self::Restore => Ok(Ok(bin::set_deleted(batch, event, None, None)?)),
            Self::Retry(why) => again(batch, event, Which::All, why, clock),
            Self::RetryFailed(why) => again(batch, event, Which::Failed, why, clock),
        }
    }
}

fn again(
    batch: &mut Batch<'_>,
    event: EventId,
    which: Which,
    why: &WhyNot,
    clock: &StoreClock,
) -> Result<Done, InboxError> {
    let seq = match seq_of(batch.db, event) {
        Err(InboxError::UnknownEvent(_)) => return Ok(Err("it is gone".to_owned())),
        found => found?,
    };
    let again = retry::retry(batch, seq, event, which)?;
    if !again.is_empty() {
        return Ok(Ok(Some(again.into_iter().map(|(_, target)| target).collect())));
    }
    let there = if is_deleted(batch.db, seq)? { None } else { Some(of_event(batch.db, seq, event, clock)?) };
    Ok(Err((why.0)(there.as_deref())))
}
