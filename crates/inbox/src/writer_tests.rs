//! Groups of events: an event that fails leaves no trace, and no later event of its run is stored.

use std::{pin::Pin, sync::mpsc};

use hookmitt_event::{DedupeKey, EventId, Slug, Source, TargetId, Timestamp};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    AUTO_SOURCES, Filter, Inbox, InboxError, NewEvent, Sequence, SourceSettings, Stored, samples,
    writer::task,
};

/// What a caller waits for after it has handed in an event.
type Answer = Pin<Box<dyn Future<Output = Result<Stored, InboxError>> + Send>>;

struct Story {
    inbox: Inbox,
    source: i64,
    _folder: tempfile::TempDir,
}

impl Story {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).unwrap();
        let source = inbox.add_source("one".parse().unwrap(), SourceSettings::default(), false, now());
        let source = source.await.unwrap().row;
        // An event whose key begins with FF fails when its key is written, after it got its sequence number.
        let fails = "CREATE TRIGGER bad AFTER INSERT ON first_key WHEN hex(new.key) LIKE 'FF%'
            BEGIN SELECT RAISE(ABORT, 'bad'); END";
        inbox.write(move |batch| Ok(batch.db.execute_batch(fails)?)).await.unwrap();
        Self { inbox, source, _folder: folder }
    }

    /// Keeps the writer busy until the returned sender is dropped, so that jobs handed in meanwhile form one group.
    async fn hold(&self) -> mpsc::Sender<()> {
        let (go, wait) = mpsc::channel::<()>();
        let (tell, told) = oneshot::channel();
        let mut tell = Some(tell);
        let (job, _answer) = task(0, move |_| {
            let _gone = tell.take().map(|tell| tell.send(()));
            let _dropped = wait.recv();
            Ok(())
        });
        self.inbox.hand_in(job).await.unwrap();
        told.await.unwrap();
        go
    }

    async fn auto_source(&self, number: i64) -> Result<Source, InboxError> {
        let slug: Slug = format!("auto-{number}").parse().unwrap();
        self.inbox.add_source(slug, SourceSettings::default(), true, now()).await
    }

    /// Makes an event with a key of its own. The event with key 255 can't be stored.
    fn new_event(&self, key: u8) -> NewEvent {
        let dedupe_key = DedupeKey::Id(key.to_string());
        NewEvent { key_hash: [key; 16], dedupe_key, ..samples::event(self.source, now()) }
    }

    async fn in_turn(&self, key: u8, order: &Sequence, run: u64) -> Answer {
        Box::pin(self.inbox.store_in_turn(self.new_event(key), order, run).await.unwrap())
    }

    async fn listed(&self) -> Vec<(i64, EventId)> {
        let page = self.inbox.list(Filter::default(), None, 100).await.unwrap();
        page.items.iter().rev().map(|listed| (listed.event.seq, listed.event.id)).collect()
    }
}

fn now() -> Timestamp {
    Timestamp::from_seconds(1_800_000_000)
}

const BAD: u8 = 255;

