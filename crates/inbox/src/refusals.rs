//! Requests that were refused instead of stored, and what was known of each.

use hookmitt_event::Timestamp;
use rusqlite::{Row, params};

use crate::{Inbox, InboxError, batch::Batch, rows};

/// How many refusals are kept.
const MOST: i64 = 10_000;

/// How many of the newest of each status stay, whatever comes of others: a flood of unknown paths doesn't push out what
/// could not be stored.
const SHARE: i64 = 500;

/// How long a refusal is kept, in microseconds of store time: 30 days.
const KEPT_FOR: i64 = 30 * 24 * 60 * 60 * 1_000_000;

/// The longest text of a column, in characters. What a sender chose is cut there.
const LONGEST: usize = 2_000;

/// A request that was refused. Texts from the sender are as they came, and hostile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// When it was refused.
    pub at: Timestamp,
    /// The sender's address.
    pub remote: String,
    /// The method, if the head was understood; so the next two.
    pub method: Option<String>,
    /// The request target as it was called.
    pub target: Option<String>,
    /// The value of the Host line.
    pub host: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// The stable code of the answer.
    pub code: String,
    /// What happened, as a sentence.
    pub message: String,
    /// The source's name that the target called, whether there is such a source or not.
    pub source: Option<String>,
    /// The catalogue id of the provider that the header lines give away.
    pub provider: Option<String>,
    /// The size of the body in bytes, as the head stated it or as it was received.
    pub size: Option<u64>,
    /// How many more like it, with the same code, came in the same moment and have no entry of their own.
    pub more: u64,
}

/// A page of refusals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalPage {
    /// The refusals with their numbers, newest first.
    pub items: Vec<(i64, Refused)>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
}

impl Inbox {
    /// Stores refusals, oldest first, and removes the oldest that are too many or too old.
    ///
    /// # Errors
    /// Fails with [`InboxError::Full`] on a full disk, and if SQLite does.
    pub async fn note_refusals(&self, refused: Vec<Refused>) -> Result<(), InboxError> {
        let texts = |one: &Refused| {
            let texts = [&one.method, &one.target, &one.host, &one.source].into_iter().flatten();
            texts.map(String::len).sum::<usize>() + one.message.len() + 100
        };
        let weight = refused.iter().map(texts).sum();
        self.add(weight, move |batch| {
            for one in &refused {
                insert(batch, one)?;
            }
            prune(batch)
        })
        .await
    }

    /// Returns a page of at most `limit` refusals with a number below `cursor`, newest first, that happened at `since`
    /// or later and before `until`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn refusals(
        &self,
        (since, until): (Option<Timestamp>, Option<Timestamp>),
        cursor: Option<i64>,
        limit: usize,
    ) -> Result<RefusalPage, InboxError> {
        const SQL: &str =
            "SELECT id, at, remote, method, target, host, status, code, message, source, provider, size, more
            FROM refusal WHERE id < ?1 AND stored_at >= ?2 AND at >= ?3 AND at < ?4 ORDER BY id DESC LIMIT ?5";
        let oldest = self.clock.now() - KEPT_FOR;
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let values = params![
                    cursor.unwrap_or(i64::MAX),
                    oldest,
                    since.map_or(i64::MIN, Timestamp::as_micros),
                    until.map_or(i64::MAX, Timestamp::as_micros),
                    limit + 1,
                ];
                let mut items: Vec<_> = select.query_map(values, refusal)?.collect::<Result<_, _>>()?;
                let more = items.len() > limit;
                items.truncate(limit);
                let next = items.last().filter(|_| more).map(|(id, _): &(i64, Refused)| *id);
                Ok(RefusalPage { items, next })
            })
            .await
    }
}

fn insert(batch: &Batch<'_>, one: &Refused) -> Result<(), InboxError> {
    const SQL: &str =
        "INSERT INTO refusal (at, stored_at, remote, method, target, host, status, code, message,
        source, provider, size, more) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    batch.db.prepare_cached(SQL)?.execute(params![
        one.at.as_micros(),
        batch.now.store,
        one.remote,
        one.method.as_deref().map(cut),
        one.target.as_deref().map(cut),
        one.host.as_deref().map(cut),
        one.status,
        one.code,
        cut(&one.message),
        one.source,
        one.provider,
        one.size,
        one.more,
    ])?;
    Ok(())
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end])
}

