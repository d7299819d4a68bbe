//! One writer for a file: jobs that wait together are committed together, and a failed job doesn't affect the others.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

use hookmitt_sqlite::{Jobs, Refusal, State, Unwritten, Writer, refusal};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

/// How long a connection waits for another one.
const BUSY: Duration = Duration::from_secs(5);

/// A store of words that counts its words.
#[derive(Default)]
struct Words {
    held: usize,
    of_group: usize,
    of_job: usize,
    groups: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    Refused(Refusal),
    Unwritten(Unwritten),
    Sqlite(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        refusal(&error).map_or_else(|| Self::Sqlite(error.to_string()), Self::Refused)
    }
}

impl From<Unwritten> for Failure {
    fn from(why: Unwritten) -> Self {
        Self::Unwritten(why)
    }
}

impl State for Words {
    type Error = Failure;

    fn begin(&mut self, _: &Connection) -> Result<(), Failure> {
        (self.of_group, self.of_job) = (0, 0);
        Ok(())
    }

    fn keep(&mut self) {
        self.of_group += std::mem::take(&mut self.of_job);
    }

    fn undo(&mut self, _: &Connection) -> Result<(), Failure> {
        self.of_job = 0;
        Ok(())
    }

    fn end(&mut self, _: &Connection, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn committed(&mut self) -> u64 {
        self.held += self.of_group;
        self.groups += 1;
        0
    }

    fn rolled_back(&mut self) {}
}

struct Store {
    folder: tempfile::TempDir,
    jobs: Jobs<Words>,
}

impl Store {
    fn open() -> Self {
        const SCHEMA: &str = "CREATE TABLE word (word TEXT UNIQUE,
            like_one TEXT REFERENCES word (word) DEFERRABLE INITIALLY DEFERRED); PRAGMA user_version = 1;";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.db");
        hookmitt_sqlite::prepare(&path, &folder.path().join("lock"), &[SCHEMA]).unwrap();
        let jobs = Writer::open(&path, Words::default()).unwrap().start("words").unwrap();
        Self { folder, jobs }
    }

    fn reader(&self) -> Connection {
        hookmitt_sqlite::reader(&self.folder.path().join("words.db")).unwrap()
    }

    fn words(&self) -> Vec<String> {
        let db = self.reader();
        let mut select = db.prepare("SELECT substr(word, 1, 20) FROM word ORDER BY rowid").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Returns what the writer counted: words, and committed groups.
    async fn known(&self) -> (usize, usize) {
        self.jobs.write(|_, words| Ok((words.held, words.groups))).await.unwrap()
    }

    /// Keeps the writer busy until the returned sender is dropped, so that jobs handed in meanwhile form one group.
    async fn hold(&self) -> mpsc::Sender<()> {
        let (go, wait) = mpsc::channel::<()>();
        let (tell, told) = oneshot::channel();
        let mut tell = Some(tell);
        let (job, _answer) = hookmitt_sqlite::task(0, move |_: &Connection, _: &mut Words| {
            let _gone = tell.take().map(|tell| tell.send(()));
            let _dropped = wait.recv();
            Ok(())
        });
        self.jobs.hand_in(job).await.unwrap();
        told.await.unwrap();
        go
    }

    /// Hands in a job that adds a word and then runs `then`.
    async fn add(
        &self,
        word: &str,
        mut then: impl FnMut(&Connection) -> Result<(), Failure> + Send + 'static,
    ) -> oneshot::Receiver<Result<(), Failure>> {
        let word = word.to_owned();
        let (job, answer) = hookmitt_sqlite::task(word.len(), move |db: &Connection, words: &mut Words| {
            db.prepare_cached("INSERT INTO word (word) VALUES (?1)")?.execute([&word])?;
            words.of_job += 1;
            then(db)
        });
        self.jobs.hand_in(job).await.unwrap();
        answer
    }
}

