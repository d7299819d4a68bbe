//! Gaps: the times when a tunnel was not connected, and what was caught up or lost.

use std::time::Duration;

use hookmitt_event::{GapWhy, Timestamp, TunnelKind};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, rows};

/// A gap that is shorter than this, in microseconds, and in which nothing was caught up or lost, is not kept.
const TRIVIAL_US: i64 = 5_000_000;

/// A time when a tunnel was not connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The gap's number.
    pub id: i64,
    /// The tunnel's number.
    pub tunnel: i64,
    /// The tunnel's label.
    pub label: String,
    /// The tunnel's kind: only a relay knows what came meanwhile.
    pub kind: TunnelKind,
    /// When the connection was lost.
    pub from: Timestamp,
    /// When the tunnel was connected again; `None` until everything that had waited is stored here.
    pub until: Option<Timestamp>,
    /// Why the connection was lost.
    pub why: GapWhy,
    /// How many events that had waited came in afterwards.
    pub caught_up: u64,
    /// How many requests the relay had to refuse meanwhile.
    pub lost: u64,
    /// How long the catching up took.
    pub took: Option<Duration>,
    /// The sequence number of the first event that was caught up.
    pub first_seq: Option<i64>,
    /// The sequence number of the last event that was caught up.
    pub last_seq: Option<i64>,
}

/// A page of gaps, and where the older ones begin.
#[derive(Clone, Debug)]
pub struct GapPage {
    /// The gaps, newest first.
    pub items: Vec<Gap>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
}

const SELECT: &str =
    "SELECT g.id, g.tunnel, t.label, g.began_at, g.ended_at, g.why, g.caught_up, g.lost, g.took,
    g.first_seq, g.last_seq, t.kind FROM tunnel_gap g JOIN tunnel t ON t.id = g.tunnel";

impl Inbox {
    /// Opens a gap of a tunnel that was connected until `from`, or until now if `from` is in the future. If a gap is
    /// open already, that one continues.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn open_gap(&self, tunnel: i64, from: Timestamp, why: GapWhy) -> Result<(), InboxError> {
        const OPEN: &str =
            "INSERT INTO tunnel_gap (tunnel, began_at, why) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        const UNTIL: &str = "UPDATE tunnel SET connected_until = ?2 WHERE id = ?1";
        let from = from.min(self.clock.machine().now()); // the clock may have been set back
        self.write(move |batch| {
            let opened =
                batch.db.prepare_cached(OPEN)?.execute(params![tunnel, from.as_micros(), why as i64])?;
            if opened == 1 {
                batch.db.prepare_cached(UNTIL)?.execute(params![tunnel, from.as_micros()])?;
            }
            Ok(())
        })
        .await
    }

    /// Gives the open gap of a tunnel another reason, unless its reason [stays](GapWhy::stays).
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn explain_gap(&self, tunnel: i64, why: GapWhy) -> Result<(), InboxError> {
        const OPEN: &str = "SELECT why FROM tunnel_gap WHERE tunnel = ?1 AND ended_at IS NULL";
        const SET: &str = "UPDATE tunnel_gap SET why = ?2 WHERE tunnel = ?1 AND ended_at IS NULL";
        self.write(move |batch| {
            let open = batch.db.prepare_cached(OPEN)?.query_row([tunnel], |row| reason(row, 0)).optional()?;
            if open.is_some_and(|before| !before.stays()) {
                batch.db.prepare_cached(SET)?.execute(params![tunnel, why as i64])?;
            }
            Ok(())
        })
        .await
    }

    /// Closes the open gap of a tunnel, once everything that had waited is stored here. Returns the gap, unless it was
    /// too short to keep.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn close_gap(
        &self,
        tunnel: i64,
        until: Timestamp,
        took: Duration,
    ) -> Result<Option<Gap>, InboxError> {
        const TRIVIAL: &str =
            "DELETE FROM tunnel_gap WHERE tunnel = ?1 AND ended_at IS NULL AND caught_up = 0
            AND lost = 0 AND ?2 - began_at BETWEEN 0 AND ?3";
        const CLOSE: &str = "UPDATE tunnel_gap SET ended_at = max(?2, began_at), took = ?3
            WHERE tunnel = ?1 AND ended_at IS NULL RETURNING id";
        let took = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        self.write(move |batch| {
            let db = batch.db;
            db.prepare_cached(TRIVIAL)?.execute(params![tunnel, until.as_micros(), TRIVIAL_US])?;
            let closed = db
                .prepare_cached(CLOSE)?
                .query_row(params![tunnel, until.as_micros(), took], |row| row.get::<_, i64>(0));
            let Some(id) = closed.optional()? else { return Ok(None) };
            let sql = format!("{SELECT} WHERE g.id = ?1");
            Ok(db.prepare_cached(&sql)?.query_row([id], gap).optional()?)
        })
        .await
    }

    /// Returns a page of a tunnel's gaps, newest first, whose numbers are below `cursor`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn gaps(&self, tunnel: i64, cursor: Option<i64>, limit: usize) -> Result<GapPage, InboxError> {
        let below = cursor.unwrap_or(i64::MAX);
        let sql = format!("{SELECT} WHERE g.tunnel = ?1 AND g.id < ?2 ORDER BY g.id DESC LIMIT ?3");
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(&sql)?;
                let found = select.query_map(params![tunnel, below, limit + 1], gap)?;
                Ok(page(found.collect::<Result<_, _>>()?, limit))
            })
            .await
    }

    /// Returns the gaps of all tunnels that ended in a time span and in which something was caught up or lost, newest
    /// first. Gaps of tunnels that keep nothing are included, because nobody knows what came meanwhile, unless the
    /// tunnel was turned off by hand.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn gaps_between(
        &self,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Gap>, InboxError> {
        let since = since.map_or(i64::MIN, Timestamp::as_micros);
        let until = until.map_or(i64::MAX, Timestamp::as_micros);
        let (relay, off) = (TunnelKind::Relay as i64, GapWhy::Off as i64);
        let sql = format!(
            "{SELECT} WHERE g.ended_at >= ?1 AND g.ended_at < ?2
            AND (g.caught_up > 0 OR g.lost > 0 OR t.kind <> {relay} AND g.why <> {off})
            ORDER BY g.ended_at DESC LIMIT ?3"
        );
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(&sql)?;
                let found = select.query_map(params![since, until, limit], gap)?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// Counts requests as lost in a tunnel's open gap, if there is one.
pub(crate) fn lose(db: &Connection, tunnel: i64, count: u64) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE tunnel_gap SET lost = lost + ?2 WHERE tunnel = ?1 AND ended_at IS NULL";
    if count > 0 {
        db.prepare_cached(SQL)?.execute(params![tunnel, count])?;
    }
    Ok(())
}

