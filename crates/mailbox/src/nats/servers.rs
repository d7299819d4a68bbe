//! Requests to the servers: retries them while that may help, translates their errors, and reads or deletes one
//! message.
//!
//! Nothing is ever deleted by a purge with a filter, although one purge would delete many messages at once: servers
//! before 2.10 repeat it without its filter from their log when they restart, and lose what the filter had spared.

use std::{error::Error, fmt::Display, future::Future, time::Duration};

use async_nats::jetstream::{
    self, ErrorCode,
    message::StreamMessage,
    stream::{DirectGetErrorKind, Info, RawMessageErrorKind, Stream},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::MailboxError;

/// How long any request is retried. A cluster that lost the leader of a stream has a new one after 4 to 9 seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(150);

/// Why one try failed.
pub(super) enum Trouble {
    /// Another try may succeed.
    Passing(String),
    /// Trying again won't help.
    Final(MailboxError),
}

impl Trouble {
    /// Returns a failure that may pass.
    pub(super) fn passing(why: impl Display) -> Self {
        Self::Passing(why.to_string())
    }
}

impl From<MailboxError> for Trouble {
    fn from(error: MailboxError) -> Self {
        Self::Final(error)
    }
}

/// Tries until the attempt succeeds, fails for good, or `patience` is over.
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

/// Returns what a failed publish means to the store.
pub(super) fn of_publish(error: &jetstream::context::PublishError) -> Trouble {
    let said = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    match said {
        Some(said) if is_full(said) => Trouble::Final(MailboxError::DiskFull),
        _ => Trouble::passing(error),
    }
}

/// Returns whether the servers have no room left, on disk or in the limits of the account or the stream.
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

/// Returns the name of a stream's leader.
pub(super) fn leader(info: &Info) -> Option<&str> {
    info.cluster.as_ref()?.leader.as_deref()
}

/// Returns the message at a position. `None` means that the leader had a message there and has it no more.
///
/// A replica's message is accepted only if it `is_right`: before 2.9.22 a replica may drift from the leader and have
/// another message at that position (nats-server#4365).
pub(super) async fn read(
    stream: &Stream,
    position: u64,
    is_right: impl Fn(&StreamMessage) -> bool,
) -> Result<Option<StreamMessage>, MailboxError> {
    keep_trying(PATIENCE, || async {
        match stream.direct_get(position).await {
            Ok(found) if is_right(&found) => return Ok(Some(found)),
            Ok(_) => {}
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => {}
            Err(error) => return Err(Trouble::passing(error)),
        }
        // A replica that lags may not have the message yet; the leader has everything.
        let before = stream.get_info().await.map_err(Trouble::passing)?;
        match stream.get_raw_message(position).await {
            Ok(found) => return Ok(Some(found)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {}
            Err(error) => return Err(Trouble::passing(error)),
        }
        let after = stream.get_info().await.map_err(Trouble::passing)?;
        if before.state.last_sequence >= position && leader(&before) == leader(&after) {
            return Ok(None);
        }
        Err(Trouble::passing("the stream has a new leader, which is still behind"))
    })
    .await
}

/// Deletes a message. Returns whether it was still there.
pub(super) async fn delete(
    js: &jetstream::Context,
    stream: &str,
    position: u64,
) -> Result<bool, MailboxError> {
    // Without erasing: that would cost a write, and the content is sealed.
    let request = json!({ "seq": position, "no_erase": true });
    let subject = format!("STREAM.MSG.DELETE.{stream}");
    keep_trying(PATIENCE, || async {
        let answer = js.request::<_, _, Value>(subject.clone(), &request).await.map_err(Trouble::passing)?;
        match answer.get("error") {
            None => Ok(true),
            Some(error) if is_gone(error) => Ok(false),
            Some(_) => Err(Trouble::passing(&answer)),
        }
    })
    .await
}

/// Returns whether the message to delete is already gone, because another relay was first or an earlier answer was
/// lost. A server that was restarted reports that as a failure of its own (`JSStreamMsgDeleteFailedF` in its
/// errors.json).
fn is_gone(error: &Value) -> bool {
    let number = |name: &str| error.get(name).and_then(Value::as_u64);
    let says_so = error.get("description").and_then(Value::as_str) == Some("no message found");
    matches!(number("code"), Some(400 | 404)) || number("err_code") == Some(10_057) && says_so
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_already_is_told_from_what_could_not_be_deleted() {
        let failed =
            |description: &str| json!({ "code": 500, "err_code": 10_057, "description": description });
        assert!(is_gone(&failed("no message found")));
        assert!(!is_gone(&failed("no space left on device")));
        assert!(is_gone(&json!({ "code": 404, "err_code": 10_037, "description": "no message found" })));
        assert!(!is_gone(&json!({ "code": 503, "err_code": 10_008, "description": "no message found" })));
    }
}
