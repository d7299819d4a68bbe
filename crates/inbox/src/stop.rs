//! Ends deliveries that a person started and stopped again.

use hookmitt_event::{DeliveryId, TargetId};
use rusqlite::{OptionalExtension as _, Row, params};

use crate::{
    Inbox, InboxError,
    batch::Batch,
    deliveries::seq_of,
    reasons::{DELETED, STOPPED},
};

/// How many deliveries one job ends at most: few enough to take only some milliseconds.
const AT_ONCE: usize = 500;

/// A delivery that was ended while it waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Its target.
    pub target: TargetId,
    /// Whether it was tried at least once.
    pub tried: bool,
}

impl Inbox {
    /// Ends those of these deliveries that are replays and wait, as skipped, and returns them. Those that were ended because
    /// their event was deleted count too, so that they don't come back with it. What is being sent or has ended stays as
    /// it is, and so does what was caught; what doesn't exist is passed over.
    ///
    /// # Errors
    /// Fails if SQLite does. Some may be ended then.
    pub async fn stop(&self, ids: &[DeliveryId]) -> Result<Vec<Stopped>, InboxError> {
        let mut stopped = Vec::new();
        for some in ids.chunks(AT_ONCE) {
            let some = some.to_vec();
            stopped.extend(self.write(move |batch| stop(batch, &some)).await?);
        }
        Ok(stopped)
    }
}

fn stop(batch: &mut Batch<'_>, ids: &[DeliveryId]) -> Result<Vec<Stopped>, InboxError> {
    const SQL: &str = "UPDATE delivery SET state = 5, last_error = ?3, ended_at = ?4, due_at = NULL
        WHERE event = ?1 AND number = ?2 AND (state = 0 OR state = 5 AND last_error = ?5) AND replay
        RETURNING target, attempts > 0";
    let mut update = batch.db.prepare_cached(SQL)?;
    let mut stopped = Vec::new();
    for delivery in ids {
        let seq = match seq_of(batch.db, delivery.event) {
            Err(InboxError::UnknownEvent(_)) => continue,
            found => found?,
        };
        batch.arriving.hours.note(batch.db, seq)?;
        let read = |row: &Row<'_>| {
            Ok(Stopped { delivery: *delivery, target: TargetId(row.get(0)?), tried: row.get(1)? })
        };
        let values = params![seq, delivery.number, STOPPED, batch.now.wall, DELETED];
        stopped.extend(update.query_row(values, read).optional()?);
    }
    Ok(stopped)
}
