//! Makes a backup of the inbox.
//!
//! It is copied on the writer's connection in small steps, with rests in between. What comes after that (making it
//! independent of this machine, and checking it) needs the copy alone, and goes on a thread that can wait.

use std::{path::Path, time::Duration};

use hookmitt_event::{Deed, JobResult};
use hookmitt_inbox::{BackupNote, InboxError, Subject, Unwanted, finish_backup};
use hookmitt_sqlite::Background;

use super::{asked::BackupAsked, run::Run};
use crate::EngineError;

/// How many pages are copied before they are written to the disk. The system would otherwise do that all at once, which
/// keeps the inbox's own commits waiting.
const SYNC_EVERY: u64 = 256;

/// The size of a page in bytes.
const PAGE: u64 = 4_096;

/// How many times as long as a step it rests after it.
const RESTS: u32 = 2;

/// How long a step counts at least.
const LEAST: Duration = Duration::from_millis(1);

pub(super) async fn go(run: &mut Run, asked: BackupAsked) -> Result<(), EngineError> {
    let background = Background::start("backup").map_err(|why| InboxError::Backup(why.to_string()))?;
    let size = copy(run, &background, &asked.file).await?;
    let checked = {
        let unwanted = Unwanted::default();
        let _ends = EndsWhenDropped(unwanted.clone());
        let note = BackupNote {
            made_at: run.parts.base.now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            secrets: asked.secrets,
        };
        let file = asked.file.clone();
        let finished = background.run(move || finish_backup(&file, &note, &unwanted));
        run.unless_ended(async { Ok(finished.await.map_err(InboxError::from)??) }).await?
    };
    let result = JobResult { events: checked.events, deliveries: 0 };
    run.note((size, Some(size)), result, true).await?;
    let mut subject = Subject::default()
        .with("job", run.job.id)
        .with("events", checked.events)
        .with("file", asked.becomes.as_deref().unwrap_or(&asked.file).to_string_lossy());
    if checked.without_body > 0 {
        let events = checked.without_body;
        tracing::warn!(events, "the backup has events whose body was lost when the inbox was damaged");
        subject = subject.with("without_body", events);
    }
    Ok(run.parts.base.inbox.record(Deed::BackedUp, subject).await?)
}

/// Copies the inbox. Returns the size of the copy in bytes.
async fn copy(run: &mut Run, background: &Background, file: &Path) -> Result<u64, EngineError> {
    let mut copying = run.parts.base.inbox.copy_into(file).await?;
    let mut synced = 0;
    loop {
        let step = copying.step().await.map_err(InboxError::from)?;
        run.note((step.done * PAGE, Some(step.total * PAGE)), JobResult::default(), false).await?;
        if step.is_complete {
            return Ok(step.total * PAGE);
        }
        if step.done.abs_diff(synced) >= SYNC_EVERY {
            synced = step.done;
            let file = file.to_owned();
            let sync = background.run(move || hookmitt_sqlite::open_unlinked(&file)?.sync_data());
            let synced: std::io::Result<()> = sync.await.map_err(InboxError::from)?;
            synced.map_err(|why| InboxError::Backup(why.to_string()))?;
        }
        tokio::time::sleep(step.took.max(LEAST) * RESTS).await;
    }
}

/// Ends a check when whoever waits for it has gone.
struct EndsWhenDropped(Unwanted);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.end();
    }
}