fn page(mut items: Vec<Gap>, limit: usize) -> GapPage {
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(|gap| gap.id);
    GapPage { items, next }
}

fn reason(row: &Row<'_>, column: usize) -> rusqlite::Result<GapWhy> {
    let why: usize = row.get(column)?;
    GapWhy::ALL.get(why).copied().ok_or_else(|| rows::corrupt(column, "reason"))
}

fn gap(row: &Row<'_>) -> rusqlite::Result<Gap> {
    let took: Option<u64> = row.get(8)?;
    let kind: usize = row.get(11)?;
    Ok(Gap {
        id: row.get(0)?,
        tunnel: row.get(1)?,
        label: row.get(2)?,
        from: rows::moment(row, 3)?,
        until: rows::moment_or_null(row, 4)?,
        why: reason(row, 5)?,
        caught_up: row.get(6)?,
        lost: row.get(7)?,
        took: took.map(Duration::from_micros),
        first_seq: row.get(9)?,
        last_seq: row.get(10)?,
        kind: *TunnelKind::ALL.get(kind).ok_or_else(|| rows::corrupt(11, "kind of tunnel"))?,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hookmitt_clock::MachineClock;
    use hookmitt_event::TunnelKind;

    use super::*;
    use crate::{NewTunnel, Told};

    const WHY: GapWhy = GapWhy::Network;

    async fn inbox() -> (tempfile::TempDir, Inbox, i64) {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), Arc::new(MachineClock)).unwrap();
        let new = NewTunnel {
            kind: TunnelKind::Relay,
            label: "acme".to_owned(),
            name: None,
            url: None,
            keys: None,
            source: None,
            sources: Vec::new(),
            public_url: None,
        };
        let id = inbox.add_tunnel(new, Timestamp::now()).await.unwrap().id;
        (folder, inbox, id)
    }

    fn after(at: Timestamp, seconds: i64) -> Timestamp {
        Timestamp::from_micros(at.as_micros() + seconds * 1_000_000)
    }

    #[tokio::test]
    async fn a_clock_that_was_ahead_hides_no_gap() {
        let (_folder, inbox, id) = inbox().await;
        let now = Timestamp::now();
        let ahead = after(now, 86_400);
        inbox.tunnel_connected(id, ahead, None, Told::default(), None).await.unwrap();
        inbox.tunnel_connected(id, now, None, Told::default(), None).await.unwrap();
        assert_eq!(inbox.tunnel(id).await.unwrap().connected_until, Some(now), "the newest word counts");

        inbox.open_gap(id, ahead, WHY).await.unwrap();
        let until = after(Timestamp::now(), 60);
        let gap = inbox.close_gap(id, until, Duration::ZERO).await.unwrap().expect("it is worth a line");
        assert!(gap.from < until, "it did not begin in the future: {gap:?}");
    }

    #[tokio::test]
    async fn a_gap_that_ended_before_it_began_is_kept_and_a_moment_is_not() {
        let (_folder, inbox, id) = inbox().await;
        let from = after(Timestamp::now(), -10);
        inbox.open_gap(id, from, WHY).await.unwrap();
        assert_eq!(inbox.close_gap(id, after(from, 2), Duration::ZERO).await.unwrap(), None);
        inbox.open_gap(id, from, WHY).await.unwrap();
        let gap = inbox.close_gap(id, after(from, -3_600), Duration::ZERO).await.unwrap().expect("kept");
        assert_eq!(gap.until, Some(from), "the clock went back meanwhile; how long it was is not known");
    }

    #[tokio::test]
    async fn a_gap_s_reason_is_the_latest_unless_it_tells_how_the_gap_began() {
        let (_folder, inbox, id) = inbox().await;
        let from = after(Timestamp::now(), -60);
        for (began, expected) in [
            (GapWhy::Relay, GapWhy::ConnectionRefused),
            (GapWhy::Network, GapWhy::ConnectionRefused),
            (GapWhy::Asleep, GapWhy::Asleep),
            (GapWhy::AppClosed, GapWhy::AppClosed),
            (GapWhy::Off, GapWhy::Off),
        ] {
            inbox.open_gap(id, from, began).await.unwrap();
            inbox.explain_gap(id, GapWhy::ConnectionRefused).await.unwrap();
            let gap = inbox.close_gap(id, Timestamp::now(), Duration::ZERO).await.unwrap().expect("kept");
            assert_eq!(gap.why, expected, "{began}");
            inbox.explain_gap(id, GapWhy::Denied).await.unwrap();
            assert_eq!(inbox.gaps(id, None, 1).await.unwrap().items[0].why, expected, "it is over");
        }
    }
}
