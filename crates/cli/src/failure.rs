//! How a command ends: its exit code and its error message.

use std::{io, path::PathBuf};

use hookmitt_api::StartError;
use hookmitt_event::{Explain, Plain};

use crate::problem::Problem;

/// How a command ended. The number is the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The command did what was asked.
    #[default]
    Success = 0,
    /// The answer is negative: a signature that is invalid or missing, an answer other than 2xx, or a check that
    /// failed.
    No = 1,
    /// Wrong usage or bad input.
    BadInput = 2,
    /// Something that was needed could not be reached or is not available.
    Unreached = 3,
    /// The user ended the command before it was done (128 + SIGINT, as in shells).
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The input is wrong.
    #[error("{message}")]
    BadInput {
        /// The stable error code.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", Plain(&path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// Why it could not be read or written.
        source: io::Error,
    },
    /// The management API refused the request.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// The inbox could not be opened, a port or the token file could not be used, or the running hookmitt does not
    /// answer.
    #[error(transparent)]
    Start(#[from] StartError),
    /// This version does not understand the API's answer.
    #[error("hookmitt's own answer could not be understood: {0}")]
    Answer(String),
    /// Something that was needed is not available, for example a port or a store.
    #[error("{message}")]
    Unreached {
        /// The stable error code.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The running hookmitt ended before its answer was complete, or while its events were followed.
    #[error("the running hookmitt has stopped")]
    Gone,
    /// The event stream of a host in this process ended by itself.
    #[error("the live view was cut off")]
    BrokenOff,
    /// A call of the system failed: waiting for a signal, reading standard input, writing output, or starting the
    /// runtime.
    #[error("{doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The program that reads our output has closed the pipe. The command still ends with success.
    #[error("the program reading the output has closed it")]
    ClosedPipe,
}

impl CliError {
    /// Returns the error for wrong input, without a hint.
    pub(crate) fn bad_input(code: &'static str, message: impl Into<String>) -> Self {
        Self::BadInput { code, message: message.into(), hint: None }
    }

    /// Returns the error for wrong input, with a hint.
    pub(crate) fn bad_input_with(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::BadInput { code, message: message.into(), hint: Some(hint.into()) }
    }

    /// Returns the error for wrong input that another crate's error describes.
    pub(crate) fn explained(error: &impl Explain) -> Self {
        Self::BadInput { code: error.code(), message: error.to_string(), hint: error.hint() }
    }

    /// Returns the error for something that is not available, as another crate's error describes it.
    pub(crate) fn unreached(error: &impl Explain) -> Self {
        Self::Unreached { code: error.code(), message: error.to_string(), hint: error.hint() }
    }

    /// Returns the error for a file that could not be read or written.
    pub(crate) fn file(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::File { path: path.into(), source }
    }

    /// Returns the error for a failure to wait for signals.
    pub(crate) fn signals(source: io::Error) -> Self {
        Self::System { doing: "can't listen for signals", source }
    }

    /// Returns how a command ends after this error.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::BadInput { .. } | Self::File { .. } => Exit::BadInput,
            Self::Problem(problem) => match problem.status {
                401 | 403 | 500.. => Exit::Unreached,
                _ => Exit::BadInput,
            },
            Self::Start(error) => match error.exit_code() {
                0 | 3.. => Exit::Unreached,
                1 => Exit::No,
                2 => Exit::BadInput,
            },
            Self::Unreached { .. } | Self::Answer(_) | Self::Gone | Self::BrokenOff | Self::System { .. } => {
                Exit::Unreached
            }
            Self::ClosedPipe => Exit::Success,
        }
    }

    /// Returns the stable error code.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::BadInput { code, .. } | Self::Unreached { code, .. } => code,
            Self::File { .. } => "file",
            Self::Problem(problem) => &problem.code,
            Self::Start(error) => error.code(),
            Self::Answer(_) => "unexpected-answer",
            Self::Gone => "owner-gone",
            Self::BrokenOff => "broken-off",
            Self::System { .. } => "system",
            Self::ClosedPipe => "closed-pipe",
        }
    }

    /// Returns what the user can do about the error, if something is known.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::BadInput { hint, .. } | Self::Unreached { hint, .. } => hint.clone(),
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Some("check the path".to_owned()),
                io::ErrorKind::PermissionDenied => Some("check the permissions of that path".to_owned()),
                _ => None,
            },
            Self::Problem(problem) => problem.hint.clone(),
            Self::Start(error) => error.hint(),
            Self::Answer(_) => Some("the running hookmitt may be another version: restart it".to_owned()),
            Self::Gone => Some("run the command again; it then opens the inbox itself".to_owned()),
            Self::BrokenOff => Some(
                "captured events are safe; run the command again. A warning above may say why".to_owned(),
            ),
            Self::System { .. } | Self::ClosedPipe => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_contract() {
        let problem = |status, code: &str| {
            CliError::Problem(Problem { status, code: code.to_owned(), ..Problem::default() }).exit() as u8
        };
        assert_eq!(problem(400, "bad-input"), 2);
        assert_eq!(problem(404, "unknown-event"), 2);
        assert_eq!(problem(409, "no-targets"), 2);
        assert_eq!(problem(401, "unauthorized"), 3);
        assert_eq!(problem(503, "stopping"), 3);
        assert_eq!(CliError::bad_input("x", "y").exit() as u8, 2);
        assert_eq!(CliError::ClosedPipe.exit() as u8, 0);
    }
}
