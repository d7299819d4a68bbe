//! The writer's state, and what the writer does around each group of jobs.

use std::{collections::HashMap, io, path::Path, sync::Arc};

use hookmitt_sqlite::{State, Upkeep, Writer};
use rusqlite::Connection;

use super::{
    boxes::Boxes, clear, feed::Bells, refusals::Refusals, schema::unusable, trouble::Trouble,
    tunnel_cache::TunnelCache,
};
use crate::MailboxError;

/// About how many bytes a commit writes into the log besides the letters: existing pages that change, and the pages
/// that lead to them.
const COMMIT: u64 = 8 * 1024;

/// The writer's queue of jobs; clones share it.
#[derive(Clone, Debug)]
pub(super) struct Jobs(hookmitt_sqlite::Jobs<Desk>);

impl Jobs {
    /// Runs `work` on the writer; waits for a place in the queue.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        self.add(0, work).await
    }

    /// Like [`write`](Self::write), for work that adds about `weight` bytes.
    pub(super) async fn add<T: Send + 'static>(
        &self,
        weight: usize,
        mut work: impl FnMut(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        self.0.add(weight, move |db, desk| desk.work(db, &mut work)).await?
    }

    /// Like [`write`](Self::write), but fails at once if the queue is full, so that the relay can answer 503. `weight`
    /// is about how many bytes the work adds.
    pub(super) async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        mut work: impl FnMut(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        self.0.write_now(weight, move |db, desk| desk.work(db, &mut work)).await?
    }

    /// Lets the writer finish the waiting jobs and take no more; returns when it has ended.
    pub(super) async fn close(&self) {
        let write_refusals = |_: &Connection, desk: &mut Desk| {
            desk.news.at_once = true;
            Ok(())
        };
        self.0.close(write_refusals).await;
    }
}

/// What a job works with: the open transaction, the writer's state, and what to announce after the commit.
pub(super) struct Batch<'a> {
    pub(super) db: &'a Connection,
    pub(super) boxes: &'a mut Boxes,
    pub(super) news: &'a mut News,
}

/// What is announced once a group is committed. An announcement of a job that failed does no harm: whoever gets it
/// looks, and finds nothing new.
#[derive(Default)]
pub(super) struct News {
    /// Tunnels whose feeds to wake, by id, with the newest position; `u64::MAX` if the tunnel was shut or opened again.
    pub(super) rung: HashMap<i64, u64>,
    /// Tunnels whose settings changed.
    pub(super) changed: Vec<String>,
    /// How many bytes of letters were written.
    pub(super) bytes: u64,
    /// Whether to write the counts of refusals now.
    pub(super) at_once: bool,
}

/// Starts the writer's thread. It ends when it is closed, or when nobody can add jobs any more.
pub(super) fn start(
    path: &Path,
    cache: Arc<TunnelCache>,
    bells: Bells,
    refusals: Arc<Refusals>,
) -> Result<Jobs, MailboxError> {
    let failed = |why: io::Error| unusable(path, &why);
    let desk = Desk {
        boxes: Boxes::default(),
        news: News::default(),
        refusals,
        cache,
        bells,
        deleting: Deleting::default(),
    };
    let mut writer = Writer::open(path, desk).map_err(failed)?;
    writer.look().map_err(|why| unusable(path, &why))?;
    Ok(Jobs(writer.start("mailbox-writer").map_err(failed)?))
}

/// What the writer knows besides the contents of the file.
pub(super) struct Desk {
    boxes: Boxes,
    news: News,
    refusals: Arc<Refusals>,
    cache: Arc<TunnelCache>,
    bells: Bells,
    deleting: Deleting,
}

/// How deleting shares transactions with jobs. Deleting can fail, for example on a full disk, and that must not make
/// jobs fail.
#[derive(Default)]
struct Deleting {
    /// Whether the current transaction included deleting.
    was_tried: bool,
    /// Whether deleting may have made a transaction fail. Until it succeeds, it gets transactions of its own.
    is_doubtful: bool,
    /// Whether deleting waits, after a failed transaction, until another transaction is committed.
    rests: bool,
}

impl Desk {
    /// Runs a job. A job is refused before it writes anything, so a refusal is an answer and not a failure.
    fn work<T>(
        &mut self,
        db: &Connection,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, Trouble>,
    ) -> Result<Result<T, MailboxError>, MailboxError> {
        match work(&mut Batch { db, boxes: &mut self.boxes, news: &mut self.news }) {
            Ok(found) => Ok(Ok(found)),
            Err(Trouble::Refused(refused)) => Ok(Err(refused)),
            Err(Trouble::Sql(error)) => Err(error.into()),
        }
    }
}

impl State for Desk {
    type Error = MailboxError;

    fn begin(&mut self, db: &Connection) -> Result<(), MailboxError> {
        self.news = News::default();
        self.deleting.was_tried = false;
        if self.boxes.refresh(db)? {
            self.refusals.load(db)?;
            self.bells.ring_all();
        }
        Ok(())
    }

    fn keep(&mut self) {}

    fn undo(&mut self, db: &Connection) -> Result<(), MailboxError> {
        self.boxes.distrust();
        self.boxes.refresh(db)?;
        Ok(())
    }

    fn end(&mut self, db: &Connection, is_alone: bool) -> Result<(), MailboxError> {
        if is_alone || !self.deleting.is_doubtful {
            self.deleting.was_tried = true;
            clear::some(db, &mut self.boxes)?;
        }
        self.refusals.write(db, self.news.at_once)?;
        if !self.news.changed.is_empty() {
            db.execute("UPDATE meta SET value = value + 1 WHERE key = 'config'", [])?;
        }
        Ok(())
    }

    fn committed(&mut self) -> u64 {
        self.deleting.is_doubtful &= !self.deleting.was_tried;
        self.deleting.rests = false;
        self.cache.forget(&self.news.changed);
        self.bells.ring(&self.news.rung);
        COMMIT + self.news.bytes
    }

    fn rolled_back(&mut self) {
        let is_due = self.boxes.is_due();
        (self.deleting.is_doubtful, self.deleting.rests) = (is_due, is_due);
        self.boxes.distrust();
    }

    fn upkeep(&self) -> Upkeep {
        match &self.deleting {
            Deleting { rests, .. } if *rests || !self.boxes.is_due() => Upkeep::None,
            Deleting { is_doubtful: true, .. } => Upkeep::Alone,
            Deleting { .. } => Upkeep::Along,
        }
    }
}
