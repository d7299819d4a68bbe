//! Counts the events that earlier versions stored, so that the history begins with them.

use std::time::{Duration, Instant};

use hookmitt_inbox::Inbox;

use super::progress::Progress;

/// Counts until all is counted, which is so for good, and then waits until it is dropped. It rests as long as it works.
pub(super) async fn count(inbox: Inbox) {
    let mut progress = Progress::of("counting earlier events");
    loop {
        let begun = Instant::now();
        match progress.after(inbox.count_earlier().await).await {
            Some(false) => std::future::pending().await,
            Some(true) => tokio::time::sleep(begun.elapsed().max(LEAST)).await,
            None => {}
        }
    }
}

/// The shortest rest.
const LEAST: Duration = Duration::from_millis(5);
