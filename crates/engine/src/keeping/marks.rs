//! Pins, notes and tags, as people set them.

use std::sync::Arc;

use hookmitt_event::{EventId, MOST_TAGS, Tag};
use hookmitt_inbox::{Marks, TagCount};
use serde::Deserialize;

use crate::{Change, EngineError, base::Base, manage::given};

/// The longest note, in bytes.
const LONGEST_NOTE: usize = 10_000;

/// A change to an event's marks. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MarkChange {
    /// Whether the event is pinned, so that retention keeps it.
    pub pinned: Option<bool>,
    /// A note of at most 10,000 bytes. Null removes it.
    #[serde(deserialize_with = "given")]
    pub note: Option<Option<String>>,
    /// All tags that the event shall have: at most 20, each with 1 to 40 characters and without commas. Two that differ
    /// only in case are the same.
    #[schema(value_type = Option<Vec<String>>)]
    pub tags: Option<Vec<Tag>>,
}

/// Marks events with pins, notes and tags.
#[derive(Debug)]
pub struct Marking {
    base: Arc<Base>,
}

impl Marking {
    pub(crate) const fn new(base: Arc<Base>) -> Self {
        Self { base }
    }

    /// Changes an event's marks.
    ///
    /// # Errors
    /// Fails if the event is unknown, or if the note or the list of tags is too long.
    pub async fn change(&self, id: EventId, change: MarkChange) -> Result<(), EngineError> {
        let MarkChange { pinned, note, mut tags } = change;
        let too_long = |what: String| Err(EngineError::BadInput(what));
        if let Some(length) = note.iter().flatten().map(String::len).find(|length| *length > LONGEST_NOTE) {
            return too_long(format!("a note may have at most {LONGEST_NOTE} bytes; this one has {length}"));
        }
        if let Some(tags) = &mut tags {
            tags.sort_by_cached_key(Tag::key);
            tags.dedup();
            if tags.len() > MOST_TAGS {
                return too_long(format!("an event may have at most {MOST_TAGS} tags, not {}", tags.len()));
            }
        }
        let note = note.map(|note| note.filter(|text| !text.trim().is_empty()));
        if self.base.inbox.mark(id, Marks { pinned, note, tags }).await? {
            self.base.announce(Change::Event(id));
        }
        Ok(())
    }

    /// Returns all tags that events outside the bin have, sorted, each with the number of those events.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn tags(&self) -> Result<Vec<TagCount>, EngineError> {
        Ok(self.base.inbox.tags().await?)
    }
}