/// Locks the file, as another process would, until the connection is dropped.
fn lock(inbox: &Inbox) -> Connection {
    let other = Connection::open(inbox.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_fails_costs_its_neighbours_nothing_and_counts_nowhere() {
    let story = Story::begin().await;
    let commits = story.inbox.commits();
    let go = story.hold().await;
    let order = Sequence::default();
    let mut waiting = Vec::new();
    for (run, key) in (1..).zip([1, BAD, 2, BAD, 3]) {
        waiting.push(story.in_turn(key, &order, run).await);
    }
    let before = *commits.borrow();
    drop(go);
    let mut stored = Vec::new();
    for (answer, is_bad) in waiting.into_iter().zip([false, true, false, true, false]) {
        let outcome = answer.await;
        assert_eq!(outcome.is_err(), is_bad, "{outcome:?}");
        stored.extend(outcome);
    }
    assert_eq!(*commits.borrow() - before, 2, "the job that was held, and one group");
    let told: Vec<_> = stored.iter().map(|stored| (stored.seq, stored.id)).collect();
    assert_eq!(told.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(story.listed().await, told);
    assert_eq!(story.inbox.stats().await.unwrap().events, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_one_of_a_run_none_of_it_is_stored_not_even_in_the_same_group() {
    let story = Story::begin().await;
    let go = story.hold().await;
    let order = Sequence::default();
    let first = story.in_turn(1, &order, 1).await;
    let bad = story.in_turn(BAD, &order, 1).await;
    let after = story.in_turn(2, &order, 1).await;
    let next_run = story.in_turn(3, &order, 2).await;
    drop(go);
    let first = first.await.unwrap();
    assert!(matches!(bad.await, Err(InboxError::Sqlite(_))));
    assert!(matches!(after.await, Err(InboxError::OutOfTurn)));
    let next_run = next_run.await.unwrap();
    assert_eq!(story.listed().await, [(1, first.id), (2, next_run.id)]);
    assert!(order.is_broken(1) && !order.is_broken(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_fails_breaks_every_run_of_its_group() {
    let story = Story::begin().await;
    let go = story.hold().await;
    let order = Sequence::default();
    let first = story.in_turn(1, &order, 1).await;
    let inbox = story.inbox.clone();
    let ends_it = inbox.write(|batch| {
        // SQLite rolls back by itself in this way if the disk is full.
        batch.db.execute_batch("ROLLBACK")?;
        Err::<(), _>(InboxError::Full)
    });
    let (refused, ()) = tokio::join!(ends_it, async move { drop(go) });
    assert!(matches!(refused, Err(InboxError::Full)));
    assert!(matches!(first.await, Err(InboxError::Full)));
    assert!(order.is_broken(1));
    assert_eq!(story.listed().await, []);
    let later = story.in_turn(2, &order, 2).await.await.unwrap();
    assert_eq!(later.seq, 1);
}

#[tokio::test]
async fn threat_3_a_name_too_many_costs_no_transaction() {
    let story = Story::begin().await;
    for number in 1..=AUTO_SOURCES {
        story.auto_source(number).await.unwrap();
    }
    let commits = *story.inbox.commits().borrow();
    let held = lock(&story.inbox);
    for number in AUTO_SOURCES + 1..AUTO_SOURCES + 100 {
        let refused = story.auto_source(number).await;
        assert!(matches!(refused, Err(InboxError::TooManySources(_))), "{refused:?}");
    }
    assert_eq!(story.auto_source(1).await.unwrap().slug.as_str(), "auto-1", "nor does one that is there");
    drop(held);
    assert_eq!(*story.inbox.commits().borrow(), commits);
}

#[tokio::test]
async fn what_waits_for_a_removed_target_is_ended_while_others_are_stored() {
    const WAITING: usize = 100_000;
    let story = Story::begin().await;
    let target = TargetId(7);
    let fill = format!(
        "INSERT INTO target (id, url, settings, kind, created_at, removed_at)
            VALUES ({target}, 'http://one.example/', '{{}}', 0, 0, 1);
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {WAITING})
            INSERT INTO delivery (event, number, target, state) SELECT n, 1, {target}, 0 FROM n;"
    );
    story.inbox.write(move |batch| Ok(batch.db.execute_batch(&fill)?)).await.unwrap();

    let mut ending = Box::pin(story.inbox.refuse_waiting(target));
    for key in 1..=10 {
        tokio::select! {
            biased;
            ended = &mut ending => panic!("it ended at once: {ended:?}"),
            stored = story.inbox.store(story.new_event(key)) => drop(stored.unwrap()),
        }
    }
    drop(ending); // as if the process ended
    assert_eq!(story.inbox.waiting().await.unwrap(), [target], "the sweep sees to the rest");
    let rest = story.inbox.refuse_waiting(target).await.unwrap();
    assert!((1..WAITING).contains(&rest), "{rest}");
    assert_eq!(story.inbox.waiting().await.unwrap(), []);
    assert_eq!(story.inbox.refuse_waiting(target).await.unwrap(), 0);
}
