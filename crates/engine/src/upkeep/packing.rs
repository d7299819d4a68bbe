//! Compresses events that have been stored for a while.

use std::time::{Duration, Instant};

use hookmitt_inbox::{Inbox, Packer};

use super::{dictionaries::dictionary, progress::Progress};

/// How often it looks for more, once all is packed.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Packs until it is dropped. It rests as long as it works, so that it takes half of a core at most.
pub(super) async fn pack(inbox: Inbox) {
    let mut progress = Progress::of("compressing events");
    let mut packer = loop {
        if let Some(packer) = progress.after(Packer::new(inbox.clone(), dictionary)).await {
            break packer;
        }
    };
    loop {
        let begun = Instant::now();
        let step = packer.step().await;
        match progress.after(step).await {
            Some(0) => tokio::time::sleep(LOOK_EVERY).await,
            Some(_) => tokio::time::sleep(begun.elapsed()).await,
            None => {}
        }
    }
}
