//! Events that somebody else keeps until they are stored here.

use std::future::Future;

use hookmitt_event::EventId;
use rusqlite::params;

use crate::{
    Arrival, Inbox, InboxError, Stored,
    arrival::{arrived_before, store_new},
    writer::Batch,
};

impl Inbox {
    /// Has an event stored: waits for a place in the writer's queue, and answers with what waits for the commit. Those
    /// that got their place one after the other are stored in that order.
    ///
    /// An id that another event has is exchanged for a fresh one. A re-send adds no row, and doesn't count as caught
    /// up.
    ///
    /// # Errors
    /// Whatever SQLite says: it must be sent again.
    pub async fn store_in_turn(
        &self,
        mut arrival: Arrival,
    ) -> Result<impl Future<Output = Result<Stored, InboxError>> + Send + use<>, InboxError> {
        let weight = arrival.request.body.len();
        let answer = self.write_in_turn(weight, move |batch| store(batch, &mut arrival)).await?;
        Ok(async move { answer.await.map_err(|_| InboxError::Closed)? })
    }
}

fn store(batch: &mut Batch<'_>, arrival: &mut Arrival) -> Result<Stored, InboxError> {
    const TAKEN: &str = "SELECT 1 FROM event WHERE id = ?1";
    const COUNT: &str =
        "UPDATE tunnel_gap SET caught_up = caught_up + 1, first_seq = coalesce(first_seq, ?2),
        last_seq = ?2 WHERE tunnel = ?1 AND ended_at IS NULL";
    if let Some(earlier) = arrived_before(batch.db, arrival)? {
        return Ok(earlier);
    }
    if batch.db.prepare_cached(TAKEN)?.exists([arrival.id.as_bytes()])? {
        arrival.id = EventId::fresh();
    }
    let stored = store_new(batch, arrival)?;
    if let Some(tunnel) = arrival.caught_up_by {
        batch.db.prepare_cached(COUNT)?.execute(params![tunnel, stored.seq])?;
    }
    Ok(stored)
}
