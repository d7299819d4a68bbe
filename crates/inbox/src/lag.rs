//! How long events wait to be delivered.

use std::time::Duration;

use hookmitt_event::{EventId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _};

use crate::{Inbox, InboxError, rows};

/// An event that waits longer than this waits for long.
const LONG: Duration = Duration::from_secs(30 * 60);

/// How long events wait to be delivered. An event waits from when it was stored, replays and retries by hand included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// The oldest event with a delivery that waits or is being tried.
    pub oldest: Option<Waiting>,
    /// How many deliveries wait or are being tried.
    pub deliveries: u64,
    /// How many of them are of events that have waited for more than 30 minutes.
    pub long: u64,
}

/// An event that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The event's id.
    pub id: EventId,
    /// The event's sequence number.
    pub seq: i64,
    /// When it was received, by the wall clock.
    pub received_at: Timestamp,
    /// For how long it has waited, by the inbox's own clock.
    pub waited: Duration,
}

/// Finds the oldest event of those that are next at each target.
pub(crate) const OLDEST: &str = "SELECT e.id, e.seq, e.received_at, e.stored_at FROM (
        SELECT min((SELECT event FROM delivery INDEXED BY delivery_waiting
            WHERE target = t.id AND state IN (0, 1) ORDER BY event LIMIT 1)) AS seq FROM target t) oldest
    JOIN event e ON e.seq = oldest.seq";

/// Counts what waits of the events up to a number.
pub(crate) const UP_TO: &str = "SELECT ifnull(sum((SELECT count(*) FROM delivery INDEXED BY delivery_waiting
    WHERE target = t.id AND state IN (0, 1) AND event <= ?1)), 0) FROM target t";

impl Inbox {
    /// Returns how long events wait to be delivered. It reads no events but the oldest that waits, and a few to find out
    /// which were stored half an hour ago.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn lag(&self) -> Result<Lag, InboxError> {
        let clock = self.clock.clone();
        self.readers.read(move |db| lag(db, clock.now(), clock.keep().wall)).await
    }
}

pub(crate) fn lag(db: &Connection, store: i64, wall: i64) -> Result<Lag, InboxError> {
    let oldest = db.prepare_cached(OLDEST)?.query_row([], |row| {
        let received_at = rows::moment(row, 2)?;
        let waited = match row.get::<_, Option<i64>>(3)? {
            Some(stored) => Duration::from_micros(store.saturating_sub(stored).try_into().unwrap_or(0)),
            None => Timestamp::from_micros(wall).since(received_at),
        };
        Ok(Waiting { id: rows::id(row, 0)?, seq: row.get(1)?, received_at, waited })
    });
    let oldest = oldest.optional()?;
    let count = |seq: i64| db.prepare_cached(UP_TO)?.query_row([seq], |row| row.get(0));
    let deliveries = if oldest.is_some() { count(i64::MAX)? } else { 0 };
    let is_long = oldest.is_some_and(|oldest| oldest.waited > LONG);
    let long = if is_long { count(last_stored(db, store.saturating_sub(rows::micros(LONG)))?)? } else { 0 };
    Ok(Lag { oldest, deliveries, long })
}

/// Returns the number of the last event that was stored before a moment of store time, by halving: numbers are given out
/// in the order of that clock. Events of earlier versions have no such time; they are older than the others.
fn last_stored(db: &Connection, before: i64) -> Result<i64, InboxError> {
    const LAST: &str = "SELECT ifnull(max(seq), 0) FROM event";
    const NEXT: &str = "SELECT seq, stored_at FROM event WHERE seq >= ?1 ORDER BY seq LIMIT 1";
    let (mut low, mut high) = (0, db.prepare_cached(LAST)?.query_row([], |row| row.get::<_, i64>(0))?);
    while low < high {
        let middle = high - (high - low) / 2;
        let (seq, stored): (i64, Option<i64>) =
            db.prepare_cached(NEXT)?.query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if stored.is_none_or(|stored| stored < before) {
            low = seq;
        } else {
            high = middle - 1;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use hookmitt_event::OrderMode;

    use super::*;
    use crate::{Finish, queue_story::Story};

    #[tokio::test]
    async fn the_oldest_waits_and_those_that_wait_for_half_an_hour_are_counted() {
        let story = Story::begin(OrderMode::Sequential).await;
        let inbox = &story.inbox;
        assert_eq!(inbox.lag().await.unwrap(), Lag::default());
        let mut events = Vec::new();
        for _ in 0..7 {
            events.push(story.arrives(None).await);
            story.clock.pass(Duration::from_secs(600));
        }
        let lag = inbox.lag().await.unwrap();
        let oldest = lag.oldest.unwrap();
        assert_eq!((oldest.id, oldest.seq, oldest.waited), (events[0], 1, Duration::from_secs(4_200)));
        assert_eq!((lag.deliveries, lag.long), (7, 4), "those of 70, 60, 50 and 40 minutes");
        let claimed = story.claimed().await.unwrap();
        inbox.finish(&claimed, Finish::Refused("no".to_owned()), None).await.unwrap();
        let lag = inbox.lag().await.unwrap();
        assert_eq!((lag.oldest.unwrap().id, lag.deliveries, lag.long), (events[1], 6, 3));
    }
}
