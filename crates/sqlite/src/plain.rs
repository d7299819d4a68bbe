//! A store for tests, which keeps nothing beside its file.

use rusqlite::Connection;

use crate::{Closed, State, Unwritten};

/// Its state: how many bytes each commit adds.
#[derive(Debug, Default)]
pub(crate) struct Plain(pub(crate) u64);

#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failure(String);

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<Unwritten> for Failure {
    fn from(why: Unwritten) -> Self {
        Self(format!("{why:?}"))
    }
}

impl From<Closed> for Failure {
    fn from(_: Closed) -> Self {
        Self("closed".to_owned())
    }
}

impl State for Plain {
    type Error = Failure;

    fn begin(&mut self, _: &Connection) -> Result<(), Failure> {
        Ok(())
    }

    fn keep(&mut self) {}

    fn undo(&mut self, _: &Connection) -> Result<(), Failure> {
        Ok(())
    }

    fn end(&mut self, _: &Connection, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn committed(&mut self) -> u64 {
        self.0
    }

    fn rolled_back(&mut self) {}
}
