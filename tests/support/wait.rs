//! Waiting for something to become so.

use std::{future::Future, time::Duration};

/// How long anything may take, on the slowest of machines.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// How often something is looked at: no guess at how long it takes.
pub(crate) const PACE: Duration = Duration::from_millis(10);

/// What comes of `future`; panics with `what` after a minute. A story that waits for ever says nothing to anybody.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LONG, future).await;
    waited.unwrap_or_else(|_| panic!("it never came to this: {what}"))
}

/// Asks again and again until `ask` answers `Some`; panics with `what` after a minute.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let asked = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(PACE).await;
        }
    };
    within(what, asked).await
}