fn fine(_: &Connection) -> Result<(), Failure> {
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_job_costs_its_neighbours_nothing_and_leaves_no_trace() {
    let store = Store::open();
    let go = store.hold().await;
    let first = store.add("one", fine).await;
    let bad = store.add("bad", |db| Ok(db.execute("INSERT INTO nowhere VALUES (1)", []).map(drop)?)).await;
    let same = store.add("one", fine).await;
    let last = store.add("two", fine).await;
    drop(go);
    assert_eq!(first.await.unwrap(), Ok(()));
    assert!(matches!(bad.await.unwrap(), Err(Failure::Sqlite(_))));
    assert!(matches!(same.await.unwrap(), Err(Failure::Sqlite(_))));
    assert_eq!(last.await.unwrap(), Ok(()));
    assert_eq!(store.words(), ["one", "two"]);
    assert_eq!(
        store.known().await,
        (2, 2),
        "words, and groups: the one that was held, and one for all of them"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_costs_its_own_caller_an_error_and_nobody_else_anything() {
    let store = Store::open();
    let go = store.hold().await;
    let first = store.add("one", fine).await;
    let bad = store.add("bad", |_| panic!("a mistake of ours")).await;
    let last = store.add("two", fine).await;
    drop(go);
    assert_eq!(bad.await.unwrap(), Err(Failure::Unwritten(Unwritten::Panicked)));
    assert_eq!((first.await.unwrap(), last.await.unwrap()), (Ok(()), Ok(())));

    let alone = store.add("bad", |_| panic!("a mistake of ours")).await;
    assert_eq!(alone.await.unwrap(), Err(Failure::Unwritten(Unwritten::Panicked)));
    assert_eq!(store.add("three", fine).await.await.unwrap(), Ok(()), "the writer lives on");
    assert_eq!(store.words(), ["one", "two", "three"]);
    assert_eq!(store.known().await.0, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_fails_is_everybodys_even_of_those_that_were_refused() {
    let store = Store::open();
    let go = store.hold().await;
    let first = store.add("one", fine).await;
    let refused = store.add("one", fine).await; // refused because of a word that will not be stored in the end
    let dangling = |db: &Connection| {
        db.execute("INSERT INTO word (word, like_one) VALUES (?1, ?2)", params!["like", "no such"])?;
        Ok(())
    };
    let bad = store.add("two", dangling).await;
    drop(go);
    let why = Failure::Sqlite("FOREIGN KEY constraint failed".to_owned());
    for told in [first, refused, bad] {
        assert_eq!(told.await.unwrap(), Err(why.clone()));
    }
    assert_eq!(store.words(), [""; 0]);
    assert_eq!(store.add("one", fine).await.await.unwrap(), Ok(()));
    assert_eq!(store.known().await.0, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_lock_refuses_all_that_waits_once_and_keeps_nobody_longer() {
    let store = Store::open();
    let other = Connection::open(store.folder.path().join("words.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let mut waiting = Vec::new();
    for number in 0..1_000 {
        waiting.push(store.add(&number.to_string(), fine).await);
    }
    for told in waiting {
        assert_eq!(told.await.unwrap(), Err(Failure::Refused(Refusal::Busy)));
    }
    assert!(began.elapsed() < 2 * BUSY, "they waited one after the other: {:?}", began.elapsed());

    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.add("one", fine).await.await.unwrap(), Ok(()));
    assert_eq!(store.words(), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_the_group_and_is_no_end_of_the_writer() {
    let store = Store::open();
    let pages = "PRAGMA max_page_count = 40";
    store.jobs.write(move |db, _| Ok(db.query_row(pages, [], |_| Ok(()))?)).await.unwrap();
    let go = store.hold().await;
    let small = store.add("small", fine).await;
    let large = store.add(&"large".repeat(100_000), fine).await;
    let last = store.add("last", fine).await;
    drop(go);
    // SQLite rolls back the whole transaction by itself: nothing of the group is stored, and every caller gets the
    // error.
    for told in [small, large, last] {
        assert_eq!(told.await.unwrap(), Err(Failure::Refused(Refusal::Full)));
    }
    assert_eq!(store.words(), [""; 0]);
    assert_eq!(store.add("again", fine).await.await.unwrap(), Ok(()), "there is room for small ones");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_is_closed_does_what_waits_and_no_more() {
    let store = Store::open();
    let go = store.hold().await;
    let waiting = store.add("one", fine).await;
    tokio::join!(store.jobs.close(|_, _| Ok(())), async move { drop(go) });
    assert_eq!(waiting.await.unwrap(), Ok(()));
    let late = store.jobs.write(|_, _| Ok(())).await;
    assert_eq!(late, Err(Failure::Unwritten(Unwritten::Closed)));
    assert_eq!(store.words(), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_the_log_cut_shares_a_cut_and_a_reader_holds_nobody_up() {
    let store = Store::open();
    let cut = || store.jobs.cut_log();
    store.add("one", fine).await.await.unwrap().unwrap();
    assert_eq!(tokio::join!(cut(), cut(), cut()), (Ok(true), Ok(true), Ok(true)));
    let log = store.folder.path().join("words.db-wal");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);

    let reader = store.reader();
    let reading = reader.unchecked_transaction().unwrap();
    assert_eq!(reading.query_row("SELECT count(*) FROM word", [], |row| row.get(0)), Ok(1));
    store.add("two", fine).await.await.unwrap().unwrap();
    let begun = Instant::now();
    for _ in 0..10 {
        assert_eq!(cut().await, Ok(false));
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    drop(reading);
    assert_eq!(cut().await, Ok(true));
    store.jobs.close(|_, _| Ok(())).await;
    assert_eq!(cut().await, Err(Failure::Unwritten(Unwritten::Closed)));
}
