//! What the relay's writer knows, and what it does around each group of jobs.

use std::{collections::HashMap, io, path::Path, sync::Arc};

use hookmitt_sqlite::{State, Upkeep, Writer};
use rusqlite::Connection;

use super::{
    boxes::Boxes, clear, feed::Bells, refusals::Refusals, schema::unusable, trouble::Trouble,
    tunnel_cache::TunnelCache,
};
use crate::MailboxError;

/// What a commit writes into the log beside letters, about: pages that were there already, and those that lead to them.
const COMMIT: u64 = 8 * 1024;

/// Where jobs are handed in; clones share it.
#[derive(Clone, Debug)]
pub(super) struct Jobs(hookmitt_sqlite::Jobs<Desk>);

impl Jobs {
    /// Has the writer do `work`, waiting for a place in the queue.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        self.add(0, work).await
    }

    /// As [`write`](Self::write), for what adds about so many bytes.
    pub(super) async fn add<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        self.0.add(weight, move |db, desk| desk.work(db, work)).await?
    }

    /// As [`write`](Self::write), but refuses where the queue is full: the relay would rather answer 503 at once.
    /// `weight` is about how many bytes it adds.
    pub(super) async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        self.0.write_now(weight, move |db, desk| desk.work(db, work)).await?
    }

    /// Has the writer finish what waits, and take no more; answers once it has ended.
    pub(super) async fn close(&self) {
        let write_refusals = |_: &Connection, desk: &mut Desk| {
            desk.news.at_once = true;
            Ok(())
        };
        self.0.close(write_refusals).await;
    }
}

/// What a job works with: the open transaction, what the writer knows, and what is told after the commit.
pub(super) struct Batch<'a> {
    pub(super) db: &'a Connection,
    pub(super) boxes: &'a mut Boxes,
    pub(super) news: &'a mut News,
}

/// What others are told once a group is committed. What a job that failed has told of does no harm: they look, and find
/// nothing new.
#[derive(Default)]
pub(super) struct News {
    /// Tunnels with new letters, or new troubles, by id, and their newest position.
    pub(super) rung: HashMap<i64, u64>,
    /// Tunnels whose settings changed.
    pub(super) changed: Vec<String>,
    /// Bytes of letters.
    pub(super) bytes: u64,
    /// What was refused is to be written now.
    pub(super) at_once: bool,
}

/// Starts the writer's thread; it ends when it is told to, or when nobody can hand in jobs any more.
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

/// What the writer knows beside the file.
pub(super) struct Desk {
    boxes: Boxes,
    news: News,
    refusals: Arc<Refusals>,
    cache: Arc<TunnelCache>,
    bells: Bells,
    deleting: Deleting,
}

/// How deleting goes along with jobs. It may be what fails on a full disk, say: that is no reason to refuse anything.
#[derive(Default)]
struct Deleting {
    /// It was part of the transaction.
    was_tried: bool,
    /// The last transaction that it was part of failed: the next one is its own.
    is_doubtful: bool,
    /// It is tried again only after some job has been done.
    rests: bool,
}

impl Desk {
    /// Has a job work. What is refused was so before it wrote anything: that is an answer, and no failure.
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
