//! Compresses events that have been stored for a while.

use std::time::{Duration, Instant};

use hookmitt_inbox::{Inbox, InboxError, Packer};

use super::{dictionaries::dictionary, progress::Progress};

/// How often it looks for more, once all is packed.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// After how many looks that found nothing it tidies up: what was moved leaves empty pages and a long log behind.
const QUIET: u32 = 4;

/// Packs until it is dropped. It rests as long as it works, so that it takes half of a core at most.
pub(super) async fn pack(inbox: Inbox) {
    let mut progress = Progress::of("compressing events");
    let mut packer = loop {
        if let Some(packer) = progress.after(Packer::new(inbox.clone(), dictionary)).await {
            break packer;
        }
    };
    let mut looks = QUIET; // how many found nothing since it packed or tidied up
    loop {
        let begun = Instant::now();
        // What the disk keeps free is for what settles and frees at once.
        let has_room = inbox.disk().is_none_or(|disk| disk.usable() > 0);
        let step = if has_room { packer.step().await } else { Err(InboxError::Full) };
        match progress.after(step).await {
            Some(0) => {
                looks = looks.saturating_add(1);
                if looks == QUIET && !progress.after(inbox.give_back().await).await.unwrap_or(false) {
                    looks = 0; // somebody reads the log: later
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Some(_) => {
                looks = 0;
                tokio::time::sleep(begun.elapsed()).await;
            }
            None => {}
        }
    }
}
