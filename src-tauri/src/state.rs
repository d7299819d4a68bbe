//! The core's state, as the page and the tray show it.

use hookmitt_api::StartError;
use hookmitt_event::Explain as _;
use serde::Serialize;

/// The core's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum State {
    /// The core attaches to a running hookmitt, or opens its ports and its inbox.
    #[default]
    Starting,
    /// The core catches events.
    Running {
        /// The capture URLs.
        capture: Vec<String>,
        /// Whether the core runs in another process.
        attached: bool,
        /// Warnings for the user.
        warnings: Vec<String>,
    },
    /// The core could not start, so the window catches nothing.
    Failed(Failure),
}

/// Why the core could not start, or why a command failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    /// The failure's stable name.
    pub(crate) code: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What the user can do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Makes a failure of the window itself.
    pub(crate) fn new(code: &str, message: impl Into<String>, hint: Option<&str>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: hint.map(str::to_owned) }
    }
}

impl From<&StartError> for Failure {
    fn from(error: &StartError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint() }
    }
}

impl State {
    /// Returns the state as one line for the tray.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Starting => "Starting".to_owned(),
            Self::Running { capture, .. } => match capture.first() {
                Some(url) => format!("Listening on {url}"),
                None => "Listening".to_owned(),
            },
            Self::Failed(failure) => format!("Not capturing: {}", failure.message),
        }
    }

    /// Returns the first capture URL, which users give to providers, if the core runs.
    pub(crate) fn capture_url(&self) -> Option<&str> {
        match self {
            Self::Running { capture, .. } => capture.first().map(String::as_str),
            Self::Starting | Self::Failed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn the_page_reads_it_by_its_name() {
        assert_eq!(to_value(State::Starting).unwrap(), json!({"state": "starting"}));
        let failed = State::Failed(Failure::new("port-taken", "port 4400 is taken", None));
        let expected =
            json!({"state": "failed", "code": "port-taken", "message": "port 4400 is taken", "hint": null});
        assert_eq!(to_value(&failed).unwrap(), expected);
        assert_eq!(failed.line(), "Not capturing: port 4400 is taken");
        let url = "http://127.0.0.1:4400".to_owned();
        let running = State::Running { capture: vec![url.clone()], attached: false, warnings: Vec::new() };
        assert_eq!(running.capture_url(), Some(url.as_str()));
    }
}
