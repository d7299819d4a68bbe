//! Parts of letters that never came to be, because their relay ended before the manifest, or that are gone.

use futures_util::TryStreamExt as _;

use super::{erase, store::Store};
use crate::MailboxError;

/// Younger parts may be those of a letter that is being put.
const AGE: i128 = 10 * 60 * 1_000_000;

/// Deletes them.
pub(super) async fn delete(store: &Store, now: i64) -> Result<(), MailboxError> {
    for (number, shard) in (0..).zip(&store.shards) {
        let all = shard.stream.info_with_subjects(store.names.all_parts(number)).await;
        // The next sweep will do.
        let Ok(mut all) = all else { continue };
        while let Ok(Some((subject, _))) = all.try_next().await {
            let Some((tunnel, letter)) = store.names.in_parts(&subject) else { continue };
            if shard.index.has_in_parts(&tunnel, letter) {
                continue;
            }
            let Ok(part) = shard.stream.get_last_raw_message_by_subject(&subject).await else { continue };
            if i128::from(now) - part.time.unix_timestamp_nanos() / 1_000 > AGE {
                erase::message(&store.js, &store.names.stream(number), part.sequence).await?;
            }
        }
    }
    Ok(())
}
