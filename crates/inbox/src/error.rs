//! Why the inbox fails, told so that a person can act on it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hookmitt_event::{Explain, JobState};
use hookmitt_sqlite::{Refusal, Unwritten};

/// Why the inbox could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum InboxError {
    /// The file was written by a newer hookmitt.
    #[error("the inbox {path} has schema {found}; this hookmitt knows up to {known}", path = path.display())]
    Newer {
        /// The path of the inbox file.
        path: PathBuf,
        /// The schema number in the file.
        found: u32,
        /// The newest schema number that this build knows.
        known: u32,
    },
    /// The file or its folder can't be opened.
    #[error("can't open the inbox {path}: {why}", path = path.display())]
    Open {
        /// The path of the inbox file or its folder.
        path: PathBuf,
        /// The system's message.
        why: String,
    },
    /// The disk is full, or nothing is left of it but the reserve.
    #[error("the disk that holds the inbox is full")]
    Full,
    /// Another process held the file for too long.
    #[error("another process has locked the inbox")]
    Busy,
    /// The writer's queue is full.
    #[error("the inbox can't keep up with writing")]
    Overloaded,
    /// No event has that id or number.
    #[error("there is no event {0}")]
    UnknownEvent(String),
    /// The event with this number is not in the bin, so it can't be deleted for good.
    #[error("#{0} isn't in the trash")]
    NotInTrash(i64),
    /// The given text is the beginning of more than one event's id.
    #[error("{prefix} is the start of {count} or more event ids")]
    Ambiguous {
        /// The given text.
        prefix: String,
        /// How many ids were found before the search stopped.
        count: usize,
    },
    /// No source has that name.
    #[error("there is no source {0}")]
    UnknownSource(String),
    /// There is already a source with that name.
    #[error("there is already a source {0}")]
    SourceExists(String),
    /// Unknown names on the capture port have made as many sources as they may.
    #[error("{0} sources were already created by unknown names")]
    TooManySources(i64),
    /// This target sends the same source's events to the same URL already.
    #[error("target {0} already sends the same events to that URL")]
    TargetExists(i64),
    /// No target has that id.
    #[error("there is no target {0}")]
    UnknownTarget(i64),
    /// No tunnel has that id.
    #[error("there is no tunnel {0}")]
    UnknownTunnel(i64),
    /// No saved search has that id.
    #[error("there is no saved search {0}")]
    UnknownSearch(i64),
    /// A saved search has that name already.
    #[error("there is already a search called {0}")]
    SearchExists(String),
    /// There are as many saved searches as there may be.
    #[error("{0} searches are saved already")]
    TooManySearches(i64),
    /// No job has that number.
    #[error("there is no job {0}")]
    UnknownJob(i64),
    /// There is no report of a sync with that number.
    #[error("there is no report {0}")]
    UnknownReport(i64),
    /// The job waits, runs or is done, so it can't go on.
    #[error("job {id} is {state}: it can't be resumed")]
    NotResumable {
        /// The job's number.
        id: i64,
        /// How far the job is.
        state: JobState,
    },
    /// As many jobs wait as may.
    #[error("{0} jobs are waiting already")]
    TooManyJobs(u32),
    /// The job was cancelled or stopped while it ran.
    #[error("the job has ended")]
    JobEnded,
    /// An earlier event of the same run could not be stored.
    #[error("an earlier event of the same run could not be stored")]
    OutOfTurn,
    /// A backup could not be made.
    #[error("the backup failed: {0}")]
    Backup(String),
    /// A file can't be restored.
    #[error("{path} can't be restored: {why}", path = path.display())]
    NoBackup {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A process uses the data directory.
    #[error("a hookmitt uses {path}", path = .0.display())]
    InUse(PathBuf),
    /// SQLite has found damage in the file.
    #[error("the inbox is damaged: {0}")]
    Damaged(String),
    /// The body of an event, or its header lines, can't be read any more. The inbox is otherwise whole.
    #[error("{0}")]
    Lost(String),
    /// Another process has become the one that delivers.
    #[error("another process delivers from this inbox")]
    NotOwner,
    /// The inbox was closed.
    #[error("the inbox is closed")]
    Closed,
    /// A read took too long and was ended, so that capture can go on.
    #[error("that is too much to search at once")]
    TooLong,
    /// hookmitt panicked, which is a fault of ours; nothing was stored.
    #[error("an internal error occurred; the inbox is unchanged")]
    Panicked,
    /// Any other error of SQLite's.
    #[error("the inbox failed: {0}")]
    Sqlite(Arc<rusqlite::Error>),
}

