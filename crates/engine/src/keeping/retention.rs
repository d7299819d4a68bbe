//! How long events are kept, as people set and see it.

use std::{collections::BTreeMap, sync::Arc};

use hookmitt_event::{Keep, Kept, Retention, Slug, WhenFull, counted};
use hookmitt_inbox::{NoRoom, Prunable, RetentionChange};
use serde::Deserialize;

use crate::{EngineError, base::Base, manage::given};

/// A change to how long events are kept. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KeepChange {
    /// For how long each is kept: `captured`, `completed`, `skipped`, `failed`, `dead_letter`, `trash`. A number with `s`,
    /// `m`, `h` or `d`, or `never`; null is the default.
    #[schema(value_type = BTreeMap<String, Option<String>>)]
    pub keep: BTreeMap<Kept, Option<Keep>>,
    /// What holds for some sources instead, by name. Null takes that back. The trash is the same for all.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, Option<String>>>)]
    pub sources: BTreeMap<String, BTreeMap<Kept, Option<Keep>>>,
    /// How many bytes of the inbox file may be in use; at least 1,000,000. Null: there is no limit.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    pub size_limit: Option<Option<u64>>,
    /// What is done when the disk is nearly full.
    pub when_full: Option<WhenFull>,
}

/// The smallest limit, in bytes: an empty inbox takes a part of it.
const LEAST: u64 = 1_000_000;

/// Decides how long events are kept.
#[derive(Debug)]
pub struct Keeping {
    base: Arc<Base>,
}

impl Keeping {
    pub(crate) const fn new(base: Arc<Base>) -> Self {
        Self { base }
    }

    /// Returns how long events are kept.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn now(&self) -> Result<Retention, EngineError> {
        Ok(self.base.inbox.retention().await?)
    }

    /// Changes how long events are kept, and returns what holds from now on.
    ///
    /// # Errors
    /// Fails if a source is unknown or the limit too small.
    pub async fn change(&self, change: KeepChange) -> Result<Retention, EngineError> {
        let KeepChange { keep, sources, size_limit, when_full } = change;
        if let Some(Some(limit)) = size_limit.filter(|limit| limit.is_some_and(|limit| limit < LEAST)) {
            return Err(EngineError::BadInput(format!(
                "a limit of {limit} bytes is too small: {LEAST} is the least"
            )));
        }
        let mut all: Vec<_> = keep.into_iter().map(|(kept, keep)| (None, kept, keep)).collect();
        for (source, keep) in sources {
            let slug: Slug =
                source.parse().map_err(|error| EngineError::BadInput(format!("{source:?}: {error}")))?;
            if keep.contains_key(&Kept::Trash) {
                return Err(EngineError::BadInput("the trash is the same for all sources".to_owned()));
            }
            all.extend(keep.into_iter().map(|(kept, keep)| (Some(slug.clone()), kept, keep)));
        }
        if all.is_empty() && size_limit.is_none() && when_full.is_none() {
            return self.now().await; // nothing that the audit trail should tell of
        }
        let change = RetentionChange { keep: all, size_limit, when_full };
        Ok(self.base.inbox.set_retention(change).await?)
    }

    /// Returns a warning if the disk is nearly full.
    pub(crate) fn disk_warning(&self) -> Option<String> {
        let disk = self.base.inbox.disk().filter(|disk| disk.is_nearly_full())?;
        let free = disk.free / 1_000_000;
        Some(format!(
            "The disk is nearly full: {free} MB are free. Once it is full, new events get a 503. Make room, or set how \
            long events are kept and how large the inbox may become"
        ))
    }

    /// Returns a warning if the size limit leaves no room beside what is pinned.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn size_warning(&self) -> Result<Option<String>, EngineError> {
        let no_room = self.base.inbox.no_room().await?;
        Ok(no_room.map(|NoRoom { limit, pinned, taken }| {
            let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
            format!(
                "what is pinned ({}) takes about {} MB, and the size limit is {} MB: whatever comes is deleted at once",
                counted(pinned, "event"),
                megabytes(taken),
                megabytes(limit)
            )
        }))
    }

    /// Counts what pruning would delete now.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn would_go(&self) -> Result<Prunable, EngineError> {
        Ok(self.base.inbox.prunable().await?)
    }
}