/// Removes the oldest refusals that are too old or too many, except those that are within the share of their status.
/// There are as many as one call adds, and a few more.
pub(crate) fn prune(batch: &Batch<'_>) -> Result<(), InboxError> {
    const OLD: &str = "DELETE FROM refusal WHERE id IN
        (SELECT id FROM (SELECT id, stored_at FROM refusal ORDER BY id LIMIT 500) WHERE stored_at < ?1)";
    const COUNT: &str = "SELECT count(*) FROM refusal";
    const MANY: &str = "DELETE FROM refusal WHERE id IN (SELECT id FROM
        (SELECT id, row_number() OVER (PARTITION BY status ORDER BY id DESC) AS place FROM refusal)
        WHERE place > ?1 ORDER BY id LIMIT ?2)";
    batch.db.prepare_cached(OLD)?.execute([batch.now.store - KEPT_FOR])?;
    let all: i64 = batch.db.prepare_cached(COUNT)?.query_row([], |row| row.get(0))?;
    if all > MOST {
        batch.db.prepare_cached(MANY)?.execute([SHARE, all - MOST])?;
    }
    Ok(())
}

fn refusal(row: &Row<'_>) -> rusqlite::Result<(i64, Refused)> {
    let refused = Refused {
        at: rows::moment(row, 1)?,
        remote: row.get(2)?,
        method: row.get(3)?,
        target: row.get(4)?,
        host: row.get(5)?,
        status: row.get(6)?,
        code: row.get(7)?,
        message: row.get(8)?,
        source: row.get(9)?,
        provider: row.get(10)?,
        size: row.get(11)?,
        more: row.get(12)?,
    };
    Ok((row.get(0)?, refused))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hookmitt_clock::Clock as _;
    use hookmitt_event::OrderMode;

    use super::*;
    use crate::queue_story::Story;

    #[tokio::test]
    async fn a_flood_of_one_status_leaves_the_others_their_share() {
        let story = Story::begin(OrderMode::Sequential).await;
        let (inbox, now) = (&story.inbox, story.clock.now());
        inbox.note_refusals(vec![refused(now, "inbox-full"); 3]).await.unwrap();
        let unknown = Refused { status: 404, ..refused(now, "unknown-source") };
        for _ in 0..110 {
            inbox.note_refusals(vec![unknown.clone(); 100]).await.unwrap();
        }
        let db = hookmitt_sqlite::reader(&inbox.path()).unwrap();
        let count = |status: u16| {
            let sql = "SELECT count(*) FROM refusal WHERE status = ?1";
            db.query_row(sql, [status], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!((count(503), count(404)), (3, MOST - 3));
    }

    fn refused(at: Timestamp, code: &str) -> Refused {
        Refused {
            at,
            remote: "127.0.0.1:5".to_owned(),
            method: Some("POST".to_owned()),
            target: Some("/x\u{1b}[2J".to_owned()),
            host: None,
            status: 503,
            code: code.to_owned(),
            message: "no".to_owned(),
            source: None,
            provider: None,
            size: Some(3),
            more: 7,
        }
    }

    #[tokio::test]
    async fn refusals_are_read_by_page_and_by_time_and_go_after_30_days() {
        let story = Story::begin(OrderMode::Sequential).await;
        let (inbox, began) = (&story.inbox, story.clock.now());
        for code in ["a", "b", "c"] {
            inbox.note_refusals(vec![refused(story.clock.now(), code)]).await.unwrap();
            story.clock.pass(Duration::from_secs(60));
        }
        let first = inbox.refusals((None, None), None, 2).await.unwrap();
        assert_eq!(first.items[1].1, refused(Timestamp::from_micros(began.as_micros() + 60_000_000), "b"));
        let rest = inbox.refusals((None, None), first.next, 2).await.unwrap();
        assert_eq!((rest.items.len(), rest.next), (1, None));
        let since = Some(first.items[1].1.at);
        assert_eq!(inbox.refusals((since, None), None, 9).await.unwrap().items.len(), 2);
        assert_eq!(inbox.refusals((None, since), None, 9).await.unwrap().items.len(), 1);
        story.clock.pass(Duration::from_secs(30 * 86_400 - 130));
        assert_eq!(inbox.refusals((None, None), None, 9).await.unwrap().items.len(), 2);
    }

    #[tokio::test]
    async fn the_oldest_go_first_when_there_are_too_many_and_long_texts_are_cut() {
        let story = Story::begin(OrderMode::Sequential).await;
        let (inbox, now) = (&story.inbox, story.clock.now());
        for _ in 0..101 {
            inbox.note_refusals(vec![refused(now, "a"); 100]).await.unwrap();
        }
        let db = hookmitt_sqlite::reader(&inbox.path()).unwrap();
        let count: i64 = db.query_row("SELECT count(*) FROM refusal", [], |row| row.get(0)).unwrap();
        assert_eq!(count, MOST);
        let long = Refused { target: Some("ä".repeat(9_000)), ..refused(now, "long") };
        inbox.note_refusals(vec![long]).await.unwrap();
        let newest = inbox.refusals((None, None), None, 1).await.unwrap().items.remove(0).1;
        assert_eq!(newest.target.unwrap().chars().count(), LONGEST);
    }
}
