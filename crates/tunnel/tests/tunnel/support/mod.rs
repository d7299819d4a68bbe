//! What the stories share.

mod app;
mod relay;

use std::{future::Future, time::Duration};

pub(crate) use self::{
    app::{App, Told},
    relay::{Caller, Relay, Tunnel, letter, many_letters, parcel, pieces, whole},
};

/// How long anything may take, even on a very slow machine.
const LONG: Duration = Duration::from_secs(60);

/// Waits for `future`; panics with `what` after a minute.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LONG, future).await;
    waited.unwrap_or_else(|_| panic!("it never came to this: {what}"))
}
