//! Stores events that their sender, a relay's mailbox, keeps until they are stored here.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use hookmitt_event::{Cause, EventId, Request};
use hookmitt_sqlite::Job;
use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use crate::{
    Inbox, InboxError, NewEvent, Stored,
    batch::Batch,
    content,
    store::{arrived_before, store_new},
    writer::{Desk, task},
};

/// Keeps events in order that come in runs: once an event of a run could not be stored, no later event of that run is
/// stored.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The number of the last broken run; runs are counted from 1.
    broken: Arc<AtomicU64>,
    /// The same, if the group that is being written is committed as it is.
    breaking: Arc<AtomicU64>,
}

impl Sequence {
    /// Notes that an event of this run could not be stored.
    pub fn breaks(&self, run: u64) {
        self.broken.fetch_max(run, Ordering::SeqCst);
    }

    /// Whether an event of this run could not be stored. Runs before the last broken one count as broken, too.
    pub fn is_broken(&self, run: u64) -> bool {
        run <= self.broken.load(Ordering::SeqCst)
    }
}

/// A job that stores an event of a run.
struct InTurn<J> {
    job: J,
    order: Sequence,
    run: u64,
}

impl<J: Job<Desk>> Job<Desk> for InTurn<J> {
    fn run(&mut self, db: &Connection, desk: &mut Desk) -> Result<(), InboxError> {
        let Self { job, order, run } = self;
        if order.is_broken(*run) || *run <= order.breaking.load(Ordering::SeqCst) {
            return Err(InboxError::OutOfTurn);
        }
        // The run is broken at once, because its next event may be in the same group.
        job.run(db, desk).inspect_err(|_| order.breaking.store(*run, Ordering::SeqCst))
    }

    fn start_over(&mut self) {
        self.order.breaking.store(0, Ordering::SeqCst);
        self.job.start_over();
    }

    fn tell(self: Box<Self>, outcome: Result<(), InboxError>) {
        if outcome.is_err() {
            self.order.breaks(self.run); // the whole group may have failed; the next one starts only after this call
        }
        Box::new(self.job).tell(outcome);
    }

    fn weight(&self) -> usize {
        self.job.weight()
    }
}

impl Inbox {
    /// Waits for a place in the writer's queue, and returns a future that waits for the commit of the event. Events are
    /// stored in the order in which they got their places, and none is stored after one of its run that failed.
    ///
    /// A re-send adds no row and doesn't count as caught up. If another request came before under the same arrival key
    /// or id, the event is stored all the same, under a new one, and marked ([`Stored::name_was_used`]).
    ///
    /// # Errors
    /// Fails if SQLite does, and with [`InboxError::OutOfTurn`] after an earlier event of the run failed. The event
    /// must be sent again.
    pub async fn store_in_turn(
        &self,
        mut new: NewEvent,
        order: &Sequence,
        run: u64,
    ) -> Result<impl Future<Output = Result<Stored, InboxError>> + Send + use<>, InboxError> {
        let weight = new.weight();
        let mut name_was_used = false;
        let (job, answer) = task(weight, move |batch| store(batch, &mut new, &mut name_was_used));
        self.hand_in(InTurn { job, order: order.clone(), run }).await?;
        Ok(async move { answer.await.map_err(|_| InboxError::Closed)? })
    }
}

/// Stores an event. `name_was_used` says whether it got another name, here or in an earlier run of the same job.
fn store(batch: &mut Batch<'_>, new: &mut NewEvent, name_was_used: &mut bool) -> Result<Stored, InboxError> {
    const TAKEN: &str = "SELECT 1 FROM event WHERE id = ?1";
    const COUNT: &str =
        "UPDATE tunnel_gap SET caught_up = caught_up + 1, first_seq = coalesce(first_seq, ?2),
        last_seq = ?2 WHERE tunnel = ?1 AND ended_at IS NULL";
    if let Some(earlier) = arrived_before(batch.db, new)? {
        if is_the_same(batch.db, new, earlier.seq)? {
            return Ok(Stored { name_was_used: *name_was_used, ..earlier });
        }
        *name_was_used = true;
        new.arrival_key = new.arrival_key.take().map(|key| own_name(&key, new));
        if let Some(earlier) = arrived_before(batch.db, new)? {
            return Ok(Stored { name_was_used: true, ..earlier });
        }
    }
    if batch.db.prepare_cached(TAKEN)?.exists([new.id.as_bytes()])? {
        *name_was_used = true;
        new.id = EventId::fresh();
    }
    if *name_was_used && new.causes.iter().all(|cause| cause.code != NAME_REUSED) {
        new.causes.push(name_was_used_before());
    }
    let stored = store_new(batch, new)?;
    if let Some(tunnel) = new.caught_up_by {
        batch.db.prepare_cached(COUNT)?.execute(params![tunnel, stored.seq])?;
    }
    Ok(Stored { name_was_used: *name_was_used, ..stored })
}

/// Whether a stored event holds the same request, so that the new one is a re-send.
fn is_the_same(db: &Connection, new: &NewEvent, seq: i64) -> Result<bool, InboxError> {
    const SQL: &str =
        "SELECT sha256 = ?2 AND method = ?3 AND path = ?4 AND query IS ?5 FROM event WHERE seq = ?1";
    let Request { method, path, query, headers, .. } = &new.request;
    let request = params![seq, new.sha256, method, path, query];
    let is_alike = db.prepare_cached(SQL)?.query_row(request, |row| row.get(0))?;
    Ok(is_alike && content::headers(db, seq)? == *headers)
}

/// Returns an arrival key for a request whose own key another request has. A re-send of the request gets the same one.
fn own_name(key: &[u8], new: &NewEvent) -> Vec<u8> {
    let Request { method, path, query, headers, .. } = &new.request;
    let mut hash = Sha256::new();
    for part in [&new.sha256[..], method.as_bytes(), path.as_bytes(), headers.as_wire()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(query.as_ref().map_or(vec![0], |query| [&[1], query.as_bytes()].concat()));
    [key, &[0], &hash.finalize()[..]].concat()
}

const NAME_REUSED: &str = "relay_name_reused";

fn name_was_used_before() -> Cause {
    Cause {
        code: NAME_REUSED.to_owned(),
        title: None,
        message: "The relay gave this request the ID of another one. Both are stored.".to_owned(),
        fix: "Check the relay: it is faulty, or someone has tampered with it.".to_owned(),
    }
}
