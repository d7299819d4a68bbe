//! How a chore gets on.

use std::{fmt::Display, time::Duration};

/// How long a chore waits after a step that failed, for example on a full disk.
const AGAIN: Duration = Duration::from_secs(10);

/// What a chore has to say about its steps. It says each hindrance once.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    hindrance: Option<String>,
}

impl Progress {
    pub(super) const fn of(what: &'static str) -> Self {
        Self { what, hindrance: None }
    }

    /// Takes the outcome of a step. After one that failed it waits, and returns `None`.
    pub(super) async fn after<T, E: Display>(&mut self, step: Result<T, E>) -> Option<T> {
        match step {
            Ok(done) => {
                if self.hindrance.take().is_some() {
                    tracing::info!("{} goes on", self.what);
                }
                Some(done)
            }
            Err(error) => {
                let said = error.to_string();
                if self.hindrance.as_ref() != Some(&said) {
                    tracing::warn!(%error, "{} failed and is tried again", self.what);
                    self.hindrance = Some(said);
                }
                tokio::time::sleep(AGAIN).await;
                None
            }
        }
    }
}
