//! Reading one message from where it is.

use async_nats::jetstream::{
    message::StreamMessage,
    stream::{DirectGetErrorKind, Info, RawMessageErrorKind, Stream},
};

use super::failure::{PATIENCE, Trouble, keep_trying};
use crate::MailboxError;

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
