//! Takes letters out of the store while there is room for them in the window and in memory.

use hookmitt_mailbox::{Delivered, Fed, Feed, Mailbox};
use tokio::sync::mpsc;

use crate::{
    outgoing::Share,
    refused::{Refused, asked},
    session::{End, Session},
};

/// How many letters and bytes are taken out of the store at a time.
const BATCH: (usize, usize) = (512, 1024 * 1024);

/// Letters that were read together, and their share of the memory.
pub(crate) struct Batch {
    pub(crate) letters: Vec<Delivered>,
    pub(crate) share: Share,
}

/// Takes letters out of the store while there is room for them in the window and in memory.
pub(crate) async fn fetch<M: Mailbox>(session: &Session<'_, M>, after: u64, out: mpsc::Sender<Batch>) -> End {
    let mut feed = match asked(session.relay.mailbox.feed(session.tunnel, after)).await {
        Ok(feed) => feed,
        Err(refused) => return refused.into(),
    };
    loop {
        let room = session.window_room();
        let Some((most, bytes)) = room else {
            session.room.notified().await;
            continue;
        };
        let batch = match batch(session, &mut feed, most.min(BATCH.0), bytes.min(BATCH.1)).await {
            Ok(batch) => batch,
            Err(refused) => return refused.into(),
        };
        // The device first gets the key with which it opens them.
        if let Err(refused) = session.keep_told(false).await {
            return refused.into();
        }
        session.go_out(&batch.letters);
        if !batch.letters.is_empty() && out.send(batch).await.is_err() {
            return End::Gone;
        }
    }
}

/// Returns the next letters. Waiting for letters takes no memory, and no letter is read without room for it.
async fn batch<M: Mailbox>(
    session: &Session<'_, M>,
    feed: &mut M::Feed,
    most: usize,
    bytes: usize,
) -> Result<Batch, Refused> {
    asked(feed.wait()).await?;
    let mut share = session.allowance.batch(BATCH.1).await;
    loop {
        match asked(feed.take(most, bytes, share.bytes())).await? {
            Fed::Letters(letters) => return Ok(settled(session, letters, share)),
            Fed::TooLarge(size) => {
                drop(share);
                share = session.allowance.letter(size).await;
            }
        }
    }
}

fn settled<M>(session: &Session<'_, M>, letters: Vec<Delivered>, share: Share) -> Batch {
    let size = letters.iter().map(|letter| letter.parcel.data.len()).sum();
    Batch { letters, share: session.allowance.settle(share, size) }
}
