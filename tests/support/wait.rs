//! Waiting until something is true, with a time limit.

use std::{future::Future, time::Duration};

/// The longest that anything may take, even on a slow machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The pause between two looks. It is a polling interval, not a guess at how long something takes.
pub(crate) const PACE: Duration = Duration::from_millis(10);

/// Returns what `future` returns. Panics with `what` after a minute, because a story that hangs reports nothing.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LONG, future).await;
    waited.unwrap_or_else(|_| panic!("it never came to this: {what}"))
}

/// Calls `ask` again and again until it returns `Some`. Panics with `what` after a minute.
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
