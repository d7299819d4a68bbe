//! Why the index fails, told so that a person can act on it.

use std::{path::PathBuf, sync::Arc};

use hookmitt_event::Explain;
use hookmitt_sqlite::{Closed, Refusal};

/// Why the index could not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum IndexError {
    /// The file or its folder can't be opened.
    #[error("can't open the search index {path}: {why}", path = path.display())]
    Open {
        /// The path of the index.
        path: PathBuf,
        /// The system's message.
        why: String,
    },
    /// The file holds something else than what was written. It has to be rebuilt.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
    /// The disk is full.
    #[error("the disk that holds the search index is full")]
    Full,
    /// Another process held the file for too long.
    #[error("another process has locked the search index")]
    Busy,
    /// Something else has written the file since this process opened it.
    #[error("another process has written the search index")]
    Overtaken,
    /// A read took too long and was ended.
    #[error("that is too much to search at once")]
    TooLong,
    /// The index was closed, or is being rebuilt.
    #[error("the search index is closed")]
    Closed,
    /// Any other error of SQLite's.
    #[error("the search index failed: {0}")]
    Sqlite(Arc<rusqlite::Error>),
}

impl Explain for IndexError {
    fn code(&self) -> &'static str {
        match self {
            Self::Open { .. } => "index-unreadable",
            Self::Damaged(_) => "index-damaged",
            Self::Full => "disk-full",
            Self::Busy => "index-busy",
            Self::Overtaken => "index-overtaken",
            Self::TooLong => "too-long",
            Self::Closed => "index-closed",
            Self::Sqlite(_) => "index-failed",
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Open { .. } => "check that the folder exists and is yours",
            Self::Damaged(_) => "nothing is lost: the index is made anew from the inbox",
            Self::Full => "free some space; searches work without the index, but slowly",
            Self::Busy => "close the program that has search.db open, then try again",
            Self::TooLong => "try again in a moment, or narrow the search",
            Self::Overtaken | Self::Closed => return None,
            Self::Sqlite(_) => "`hookmitt doctor` checks the file",
        };
        Some(hint.to_owned())
    }
}

impl From<Closed> for IndexError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        match hookmitt_sqlite::refusal(&error) {
            Some(Refusal::Full) => Self::Full,
            Some(Refusal::Busy) => Self::Busy,
            Some(Refusal::TooLong) => Self::TooLong,
            Some(Refusal::Damaged) => Self::Damaged(error.to_string()),
            None => Self::Sqlite(Arc::new(error)),
        }
    }
}
