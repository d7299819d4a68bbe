//! What retention will take soon, by the history alone.

use std::time::Duration;

use hookmitt_event::{Kept, Timestamp};
use rusqlite::{Connection, Row, params};

use super::counted::hour_of;
use crate::{Inbox, InboxError, retention::Policy, rows::micros};

/// How far ahead it is looked.
const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// Events that will be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaving {
    /// How many there are.
    pub events: u64,
    /// How many bytes their bodies have.
    pub bytes: u64,
}

impl Inbox {
    /// Returns about what retention will delete within the next day. Events are told by the hour, those that are pinned
    /// are counted, and a limit of the inbox's size isn't looked at.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn leaving(&self, now: Timestamp) -> Result<Leaving, InboxError> {
        self.readers.read(move |db| leaving(db, now.as_micros())).await
    }
}

fn leaving(db: &Connection, now: i64) -> Result<Leaving, InboxError> {
    const SQL: &str = "SELECT hour, source, status, sum(kept), sum(iif(events > 0, bytes * kept / events, 0))
        FROM hourly WHERE hour BETWEEN ?1 AND ?2 AND kept > 0 GROUP BY hour, source, status";
    let policy = Policy::read(db)?;
    let (Some(shortest), Some(longest)) = (policy.spans().first().copied(), policy.spans().last().copied())
    else {
        return Ok(Leaving::default());
    };
    let ahead = micros(AHEAD);
    // What is older than the oldest that goes has stayed because it is pinned.
    let between = params![hour_of(now - longest - ahead), hour_of(now - shortest + ahead)];
    let mut select = db.prepare_cached(SQL)?;
    let mut found = select.query(between)?;
    let mut all = Leaving::default();
    while let Some(row) = found.next()? {
        let (hour, source): (i64, i64) = (row.get(0)?, row.get(1)?);
        let span = kept(row)?.and_then(|kept| policy.span(source, kept));
        if span.is_some_and(|span| hour <= hour_of(now - span + ahead)) {
            all.events += row.get::<_, u64>(3)?;
            all.bytes += row.get::<_, u64>(4)?;
        }
    }
    Ok(all)
}

/// Returns as what retention counts a row's events; `None` if it leaves them, because they wait.
fn kept(row: &Row<'_>) -> rusqlite::Result<Option<Kept>> {
    use hookmitt_event::EventStatus as Status;
    let status = row.get::<_, i64>(2)?;
    let pairs = [
        (Status::Captured, Kept::Captured),
        (Status::Completed, Kept::Completed),
        (Status::Skipped, Kept::Skipped),
        (Status::Failed, Kept::Failed),
        (Status::DeadLetter, Kept::DeadLetter),
    ];
    Ok(pairs.into_iter().find(|(one, _)| *one as i64 == status).map(|(_, kept)| kept))
}

#[cfg(test)]
mod tests {
    use hookmitt_clock::Clock as _;
    use hookmitt_event::{OrderMode, Timestamp};

    use crate::queue_story::Story;

    #[tokio::test]
    async fn what_is_nearly_old_enough_is_told_a_day_before_it_goes() {
        let story = Story::begin(OrderMode::Sequential).await;
        story.arrives(None).await;
        let now = story.clock.now().as_micros();
        let after = |days: i64| Timestamp::from_micros(now + days * 24 * 60 * 60 * 1_000_000);
        let events = async |days| story.inbox.leaving(after(days)).await.unwrap().events;
        assert_eq!(
            (events(5).await, events(6).await, events(7).await),
            (0, 0, 0),
            "it waits to be delivered"
        );
        let claimed = story.claimed().await.unwrap();
        story.completes(&claimed).await;
        assert_eq!((events(5).await, events(6).await, events(7).await), (0, 1, 1));
    }
}
