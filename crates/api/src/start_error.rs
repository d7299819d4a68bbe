//! Why hookmitt could not start, or not reach the one that runs.

use std::path::PathBuf;

use hookmitt_catch::ListenError;
use hookmitt_engine::EngineError;
use hookmitt_event::Explain;

/// Why hookmitt could not start, or not reach the one that runs.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A port can't be had.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The data directory can't be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The token file can't be read or made.
    #[error("can't use the token file {path}: {why}", path = path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The running hookmitt doesn't answer.
    #[error("the running hookmitt does not answer: {0}")]
    Unreachable(String),
}

impl StartError {
    /// The exit code of a command that ends by this: 3 where something could not be reached, 2 for bad input.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Engine(EngineError::Inbox(_)) | Self::Listen(_) | Self::Unreachable(_) => 3,
            Self::Engine(_) | Self::TokenFile { .. } => 2,
        }
    }
}

impl Explain for StartError {
    fn code(&self) -> &'static str {
        match self {
            Self::Listen(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::TokenFile { .. } => "token-file",
            Self::Unreachable(_) => "unreachable",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Listen(error) => error.hint(),
            Self::Engine(error) => error.hint(),
            Self::TokenFile { .. } => {
                Some("give another with --token-file, or the token in HOOKMITT_TOKEN".to_owned())
            }
            Self::Unreachable(_) => Some("it may be starting or stopping: try again".to_owned()),
        }
    }
}
