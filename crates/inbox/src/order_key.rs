//! Order keys for deliveries that already wait when a target begins to order by key. From then on the schema's triggers
//! keep the order.

use hookmitt_event::TargetId;
use rusqlite::{Connection, Row, params};

use crate::{Inbox, InboxError};

/// How many deliveries get their key in one commit.
const AT_ONCE: usize = 256;

/// A delivery's primary key.
pub(crate) type DeliveryKey = (i64, u32);

impl Inbox {
    /// Gives the deliveries that wait for a target their order keys, some with each commit. Returns the last delivery
    /// that it reached. Later ones get theirs from [`key_rest`], in the transaction that sets the order.
    pub(crate) async fn key_waiting(&self, target: TargetId) -> Result<DeliveryKey, InboxError> {
        let mut after = (0, 0);
        loop {
            let (last, some) = self.write(move |batch| key_some(batch.db, target, after)).await?;
            after = last;
            if some < AT_ONCE {
                return Ok(after);
            }
        }
    }
}

/// Gives the deliveries that wait behind `after` their order keys.
pub(crate) fn key_rest(db: &Connection, target: TargetId, mut after: DeliveryKey) -> Result<(), InboxError> {
    loop {
        let (last, some) = key_some(db, target, after)?;
        after = last;
        if some < AT_ONCE {
            return Ok(());
        }
    }
}

fn key_some(
    db: &Connection,
    target: TargetId,
    after: DeliveryKey,
) -> Result<(DeliveryKey, usize), InboxError> {
    const FIND: &str = "SELECT event, number FROM delivery INDEXED BY delivery_waiting
        WHERE target = ?1 AND state IN (0, 1) AND (event, number) > (?2, ?3) ORDER BY event, number LIMIT ?4";
    const KEY: &str =
        "UPDATE delivery SET order_key = (SELECT source || ':' || object FROM event WHERE seq = ?1)
        WHERE event = ?1 AND number = ?2 AND replay = 0";
    const BLOCK: &str = "UPDATE delivery SET blocked = 1
        WHERE event = ?1 AND number = ?2 AND state = 0 AND order_key IS NOT NULL AND EXISTS (
            SELECT 1 FROM delivery b WHERE b.target = delivery.target AND b.order_key = delivery.order_key
            AND b.state IN (0, 1) AND (b.event, b.number) < (?1, ?2))";
    let mut select = db.prepare_cached(FIND)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found = select.query_map(params![target.0, after.0, after.1, AT_ONCE], read)?;
    let found: Vec<DeliveryKey> = found.collect::<Result<_, _>>()?;
    for place in &found {
        db.prepare_cached(KEY)?.execute(*place)?;
        db.prepare_cached(BLOCK)?.execute(*place)?;
    }
    Ok((found.last().copied().unwrap_or(after), found.len()))
}
