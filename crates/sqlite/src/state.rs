//! What a store's writer knows beside the file.

use rusqlite::Connection;

/// Why nothing was written, if the file itself is not at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// The queue is full.
    Overloaded,
    /// The file was closed.
    Closed,
    /// The work panicked: a fault of ours.
    Panicked,
}

/// What a store's writer knows beside the file, and what it does before and after the jobs of a group.
pub trait State: Sized + Send + 'static {
    /// The store's error type.
    type Error: Clone + Send + From<rusqlite::Error> + From<Unwritten> + 'static;

    /// Called at the beginning of each transaction.
    ///
    /// # Errors
    /// An error rolls back the whole group.
    fn begin(&mut self, db: &Connection) -> Result<(), Self::Error>;

    /// Called after a job has succeeded: keeps its changes here, which count if the transaction is committed.
    fn keep(&mut self);

    /// Called after a job of a group has failed and its writes were undone: undoes what the job changed here.
    ///
    /// # Errors
    /// An error rolls back the whole group.
    fn undo(&mut self, db: &Connection) -> Result<(), Self::Error>;

    /// Called at the end of each transaction. `is_alone` is true if the transaction holds no job.
    ///
    /// # Errors
    /// An error rolls back the whole group.
    fn end(&mut self, db: &Connection, is_alone: bool) -> Result<(), Self::Error>;

    /// Called after the commit. Returns about how many bytes were written, without the fixed cost of each row.
    fn committed(&mut self) -> u64;

    /// Called after the transaction was rolled back.
    fn rolled_back(&mut self);

    /// Returns what the writer has to do even if no job waits.
    fn upkeep(&self) -> Upkeep {
        Upkeep::None
    }
}

/// Work that a writer has to do without a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Nothing.
    None,
    /// Work that may share a transaction with jobs.
    Along,
    /// Work that may fail, and so gets a transaction without jobs.
    Alone,
}
