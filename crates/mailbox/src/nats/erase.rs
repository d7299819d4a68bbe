//! Deleting single messages.
//!
//! Never by a purge with a filter, though one would delete many at once: servers before 2.10 that start again repeat it
//! from their log without its filter, and lose what it had left.

use async_nats::jetstream::{self, stream::Stream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};

use super::{
    failure::{PATIENCE, Trouble, keep_trying},
    message,
    records::read_message,
    store::Store,
};
use crate::MailboxError;

/// A letter that nobody wants: its position, and whether it is in parts.
pub(super) type Gone = (u64, bool);

/// How many parts of a letter are deleted at once.
const AT_ONCE: usize = 8;

/// Deletes a message. Answers whether it was there still.
pub(super) async fn message(
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

impl Store {
    /// Deletes a letter, and its parts after it: without them it is never there. Answers whether it was there still.
    pub(super) async fn delete(
        &self,
        tunnel: &str,
        (position, in_parts): Gone,
    ) -> Result<bool, MailboxError> {
        let stream = &self.shard(tunnel).stream;
        let parts = if in_parts { parts_of(stream, position).await? } else { Vec::new() };
        let name = self.names.stream(self.names.shard(tunnel));
        let was_there = message(&self.js, &name, position).await?;
        let deleted = parts.into_iter().map(|part| message(&self.js, &name, part));
        futures_util::stream::iter(deleted).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await?;
        Ok(was_there)
    }
}

async fn parts_of(stream: &Stream, position: u64) -> Result<Vec<u64>, MailboxError> {
    // Of another manifest the parts would be deleted of another letter: only the leader is believed.
    let manifest = message::read(stream, position, |_| false).await?;
    let manifest = manifest.and_then(|manifest| read_message(&manifest.payload));
    Ok(manifest.map(|manifest| manifest.parts).unwrap_or_default())
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
