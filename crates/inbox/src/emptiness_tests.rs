//! Deleted events cost no time: lists, views and numbers take about as many steps as if they had never been there.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hookmitt_event::{EventId, EventStatus, TargetKind, Timestamp, Verdict};
use hookmitt_search::{Query, Test, Text};
use rusqlite::Connection;

use crate::{
    Filter, Inbox, InboxError, SourceSettings, TargetSettings, View, batch::Batch, bin::set_deleted,
    list::look, samples, stats,
};

/// How many events there are before all but ten are deleted.
const MANY: i64 = 20_000;
const TENTH: i64 = MANY / 10;

/// What is left of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    NeverThere,
    InTheBin,
    Gone,
}

struct Story {
    db: Connection,
    steps: Arc<AtomicU64>,
    _inbox: (Inbox, tempfile::TempDir),
}

impl Story {
    /// Makes an inbox with ten events, far apart; and many others of all kinds between them, which are then deleted.
    async fn with(others: Others) -> Self {
        let (folder, now) = (tempfile::tempdir().unwrap(), Timestamp::from_seconds(1_800_000_000));
        let inbox = Inbox::open(folder.path(), Arc::new(hookmitt_clock::MachineClock)).unwrap();
        let slug: hookmitt_event::Slug = "one".parse().unwrap();
        let source = inbox.add_source(slug.clone(), SourceSettings::default(), false, now).await.unwrap().row;
        let url = "http://one.example/".to_owned();
        inbox.add_target(Some(slug), url, TargetSettings::default(), TargetKind::Kept, now).await.unwrap();
        inbox.store(samples::event(source, now)).await.unwrap();
        inbox.write(move |batch| fill(batch.db, others)).await.unwrap();
        if others == Others::InTheBin {
            let binned = move |batch: &mut Batch<'_>| {
                for seq in (1..=MANY).filter(|seq| seq % TENTH != 0) {
                    let id = EventId::from_bytes(format!("{seq:016}").into_bytes().try_into().unwrap());
                    assert!(set_deleted(batch, id, Some(now), None)?.is_some());
                }
                Ok(())
            };
            inbox.write(binned).await.unwrap();
        }
        let mut db = hookmitt_sqlite::reader(&inbox.path()).unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&steps);
        let step = move || {
            count.fetch_add(1, Ordering::Relaxed);
            false
        };
        db.progress_handler(1, Some(step)).unwrap();
        Self { db, steps, _inbox: (inbox, folder) }
    }

    /// Returns how many steps SQLite takes for something.
    fn steps(&self, of: impl FnOnce(&Connection)) -> u64 {
        let before = self.steps.load(Ordering::Relaxed);
        of(&self.db);
        self.steps.load(Ordering::Relaxed) - before
    }
}

/// Fills the inbox by one statement: every third event repeats the one before it; every second is invalid; deliveries
/// are dead, failed, skipped and completed in turns.
fn fill(db: &Connection, others: Others) -> Result<(), InboxError> {
    let step = if others == Others::NeverThere { TENTH } else { 1 };
    let mut columns = db.prepare("SELECT name FROM pragma_table_info('event')")?;
    let names: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let values = names.iter().map(|name| match name.as_str() {
        "seq" => "i".to_owned(),
        "id" => "CAST(printf('%016d', i) AS BLOB)".to_owned(),
        "verdict" => "i % 2".to_owned(),
        "duplicate_of" => "iif(i % 3 = 0, CAST(printf('%016d', i - 1) AS BLOB), NULL)".to_owned(),
        "flags" => "iif(i % 3 = 0, 16, 0)".to_owned(),
        other => format!("e.{other}"),
    });
    let (names, values) = (names.join(", "), values.collect::<Vec<_>>().join(", "));
    db.execute_batch(&format!(
        "CREATE TEMP TABLE e AS SELECT * FROM event; DELETE FROM event; DELETE FROM delivery;
        CREATE TEMP TABLE n AS
            WITH RECURSIVE n(i) AS (SELECT {step} UNION ALL SELECT i + {step} FROM n WHERE i < {MANY}) SELECT i FROM n;
        INSERT INTO event ({names}) SELECT {values} FROM n, e;
        UPDATE event SET flags = flags WHERE flags & 16;
        INSERT INTO delivery (event, number, target, state) SELECT i, 1, 1, 2 + (i / {TENTH} + i) % 4 FROM n;"
    ))?;
    if others == Others::Gone {
        let gone =
            format!("DELETE FROM event WHERE seq % {TENTH}; DELETE FROM delivery WHERE event % {TENTH};");
        db.execute_batch(&gone)?;
    }
    Ok(())
}

/// Goes through a whole list as the page does.
fn walk(db: &Connection, filter: &Filter) -> usize {
    let (mut below, mut found) = (MANY + 1, 0);
    while below > 1 {
        let part = look(db, filter, below, 101, 2_000, None).unwrap();
        (found, below) = (found + part.items.len(), part.reached);
    }
    found
}

fn query(test: Test) -> Query {
    let mut query = Query::default();
    query.and(test);
    query
}

fn lists() -> Vec<Filter> {
    let one = Some("one".to_owned());
    let mut all = Vec::new();
    for fold in [false, true] {
        let base = Filter { fold, ..Filter::default() };
        all.extend([
            base.clone(),
            Filter { source: one.clone(), ..base.clone() },
            Filter { query: query(Test::Verdict(Verdict::Valid)), ..base.clone() },
            Filter {
                query: query(Test::Status(EventStatus::DeadLetter)),
                source: one.clone(),
                ..base.clone()
            },
            Filter { query: query(Test::Text(Text::new("nothing is called so"))), ..base },
        ]);
    }
    let views = View::ALL.iter().map(|(view, _)| Filter { view: Some(*view), ..Filter::default() });
    all.into_iter().chain(views).collect()
}

#[tokio::test]
async fn lists_views_and_numbers_pass_over_nothing_that_was_deleted() {
    let small = Story::with(Others::NeverThere).await;
    for others in [Others::InTheBin, Others::Gone] {
        let large = Story::with(others).await;
        let alike = |what: &str, of: &dyn Fn(&Connection)| {
            let (few, many) = (small.steps(of), large.steps(of));
            assert!(
                many <= 2 * few + 100,
                "{others:?}, {what}: {few} steps, and {many} beside what was deleted"
            );
        };
        for filter in lists() {
            assert_eq!(walk(&small.db, &filter), walk(&large.db, &filter), "{others:?}, {filter:?}");
            alike(&format!("{filter:?}"), &|db| assert!(walk(db, &filter) <= 10));
        }
        for (view, name) in View::ALL {
            let count = |db: &Connection| db.query_row(&view.count_sql(), [i64::MAX], |_| Ok(())).unwrap();
            alike(name, &count);
        }
        for sql in [stats::NEWEST, stats::OPEN, stats::UNSENT, stats::BOUND] {
            alike(sql, &|db| {
                let mut select = db.prepare(sql).unwrap();
                let mut found = select.query([]).unwrap();
                while found.next().unwrap().is_some() {}
            });
        }
    }
}
