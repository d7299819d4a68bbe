//! Events that somebody else keeps until they are stored here.

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
    store::{arrived_before, store_new},
    writer::{Desk, task},
};

/// Events that come one after the other, in runs: once one of a run could not be stored, none of that run is that comes
/// after it.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The last run that is broken; runs are counted from 1.
    broken: Arc<AtomicU64>,
}

impl Sequence {
    /// One of this run could not be stored.
    pub fn breaks(&self, run: u64) {
        self.broken.fetch_max(run, Ordering::SeqCst);
    }

    /// Whether one of this run could not be stored.
    pub fn is_broken(&self, run: u64) -> bool {
        run <= self.broken.load(Ordering::SeqCst)
    }
}

/// A job of a run.
struct InTurn<J> {
    job: J,
    order: Sequence,
    run: u64,
}

impl<J: Job<Desk>> Job<Desk> for InTurn<J> {
    fn run(&mut self, db: &Connection, desk: &mut Desk) -> Result<(), InboxError> {
        if self.order.is_broken(self.run) {
            return Err(InboxError::OutOfTurn);
        }
        // The next of the run may be in the same group.
        self.job.run(db, desk).inspect_err(|_| self.order.breaks(self.run))
    }

    fn tell(self: Box<Self>, outcome: Result<(), InboxError>) {
        if outcome.is_err() {
            self.order.breaks(self.run); // nothing of the group holds; the writer comes to the next one after this
        }
        Box::new(self.job).tell(outcome);
    }

    fn weight(&self) -> usize {
        self.job.weight()
    }
}

impl Inbox {
    /// Has an event stored: waits for a place in the writer's queue, and answers with what waits for the commit. Those
    /// that got their place one after the other are stored in that order, and none after one of their run that is not.
    ///
    /// A re-send adds no row, and doesn't count as caught up. What comes under the arrival key or the id of another
    /// request is kept all the same, under one of its own, and says so ([`Stored::name_was_used`]).
    ///
    /// # Errors
    /// Whatever SQLite says, and [`InboxError::OutOfTurn`]: it must be sent again.
    pub async fn store_in_turn(
        &self,
        mut new: NewEvent,
        order: &Sequence,
        run: u64,
    ) -> Result<impl Future<Output = Result<Stored, InboxError>> + Send + use<>, InboxError> {
        let weight = new.weight();
        let (job, answer) = task(weight, move |batch| store(batch, &mut new));
        self.hand_in(InTurn { job, order: order.clone(), run }).await?;
        Ok(async move { answer.await.map_err(|_| InboxError::Closed)? })
    }
}

fn store(batch: &mut Batch<'_>, new: &mut NewEvent) -> Result<Stored, InboxError> {
    const TAKEN: &str = "SELECT 1 FROM event WHERE id = ?1";
    const COUNT: &str =
        "UPDATE tunnel_gap SET caught_up = caught_up + 1, first_seq = coalesce(first_seq, ?2),
        last_seq = ?2 WHERE tunnel = ?1 AND ended_at IS NULL";
    let mut name_was_used = false;
    if let Some(earlier) = arrived_before(batch.db, new)? {
        if is_the_same(batch.db, new, earlier.seq)? {
            return Ok(earlier);
        }
        name_was_used = true;
        new.arrival_key = new.arrival_key.take().map(|key| own_name(&key, new));
        if let Some(earlier) = arrived_before(batch.db, new)? {
            return Ok(Stored { name_was_used, ..earlier });
        }
    }
    if batch.db.prepare_cached(TAKEN)?.exists([new.id.as_bytes()])? {
        name_was_used = true;
        new.id = EventId::fresh();
    }
    if name_was_used {
        new.causes.push(name_was_used_before());
    }
    let stored = store_new(batch, new)?;
    if let Some(tunnel) = new.caught_up_by {
        batch.db.prepare_cached(COUNT)?.execute(params![tunnel, stored.seq])?;
    }
    Ok(Stored { name_was_used, ..stored })
}

/// Whether an event holds the same request: then it was sent once more.
fn is_the_same(db: &Connection, new: &NewEvent, seq: i64) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT sha256 = ?2 AND headers = ?3 AND method = ?4 AND path = ?5 AND query IS ?6
        FROM event WHERE seq = ?1";
    let Request { method, path, query, headers, .. } = &new.request;
    let request = params![seq, new.sha256, &headers.as_wire()[..], method, path, query];
    Ok(db.prepare_cached(SQL)?.query_row(request, |row| row.get(0))?)
}

/// What a request goes by whose arrival key another has: a re-send of it has the same.
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

fn name_was_used_before() -> Cause {
    Cause {
        code: "relay_name_reused".to_owned(),
        title: None,
        message: "The relay gave this request the id of another one. Both are kept.".to_owned(),
        fix: "Look at the relay: it is broken, or somebody altered it.".to_owned(),
    }
}
