//! Who may send what: claims with a lease, taken back when they go stale.

use std::time::Duration;

use hookmitt_event::{DeliveryId, OrderMode, TargetId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, rows};

/// A delivery that this process alone may try, until its lease ends.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// Which delivery.
    pub delivery: DeliveryId,
    /// Its event's sequence number.
    pub seq: i64,
    /// The number of the attempt to come, from 1.
    pub attempt: u32,
    /// A replay rather than the first hand-over.
    pub replay: bool,
    /// Proves the claim when it is renewed or finished.
    pub(crate) token: i64,
}

/// What may be claimed next, by order mode. `?1` is the target, `?2` the present.
fn next_of(order: OrderMode) -> &'static str {
    match order {
        OrderMode::Sequential | OrderMode::Parallel(_) => {
            "SELECT event, number FROM delivery WHERE target = ?1 AND state IN (0, 1) AND state = 0
             AND coalesce(due_at, 0) <= ?2 ORDER BY event, number LIMIT 1"
        }
        OrderMode::Fifo => {
            "SELECT event, number FROM (SELECT event, number, state, due_at FROM delivery
                WHERE target = ?1 AND state IN (0, 1) ORDER BY event, number LIMIT 1)
             WHERE state = 0 AND coalesce(due_at, 0) <= ?2"
        }
        OrderMode::FifoByKey => {
            "SELECT d.event, d.number FROM delivery d JOIN event e ON e.seq = d.event
             WHERE d.target = ?1 AND d.state IN (0, 1) AND d.state = 0 AND coalesce(d.due_at, 0) <= ?2
             AND NOT EXISTS (SELECT 1 FROM delivery b JOIN event f ON f.seq = b.event
                WHERE b.target = ?1 AND b.state IN (0, 1) AND (b.event, b.number) < (d.event, d.number)
                AND f.object IS e.object AND f.source = e.source)
             ORDER BY d.event, d.number LIMIT 1"
        }
    }
}

impl Inbox {
    /// Claims what a target is to get next, in its order, for `lease`. `None`: nothing is due.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn claim(
        &self,
        target: TargetId,
        order: OrderMode,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Claimed>, InboxError> {
        self.write(move |batch| claim(batch.db, target, order, now, lease)).await
    }

    /// Renews a claim. `false`: it was lost, and what comes of the attempt won't be kept.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn renew(
        &self,
        claimed: &Claimed,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, InboxError> {
        const SQL: &str =
            "UPDATE delivery SET lease_until = ?4 WHERE event = ?1 AND number = ?2 AND claim = ?3";
        let claimed = claimed.clone();
        let until = now.after(lease).as_micros();
        self.write(move |batch| {
            let key = params![claimed.seq, claimed.delivery.number, claimed.token, until];
            Ok(batch.db.prepare_cached(SQL)?.execute(key)? == 1)
        })
        .await
    }

    /// Takes back every claim: for a process that has just become the only one that delivers.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn release_all(&self) -> Result<usize, InboxError> {
        const SQL: &str =
            "UPDATE delivery SET state = 0, claim = NULL, lease_until = NULL WHERE state IN (0, 1)
            AND state = 1";
        self.write(move |batch| Ok(batch.db.prepare_cached(SQL)?.execute([])?)).await
    }

    /// Takes back claims whose lease has ended.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn release_stale(&self, now: Timestamp) -> Result<usize, InboxError> {
        const SQL: &str =
            "UPDATE delivery SET state = 0, claim = NULL, lease_until = NULL WHERE state IN (0, 1)
            AND state = 1 AND lease_until < ?1";
        self.write(move |batch| Ok(batch.db.prepare_cached(SQL)?.execute([now.as_micros()])?)).await
    }

    /// The targets for which something waits, those with the oldest event first. Looks at one delivery a target.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn waiting(&self) -> Result<Vec<TargetId>, InboxError> {
        const SQL: &str = "SELECT id, (SELECT event FROM delivery WHERE target = t.id AND state IN (0, 1)
                AND state = 0 ORDER BY event LIMIT 1) AS oldest
            FROM target t WHERE oldest IS NOT NULL ORDER BY oldest";
        self.readers
            .read(|db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map([], |row| Ok(TargetId(row.get(0)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// When something waiting for a target is next due; `None` where nothing waits.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn next_due(&self, target: TargetId) -> Result<Option<Timestamp>, InboxError> {
        const SQL: &str = "SELECT min(coalesce(due_at, 0)) FROM delivery
            WHERE target = ?1 AND state IN (0, 1) AND state = 0";
        self.readers
            .read(move |db| {
                Ok(db.prepare_cached(SQL)?.query_row([target.0], |row| rows::moment_or_null(row, 0))?)
            })
            .await
    }
}

fn claim(
    db: &Connection,
    target: TargetId,
    order: OrderMode,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<Claimed>, InboxError> {
    let sql = format!(
        "UPDATE delivery SET state = 1, claim = ?3, lease_until = ?4, due_at = NULL
         WHERE (event, number) = ({}) RETURNING event, number, attempts, replay,
         (SELECT id FROM event WHERE seq = delivery.event)",
        next_of(order)
    );
    let token = rand::random::<i64>();
    let until = now.after(lease).as_micros();
    let read = |row: &Row<'_>| {
        let (event, number) = (rows::id(row, 4)?, row.get(1)?);
        Ok(Claimed {
            delivery: DeliveryId { event, number },
            seq: row.get(0)?,
            attempt: row.get::<_, u32>(2)? + 1,
            replay: row.get(3)?,
            token,
        })
    };
    let claimed = db
        .prepare_cached(&sql)?
        .query_row(params![target.0, now.as_micros(), token, until], read)
        .optional()?;
    Ok(claimed)
}
