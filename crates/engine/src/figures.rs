//! Figures about the engine's own files and upkeep.

use std::collections::BTreeMap;

use hookmitt_event::Timestamp;
use hookmitt_sqlite::{Space, space};

use crate::{Engine, EngineError};

/// What the data directory takes of its disk, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// The inbox.
    pub database: u64,
    /// The inbox's log.
    pub log: u64,
    /// The search index with its log; `None` if there is none that can be read.
    pub index: Option<u64>,
    /// What an ordinary user may still use; `None` if the system doesn't say.
    pub free: Option<u64>,
    /// How much the whole disk holds; `None` if the system doesn't say.
    pub total: Option<u64>,
    /// Whether new events will soon be refused.
    pub nearly_full: bool,
}

/// How far the upkeep has come that follows the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlogs {
    /// Up to which sequence number events are in the search index; `None` if there is no index that can be read.
    pub indexed: Option<u64>,
    /// The last sequence number that was given out.
    pub last: u64,
    /// How many events wait to be compressed, at most.
    pub uncompressed: u64,
}

impl Backlogs {
    /// Returns how many sequence numbers the search index is behind.
    pub fn unindexed(&self) -> u64 {
        self.last.saturating_sub(self.indexed.unwrap_or(0))
    }
}

impl Engine {
    /// Returns the time of the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.base.now()
    }

    /// Returns what the data directory takes of its disk.
    pub async fn disk(&self) -> Disk {
        let Space { file, log, disk } = space(&self.base.inbox.path());
        Disk {
            database: file,
            log,
            index: self.search.index_state().await.map(|state| state.bytes),
            free: disk.map(|disk| disk.free),
            total: disk.map(|disk| disk.total),
            nearly_full: disk.is_some_and(hookmitt_sqlite::Disk::is_nearly_full),
        }
    }

    /// Returns how many requests this process refused, by code.
    pub fn refused_since_start(&self) -> BTreeMap<&'static str, u64> {
        self.capture.refusal_counts()
    }

    /// Returns how far the upkeep has come.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn backlogs(&self) -> Result<Backlogs, EngineError> {
        let number = |seq: i64| u64::try_from(seq).unwrap_or_default();
        let last = number(self.base.inbox.last_given().await?);
        let indexed = self.search.index_state().await.map(|state| number(state.done).min(last));
        Ok(Backlogs { indexed, last, uncompressed: self.base.inbox.packing().await?.waiting })
    }
}
