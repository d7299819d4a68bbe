//! Why hookmitt could not start, or could not reach the process that is running.

use std::path::PathBuf;

use hookmitt_catch::ListenError;
use hookmitt_engine::{EngineError, InboxError};
use hookmitt_event::Explain;

/// Why hookmitt could not start, or could not reach the process that is running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A port cannot be bound.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The address for metrics cannot be bound.
    #[error(transparent)]
    Metrics(ListenError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The token file cannot be read or created.
    #[error("can't use the token file {path}: {why}", path = path.display())]
    TokenFile {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with the file.
        why: String,
    },
    /// Another process has the data directory but does not answer: it is suspended or hangs.
    #[error("the hookmitt running on this data directory{pid} doesn't answer", pid = named(*pid))]
    Silent {
        /// The id of that process, if it is known.
        pid: Option<u32>,
    },
    /// The running hookmitt does not answer.
    #[error("the running hookmitt doesn't answer: {0}")]
    Unreachable(String),
}

impl From<InboxError> for StartError {
    fn from(error: InboxError) -> Self {
        Self::Engine(error.into())
    }
}

fn named(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

impl StartError {
    /// Returns the exit code of a command that ends with this error: 3 if something could not be reached, 2 for bad
    /// input.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Engine(EngineError::Inbox(InboxError::NoBackup { .. })) => 2,
            Self::Engine(EngineError::Inbox(_))
            | Self::Listen(_)
            | Self::Metrics(_)
            | Self::Silent { .. }
            | Self::Unreachable(_) => 3,
            Self::Engine(_) | Self::TokenFile { .. } => 2,
        }
    }
}

impl Explain for StartError {
    fn code(&self) -> &'static str {
        match self {
            Self::Listen(error) | Self::Metrics(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::TokenFile { .. } => "token-file",
            Self::Silent { .. } => "owner-silent",
            Self::Unreachable(_) => "unreachable",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Listen(error) => error.hint(),
            Self::Metrics(_) => Some("choose another address with --metrics, such as 127.0.0.1:0".to_owned()),
            Self::Engine(error) => error.hint(),
            Self::TokenFile { .. } => {
                Some("use another file with --token-file, or put the token into HOOKMITT_TOKEN".to_owned())
            }
            Self::Silent { pid: Some(pid) } => Some(format!(
                "it may be suspended or out of file handles: resume it (`kill -CONT {pid}`), or stop it (`kill \
                 {pid}`) and try again"
            )),
            Self::Silent { pid: None } => {
                Some("it may be suspended or out of file handles: resume it or stop it".to_owned())
            }
            Self::Unreachable(_) => Some("it may be starting or stopping: try again".to_owned()),
        }
    }
}
