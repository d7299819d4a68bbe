//! Parts of letters that never came to be, because their relay ended before the manifest, or that are gone.

use std::collections::BTreeSet;

use futures_util::TryStreamExt as _;

use super::store::{Shard, Store};
use crate::MailboxError;

/// Younger parts may be those of a letter that is being put.
const AGE: i128 = 10 * 60 * 1_000_000;

/// Deletes them.
pub(super) async fn delete(store: &Store, now: i64) -> Result<(), MailboxError> {
    for (number, shard) in (0..).zip(&store.shards) {
        let all = shard.stream.info_with_subjects(store.names.all_parts(number)).await;
        // The next sweep will do.
        let Ok(mut all) = all else { continue };
        let mut letters = BTreeSet::new();
        while let Ok(Some((subject, _))) = all.try_next().await {
            if let Some((tunnel, letter)) = store.names.in_parts(&subject) {
                letters.insert((tunnel.into_owned(), letter.to_owned()));
            }
        }
        for (tunnel, letter) in letters {
            if !shard.index.has_in_parts(&tunnel, &letter)
                && is_old(store, shard, &tunnel, &letter, now).await
            {
                store.delete_parts(&tunnel, &letter).await?;
            }
        }
    }
    Ok(())
}

async fn is_old(store: &Store, shard: &Shard, tunnel: &str, letter: &str, now: i64) -> bool {
    let last = shard.stream.get_last_raw_message_by_subject(&store.names.parts(tunnel, letter)).await;
    last.is_ok_and(|last| i128::from(now) - last.time.unix_timestamp_nanos() / 1_000 > AGE)
}
