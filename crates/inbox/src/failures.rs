//! The latest deliveries that failed or died, to be shown with the numbers.

use hookmitt_event::{DeliveryState, EventId, TargetId, Timestamp};
use rusqlite::{Connection, Row, params};

use crate::{Inbox, InboxError, Period, rows};

/// How many failures of each kind are looked at, the latest events first.
const LOOKED_AT: u32 = 1_000;

/// A delivery that failed or died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The event's id.
    pub event: EventId,
    /// The event's sequence number.
    pub seq: i64,
    /// The name of the event's source.
    pub source: String,
    /// The event's type.
    pub event_type: Option<String>,
    /// The target.
    pub target: TargetId,
    /// The target's URL.
    pub url: String,
    /// `Failed` or `DeadLetter`.
    pub state: DeliveryState,
    /// How many attempts were made.
    pub attempts: u32,
    /// What was said last.
    pub last_error: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// Selects failures of one kind, those of the latest events first.
pub(crate) const FAILURES: &str =
    "SELECT e.id, e.seq, s.slug, e.type, t.id, t.url, d.state, d.attempts, d.last_error,
        d.ended_at
    FROM (SELECT event, state FROM delivery INDEXED BY delivery_unsent
        WHERE state IN (3, 4, 5) AND NOT binned AND state = ?1 GROUP BY event ORDER BY event DESC LIMIT ?2) f
    CROSS JOIN event e ON e.seq = f.event CROSS JOIN delivery d ON d.event = f.event AND d.state = ?1
    JOIN target t ON t.id = d.target JOIN source s ON s.id = e.source
    WHERE e.received_at >= ?3 AND e.received_at < ?4 LIMIT ?5";

impl Inbox {
    /// Returns at most `limit` deliveries of a period's events that failed or died, those of the latest events first. It
    /// looks at the latest thousand of each kind.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn failures(&self, period: Period, limit: u32) -> Result<Vec<Failure>, InboxError> {
        self.readers.read(move |db| failures(db, period, limit)).await
    }
}

pub(crate) fn failures(db: &Connection, period: Period, limit: u32) -> Result<Vec<Failure>, InboxError> {
    let since = period.since.map_or(i64::MIN, Timestamp::as_micros);
    let until = period.until.map_or(i64::MAX, Timestamp::as_micros);
    let mut all = Vec::new();
    for state in [DeliveryState::Failed, DeliveryState::DeadLetter] {
        let mut select = db.prepare_cached(FAILURES)?;
        let found = select.query_map(params![state as i64, LOOKED_AT, since, until, limit], failure)?;
        all.extend(found.collect::<Result<Vec<_>, _>>()?);
    }
    all.sort_by_key(|failure| std::cmp::Reverse((failure.seq, failure.target.0)));
    all.truncate(limit as usize);
    Ok(all)
}

fn failure(row: &Row<'_>) -> rusqlite::Result<Failure> {
    Ok(Failure {
        event: rows::id(row, 0)?,
        seq: row.get(1)?,
        source: row.get(2)?,
        event_type: row.get(3)?,
        target: TargetId(row.get(4)?),
        url: row.get(5)?,
        state: rows::state(row, 6)?,
        attempts: row.get(7)?,
        last_error: row.get(8)?,
        ended_at: rows::moment_or_null(row, 9)?,
    })
}

#[cfg(test)]
mod tests {
    use hookmitt_event::OrderMode;

    use super::*;
    use crate::{Finish, queue_story::Story};

    #[tokio::test]
    async fn failures_tell_what_was_said_and_how_often_it_was_tried() {
        let story = Story::begin(OrderMode::Sequential).await;
        for error in ["first", "second", "third"] {
            story.arrives(None).await;
            let claimed = story.claimed().await.unwrap();
            story.inbox.finish(&claimed, Finish::Refused(error.to_owned()), None).await.unwrap();
        }
        let found = story.inbox.failures(Period::default(), 2).await.unwrap();
        let said: Vec<_> =
            found.iter().map(|one| (one.seq, one.last_error.as_deref(), one.attempts)).collect();
        assert_eq!(said, [(3, Some("third"), 0), (2, Some("second"), 0)]);
        let past = Period { since: None, until: Some(Timestamp::from_micros(0)) };
        assert_eq!(story.inbox.failures(past, 9).await.unwrap(), []);
    }
}
