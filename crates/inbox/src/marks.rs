//! What people mark events with: pins, notes and tags.

use hookmitt_event::{EventId, Tag};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{Inbox, InboxError, rows::TAGGED};

/// What shall be changed about an event's marks. `None` leaves a mark as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether the event is pinned.
    pub pinned: Option<bool>,
    /// The note; `Some(None)` removes it.
    pub note: Option<Option<String>>,
    /// All tags that the event shall have.
    pub tags: Option<Vec<Tag>>,
}

/// A tag, and how many events have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    /// The tag's name as it was first written.
    pub name: String,
    /// How many events have it, without those in the bin.
    pub events: u64,
}

/// About how many bytes a tag takes.
const TAG: usize = 128;

impl Inbox {
    /// Changes an event's marks. Returns whether anything is different now.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn mark(&self, id: EventId, marks: Marks) -> Result<bool, InboxError> {
        let note = marks.note.iter().flatten().map(String::len).sum::<usize>();
        let weight = note + marks.tags.iter().flatten().count() * TAG;
        self.add(weight, move |batch| {
            let seq = crate::deliveries::seq_of(batch.db, id)?;
            let mut changed = 0;
            if let Some(pinned) = marks.pinned {
                changed += pin(batch.db, seq, pinned.then_some(batch.now.wall))?;
            }
            if let Some(note) = &marks.note {
                const SQL: &str = "UPDATE event SET note = ?2 WHERE seq = ?1 AND note IS NOT ?2";
                changed += batch.db.prepare_cached(SQL)?.execute(params![seq, note])?;
            }
            if let Some(tags) = &marks.tags {
                changed += set_tags(batch.db, seq, tags)?;
            }
            Ok(changed > 0)
        })
        .await
    }

    /// Returns all tags of events that are not in the bin, sorted.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn tags(&self) -> Result<Vec<TagCount>, InboxError> {
        self.readers
            .read(|db| {
                let mut select = db.prepare_cached(TAGS)?;
                let found =
                    select.query_map([], |row| Ok(TagCount { name: row.get(0)?, events: row.get(1)? }))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// Counts the events of each tag by the tags' index alone; a name is read once a tag.
pub(crate) const TAGS: &str =
    "SELECT (SELECT name FROM tag WHERE (event, key) = (counted.event, counted.key)), n
    FROM (SELECT key, max(event) AS event, count(*) AS n FROM tag WHERE NOT binned GROUP BY key) counted
    ORDER BY key";

/// Pins an event since a moment, or removes its pin. A pin that is there keeps its moment.
fn pin(db: &Connection, seq: i64, at: Option<i64>) -> Result<usize, InboxError> {
    const SQL: &str =
        "UPDATE event SET pinned_at = ?2 WHERE seq = ?1 AND (pinned_at IS NULL) <> (?2 IS NULL)";
    Ok(db.prepare_cached(SQL)?.execute(params![seq, at])?)
}

/// Gives an event these tags and no others. Returns how many rows that changed.
fn set_tags(db: &Connection, seq: i64, tags: &[Tag]) -> Result<usize, InboxError> {
    const OTHERS: &str = "DELETE FROM tag WHERE event = ?1 AND key NOT IN (SELECT value FROM json_each(?2))";
    const ADD: &str =
        "INSERT OR IGNORE INTO tag (event, key, name, binned) SELECT ?1, ?2, ?3, deleted_at IS NOT NULL
        FROM event WHERE seq = ?1";
    const FLAG: &str = "UPDATE event SET flags = (flags & ~?2) | ?3 WHERE seq = ?1 AND (flags & ?2) <> ?3";
    let keys: Vec<_> = tags.iter().map(Tag::key).collect();
    let keys_json = serde_json::to_string(&keys).unwrap_or_default();
    let mut changed = db.prepare_cached(OTHERS)?.execute(params![seq, keys_json])?;
    for (tag, key) in tags.iter().zip(&keys) {
        let name = first_written(db, key)?.unwrap_or_else(|| tag.to_string());
        changed += db.prepare_cached(ADD)?.execute(params![seq, key, name])?;
    }
    let flag = if tags.is_empty() { 0 } else { TAGGED };
    db.prepare_cached(FLAG)?.execute(params![seq, TAGGED, flag])?;
    Ok(changed)
}

/// Returns how a tag is written that some event has already.
fn first_written(db: &Connection, key: &str) -> Result<Option<String>, InboxError> {
    const SQL: &str = "SELECT name FROM tag WHERE key = ?1 LIMIT 1";
    Ok(db.prepare_cached(SQL)?.query_row([key], |row| row.get(0)).optional()?)
}

/// Notes on an event's tags that it is in the bin now, or no longer.
pub(crate) fn set_binned(db: &Connection, seq: i64, binned: bool) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE tag SET binned = ?2 WHERE event = ?1";
    db.prepare_cached(SQL)?.execute(params![seq, binned])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Filter, queue_story::Story};
    use hookmitt_clock::Clock as _;
    use hookmitt_event::OrderMode;

    fn tags(names: &[&str]) -> Marks {
        let tags = names.iter().map(|name| name.parse().unwrap()).collect();
        Marks { tags: Some(tags), ..Marks::default() }
    }

    async fn counts(inbox: &Inbox) -> Vec<(String, u64)> {
        inbox.tags().await.unwrap().into_iter().map(|tag| (tag.name, tag.events)).collect()
    }

    fn written(event: &hookmitt_event::Event) -> Vec<&str> {
        event.tags.iter().map(Tag::as_str).collect()
    }

    #[tokio::test]
    async fn marks_are_kept_and_what_is_not_named_stays() {
        let story = Story::begin(OrderMode::Sequential).await;
        let (inbox, id) = (&story.inbox, story.arrives(None).await);
        let pin = Marks { pinned: Some(true), ..Marks::default() };
        assert!(inbox.mark(id, pin.clone()).await.unwrap());
        assert!(!inbox.mark(id, pin).await.unwrap(), "it is pinned already");
        let note = |text: Option<&str>| Marks { note: Some(text.map(str::to_owned)), ..Marks::default() };
        assert!(inbox.mark(id, note(Some("look\nhere"))).await.unwrap());
        assert!(inbox.mark(id, tags(&["Zebra", "äpfel"])).await.unwrap());
        for event in [
            inbox.event(id).await.unwrap(),
            inbox.listed(id).await.unwrap().event,
            inbox.list(Filter::default(), None, 9).await.unwrap().items.remove(0).event,
        ] {
            assert!(event.pinned);
            assert_eq!(event.note.as_deref(), Some("look\nhere"));
            assert_eq!(written(&event), ["Zebra", "äpfel"]);
        }
        assert!(inbox.mark(id, note(None)).await.unwrap());
        assert!(inbox.mark(id, Marks { pinned: Some(false), ..tags(&[]) }).await.unwrap());
        assert!(!inbox.mark(id, Marks { pinned: Some(false), ..tags(&[]) }).await.unwrap());
        let event = inbox.event(id).await.unwrap();
        assert_eq!((event.pinned, event.note, event.tags), (false, None, vec![]));
        let unknown = inbox.mark(EventId::fresh(), tags(&["a"])).await;
        assert!(matches!(unknown, Err(InboxError::UnknownEvent(_))), "{unknown:?}");
    }

    #[tokio::test]
    async fn a_tag_is_shown_as_it_was_first_written_and_counted_without_the_bin() {
        let story = Story::begin(OrderMode::Sequential).await;
        let inbox = &story.inbox;
        let [first, second] = [story.arrives(None).await, story.arrives(None).await];
        inbox.mark(first, tags(&["Größe"])).await.unwrap();
        inbox.mark(second, tags(&["GRÖSSE", "größe", "GRÖßE", "other"])).await.unwrap();
        assert_eq!(written(&inbox.event(second).await.unwrap()), ["GRÖSSE", "Größe", "other"]);
        let all = [("GRÖSSE".to_owned(), 1), ("Größe".to_owned(), 2), ("other".to_owned(), 1)];
        assert_eq!(counts(inbox).await, all);

        inbox.set_deleted(second, Some(story.clock.now())).await.unwrap();
        assert_eq!(counts(inbox).await, [("Größe".to_owned(), 1)]);
        inbox.mark(second, tags(&["größe", "binned"])).await.unwrap();
        assert_eq!(counts(inbox).await, [("Größe".to_owned(), 1)], "it is in the bin");
        inbox.set_deleted(second, None).await.unwrap();
        assert_eq!(counts(inbox).await, [("binned".to_owned(), 1), ("Größe".to_owned(), 2)]);
    }
}
