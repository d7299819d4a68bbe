//! Asking the servers: again while that may help, and what they say in our words; one message read, and one deleted.
//!
//! Never is anything deleted by a purge with a filter, though one would delete many messages at once: servers before 2.10
//! that start again repeat it from their log without its filter, and lose what it had left.

use std::{error::Error, fmt::Display, future::Future, time::Duration};

use async_nats::jetstream::{
    self, ErrorCode,
    message::StreamMessage,
    stream::{DirectGetErrorKind, Info, RawMessageErrorKind, Stream},
};
use serde_json::{Value, json};
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

/// Who leads a stream.
pub(super) fn leader(info: &Info) -> Option<&str> {
    info.cluster.as_ref()?.leader.as_deref()
}

/// The message at a position; none only where the leader says that it had one there and has it no more. Of a replica only
/// the right one is taken: before 2.9.22 one may drift from the leader, and have another there (nats-server#4365).
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
        // A replica that is behind has it not yet; the leader has everything.
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
        Err(Trouble::passing("the stream has a new leader, which is behind still"))
    })
    .await
}

/// Deletes a message. Answers whether it was there still.
pub(super) async fn delete(
    js: &jetstream::Context,
    stream: &str,
    position: u64,
) -> Result<bool, MailboxError> {
    // Overwriting it first would cost a write, and what is there is sealed.
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

/// Whether what was to be deleted is gone: another relay was first, or the word of it was lost. A server that has started
/// again calls that a failure of its own (`JSStreamMsgDeleteFailedF` in its errors.json).
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
