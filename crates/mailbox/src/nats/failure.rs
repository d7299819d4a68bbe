//! What NATS says when it can't, in our words; and trying again while that may help.

use std::{error::Error, fmt::Display, future::Future, time::Duration};

use async_nats::jetstream::{self, ErrorCode};
use tokio::time::Instant;

use crate::MailboxError;

/// How long anything is tried: a cluster that lost the leader of a stream has a new one in 4 to 9 seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(150);

/// Why one try failed.
pub(super) enum Trouble {
    /// Another try may do.
    Passing(String),
    /// None will.
    Final(MailboxError),
}

impl Trouble {
    /// Something that may pass.
    pub(super) fn passing(why: impl Display) -> Self {
        Self::Passing(why.to_string())
    }
}

impl From<MailboxError> for Trouble {
    fn from(error: MailboxError) -> Self {
        Self::Final(error)
    }
}

/// Tries until it works, won't ever, or `patience` is over.
pub(super) async fn keep_trying<T, F: Future<Output = Result<T, Trouble>>>(
    patience: Duration,
    mut attempt: impl FnMut() -> F,
) -> Result<T, MailboxError> {
    let end = Instant::now() + patience;
    loop {
        let why = match attempt().await {
            Ok(done) => return Ok(done),
            Err(Trouble::Final(error)) => return Err(error),
            Err(Trouble::Passing(why)) => why,
        };
        if Instant::now() + PAUSE > end {
            return Err(MailboxError::Failed(why));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What a failed publish means.
pub(super) fn of_publish(error: &jetstream::context::PublishError) -> Trouble {
    let said = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    match said {
        Some(said) if is_full(said) => Trouble::Final(MailboxError::DiskFull),
        _ => Trouble::passing(error),
    }
}

/// Whether the servers have no room left, by disk, account or stream.
fn is_full(error: &jetstream::Error) -> bool {
    const FULL: [ErrorCode; 4] = [
        ErrorCode::INSUFFICIENT_RESOURCES,
        ErrorCode::STORAGE_RESOURCES_EXCEEDED,
        ErrorCode::ACCOUNT_RESOURCES_EXCEEDED,
        ErrorCode::STREAM_MAX_STREAM_BYTES_EXCEEDED,
    ];
    let code = error.error_code();
    let text = error.to_string();
    FULL.contains(&code)
        || code == ErrorCode::STREAM_STORE_FAILED && (text.contains("maximum") || text.contains("no space"))
}

/// A tunnel that isn't there.
pub(super) fn no_tunnel(name: &str) -> MailboxError {
    MailboxError::Unknown { what: "tunnel", name: name.to_owned() }
}

/// A device that isn't there.
pub(super) fn no_device(key: &[u8; 32]) -> MailboxError {
    MailboxError::Unknown { what: "device", name: hex::encode(key) }
}

/// A token that isn't there.
pub(super) fn no_token(id: &str) -> MailboxError {
    MailboxError::Unknown { what: "token", name: id.to_owned() }
}
