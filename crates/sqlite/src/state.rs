//! What a store knows beside its file, as its writer asks for it.

use rusqlite::Connection;

/// Why nothing was written, where that is no fault of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// More waits than the writer takes.
    Overloaded,
    /// The file was let go of.
    Closed,
    /// A fault of ours.
    Panicked,
}

/// What a store's writer knows beside the file, and what it does around the jobs of a group.
pub trait State: Sized + Send + 'static {
    /// What the store calls errors.
    type Error: Clone + Send + From<rusqlite::Error> + From<Unwritten> + 'static;

    /// At the beginning of each transaction.
    ///
    /// # Errors
    /// The group ends with it.
    fn begin(&mut self, db: &Connection) -> Result<(), Self::Error>;

    /// What a job did holds, if the transaction does.
    fn keep(&mut self);

    /// A job failed, and what it wrote is undone; so must be what it changed here.
    ///
    /// # Errors
    /// The group ends with it.
    fn undo(&mut self, db: &Connection) -> Result<(), Self::Error>;

    /// At the end of each transaction. It `is_alone` where there was no job in it.
    ///
    /// # Errors
    /// The group ends with it.
    fn end(&mut self, db: &Connection, is_alone: bool) -> Result<(), Self::Error>;

    /// The transaction holds. Answers about how many bytes were written, beside what every row costs.
    fn committed(&mut self) -> u64;

    /// The transaction came to nothing.
    fn rolled_back(&mut self);

    /// What there is to do though no job waits.
    fn upkeep(&self) -> Upkeep {
        Upkeep::None
    }
}

/// What a writer has to do of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Nothing.
    None,
    /// Something that may share a transaction with jobs.
    Along,
    /// Something that might fail, and must take no job along.
    Alone,
}