impl Explain for InboxError {
    fn code(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "inbox-newer",
            Self::Open { .. } => "inbox-unreadable",
            Self::Full => "disk-full",
            Self::Busy => "inbox-busy",
            Self::Overloaded => "overloaded",
            Self::TooLong => "too-long",
            Self::UnknownEvent(_) => "unknown-event",
            Self::NotInTrash(_) => "not-in-trash",
            Self::Ambiguous { .. } => "ambiguous-id",
            Self::UnknownSource(_) => "unknown-source",
            Self::SourceExists(_) => "source-exists",
            Self::TooManySources(_) => "too-many-sources",
            Self::TargetExists(_) => "target-exists",
            Self::UnknownTarget(_) => "unknown-target",
            Self::UnknownTunnel(_) => "unknown-tunnel",
            Self::UnknownSearch(_) => "unknown-search",
            Self::SearchExists(_) => "search-exists",
            Self::TooManySearches(_) => "too-many-searches",
            Self::UnknownJob(_) => "unknown-job",
            Self::UnknownReport(_) => "unknown-report",
            Self::NotResumable { .. } => "not-resumable",
            Self::TooManyJobs(_) => "too-many-jobs",
            Self::JobEnded => "job-ended",
            Self::OutOfTurn => "out-of-turn",
            Self::Backup(_) => "backup-failed",
            Self::NoBackup { .. } => "no-backup",
            Self::InUse(_) => "inbox-in-use",
            Self::Damaged(_) => "inbox-damaged",
            Self::Lost(_) => "body-lost",
            Self::NotOwner => "not-owner",
            Self::Closed => "inbox-closed",
            Self::Panicked | Self::Sqlite(_) => "inbox-failed",
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Newer { .. } => "update hookmitt, or choose another folder with --data-dir",
            Self::Open { .. } => {
                "check that the folder exists and is yours, or choose another with --data-dir"
            }
            Self::Full => {
                "free some space: 32 MiB (or an eighth of a small disk) are reserved for stored events; senders \
                 were told to try again, and capturing resumes automatically"
            }
            Self::Busy => "close the program that has inbox.db open, then try again",
            Self::Overloaded => "senders were told to try again",
            Self::TooLong => "try again in a moment, or narrow the search",
            Self::UnknownEvent(_) => "`hookmitt events` lists all events",
            Self::NotInTrash(seq) => return Some(format!("`hookmitt delete '#{seq}'` moves it there")),
            Self::Ambiguous { .. } => "give more of the id, or its #number",
            Self::UnknownSource(_) => "`hookmitt source list` names them; `hookmitt source add` adds it",
            Self::SourceExists(_) => "change it with `hookmitt source edit`",
            Self::TooManySources(_) => "add the source by hand: `hookmitt source add SLUG`",
            Self::TargetExists(id) => {
                return Some(format!("`hookmitt target edit {id}` changes its settings"));
            }
            Self::UnknownTarget(_) => "`hookmitt target list` shows them",
            Self::UnknownTunnel(_) => "`hookmitt tunnel list` shows them",
            Self::UnknownSearch(_) => "GET /api/searches lists them",
            Self::SearchExists(_) => "choose another name, or change that search",
            Self::TooManySearches(_) => "remove one that isn't needed any more",
            Self::Backup(_) => "the inbox is as it was: ask for a new backup, perhaps to another place",
            Self::NoBackup { .. } => "the inbox is as it was: restore another backup",
            Self::InUse(_) => "stop it, then restore",
            Self::Damaged(_) => {
                "start hookmitt again: it keeps the damaged file, and recovers what can be read"
            }
            Self::Lost(_) => "have its sender send it again: what is lost doesn't come back",
            Self::UnknownReport(_) => "`hookmitt sync report` lists the latest",
            Self::UnknownJob(_) => "`hookmitt jobs` lists those of the last 7 days",
            Self::NotResumable { state: JobState::Done, .. } => "ask for it again",
            Self::NotResumable { .. } => "it goes on by itself: `hookmitt jobs` says how far it is",
            Self::TooManyJobs(_) => "wait until some have ended, or cancel one: `hookmitt jobs cancel ID`",
            Self::JobEnded | Self::OutOfTurn | Self::NotOwner | Self::Closed => return None,
            Self::Panicked => "check the log, and report this",
            Self::Sqlite(_) => "`hookmitt doctor` checks the file",
        };
        Some(hint.to_owned())
    }
}

impl InboxError {
    /// The error for a file that the system refuses.
    pub(crate) fn open(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Open { path: path.to_owned(), why: why.to_string() }
    }
}

impl From<hookmitt_sqlite::CopyError> for InboxError {
    fn from(why: hookmitt_sqlite::CopyError) -> Self {
        Self::Backup(why.to_string())
    }
}

impl From<hookmitt_sqlite::Closed> for InboxError {
    fn from(_: hookmitt_sqlite::Closed) -> Self {
        Self::Closed
    }
}

impl From<Unwritten> for InboxError {
    fn from(why: Unwritten) -> Self {
        match why {
            Unwritten::Overloaded => Self::Overloaded,
            Unwritten::Closed => Self::Closed,
            Unwritten::Panicked => Self::Panicked,
        }
    }
}

impl From<rusqlite::Error> for InboxError {
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
