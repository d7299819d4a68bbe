//! Notes until when this process catches, so that the next one knows since when none did.

use std::{sync::Arc, time::Duration};

use hookmitt_event::{Slug, Timestamp};
use serde::Serialize;
use tokio::sync::watch;

use super::people::Sync;
use crate::{EngineError, settings::Settings};

/// How often that is noted.
const EVERY: Duration = Duration::from_secs(30);

/// A time when no hookmitt caught anything, as a source sees it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct AwayView {
    /// When the last one ended.
    #[schema(value_type = String, format = "date-time")]
    pub from: Timestamp,
    /// When the next one began.
    #[schema(value_type = String, format = "date-time")]
    pub until: Timestamp,
    /// How many events of that time backup sync has added; null if no sync has looked at the whole of it.
    pub synced: Option<u64>,
    /// How many more it can't recover.
    pub unrecoverable: Option<u64>,
}

/// Notes it whenever this process delivers and has a capture port.
pub(super) async fn work(settings: Arc<Settings>, mut owner: watch::Receiver<bool>) {
    let stop = settings.base.tasks.stop.clone();
    let mut begins = true;
    loop {
        let catches = async {
            drop(owner.wait_for(|owner| *owner).await);
            while settings.own.capture_urls().is_empty() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        if stop.run_until_cancelled(catches).await.is_none() {
            return;
        }
        if let Err(error) = settings.base.inbox.note_capturing(begins).await {
            tracing::warn!(%error, "can't note until when this process catches");
        }
        begins = false;
        let wait = tokio::time::sleep(EVERY);
        if stop.run_until_cancelled(wait).await.is_none() {
            let _last = settings.base.inbox.note_capturing(false).await;
            return;
        }
    }
}

impl Sync {
    /// Returns the times between two moments when no hookmitt caught anything, newest first, with what backup sync of a
    /// source has recovered of each.
    ///
    /// # Errors
    /// Fails if the source is unknown, or the inbox fails.
    pub async fn away(
        &self,
        slug: &Slug,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AwayView>, EngineError> {
        let (row, inbox) = (self.row(slug)?, &self.syncing.base().inbox);
        let made = inbox.source_made_at(row).await?;
        let mut views = Vec::new();
        for (from, until) in inbox.away_between(since.max(made), until).await? {
            let found = inbox.recovered_between(row, from, until).await?;
            let (synced, unrecoverable) = found.unzip();
            views.push(AwayView { from, until, synced, unrecoverable });
        }
        Ok(views)
    }
}
