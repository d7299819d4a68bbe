//! The history is what a recount would say that also knows the events that are gone.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hookmitt_clock::Clock as _;
use hookmitt_event::{EventStatus, OrderMode, Timestamp};
use rusqlite::Connection;

use super::{
    By, History, Period, Sums,
    adding::Adding,
    counted::{COUNTED, Cell, Counted, beginning, hour_of},
};
use crate::{
    InboxError, NewEvent, PlannedAnswer, batch::Batch, failures, lag, purge, queue_story,
    random_story::Story, samples,
};

const HOUR: Duration = Duration::from_secs(3_600);
const YEAR_AND_MORE: Duration = Duration::from_secs(401 * 86_400);

/// How the events of an inbox are to be counted, whether they are still there or not.
#[derive(Default)]
struct Ledger(HashMap<i64, Counted>);

/// Returns every event as it is counted; with what waits as skipped, if it is `deleted` now.
fn counted(db: &Connection, deleted: bool) -> HashMap<i64, Counted> {
    let sql = if deleted { COUNTED.replace("ELSE 3", "ELSE 5") } else { COUNTED.to_owned() };
    let mut select = db.prepare(&sql).unwrap();
    let found = select.query_map([], |row| Ok((row.get(7)?, Counted::read(row)?))).unwrap();
    found.collect::<Result<_, _>>().unwrap()
}

impl Ledger {
    /// Looks at every event again. `before` is how events were to be counted if they were deleted next; what is gone
    /// stays so, unless the history has never counted it.
    fn look(&mut self, db: &Connection, uncounted: i64, before: HashMap<i64, Counted>) {
        self.0.extend(before);
        let there = counted(db, false);
        self.0.retain(|seq, _| *seq > uncounted || there.contains_key(seq));
        self.0.extend(there);
    }

    /// Returns the rows: events, duplicates and bytes.
    fn rows(&self, uncounted: i64) -> BTreeMap<String, (i64, i64, i64)> {
        let mut rows = BTreeMap::new();
        for (_, Counted { cell, is_duplicate, bytes }) in self.0.iter().filter(|(seq, _)| **seq > uncounted) {
            let sum: &mut (i64, i64, i64) = rows.entry(key(cell)).or_default();
            *sum = (sum.0 + 1, sum.1 + i64::from(*is_duplicate), sum.2 + bytes);
        }
        rows
    }
}

fn key(cell: &Cell) -> String {
    let Cell { hour, source, via, verdict, status } = cell;
    format!("{hour} {source} {via} {verdict} {}", *status as i64)
}

/// Returns the rows of the history that hold something.
fn stored(db: &Connection) -> BTreeMap<String, (i64, i64, i64)> {
    const SQL: &str =
        "SELECT format('%d %d %d %d %d', hour, source, via, verdict, status), events, duplicates,
        bytes FROM hourly WHERE events OR duplicates OR bytes";
    let mut select = db.prepare(SQL).unwrap();
    let found = select.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))));
    found.unwrap().collect::<Result<_, _>>().unwrap()
}

fn number(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

const UNCOUNTED: &str = "SELECT value FROM meta WHERE key = 'uncounted'";

#[tokio::test]
async fn the_history_is_that_of_a_ledger_whatever_happened_to_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let seed = rand::random();
    let mut story = Story::begin(folder.path(), seed).await;
    story.pace = 900_000_000;
    let db = hookmitt_sqlite::reader(&story.inbox.path()).unwrap();
    for _ in 0..150 {
        story.step().await;
    }
    story.inbox.write(|batch| Ok(batch.db.execute_batch(AS_BEFORE)?)).await.unwrap();
    let mut ledger = Ledger::default();
    for round in 0..400 {
        let before = counted(&db, true);
        if round % 3 == 0 {
            story.inbox.count_earlier_for(Duration::ZERO).await.unwrap();
        } else {
            story.step().await;
        }
        let uncounted = number(&db, UNCOUNTED);
        ledger.look(&db, uncounted, before);
        assert_eq!(stored(&db), ledger.rows(uncounted), "seed {seed}, round {round}");
        let kept = number(&db, "SELECT ifnull(sum(kept), 0) FROM hourly");
        assert_eq!(kept, number(&db, &format!("SELECT count(*) FROM event WHERE seq > {uncounted}")));
        assert_eq!(number(&db, "SELECT count(*) FROM hourly WHERE kept < 0 OR kept > events"), 0);
    }
    while story.inbox.count_earlier().await.unwrap() {}
    ledger.look(&db, 0, HashMap::new());
    assert_eq!(stored(&db), ledger.rows(0), "seed {seed}, when all is counted");
}

/// Makes an inbox as earlier versions left it.
const AS_BEFORE: &str = "DELETE FROM hourly; DELETE FROM latency;
    UPDATE meta SET value = (SELECT max(seq) FROM event) WHERE key = 'uncounted'";

fn event_at(source: i64, key: u8, at: Timestamp) -> NewEvent {
    NewEvent { key_hash: [key; 16], ..samples::event(source, at) }
}

#[tokio::test]
async fn a_period_has_the_hours_of_both_its_ends_and_is_broken_down_as_asked() {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    let (inbox, source) = (&story.inbox, story.source);
    let noon = Timestamp::from_micros(beginning(500_000));
    for (key, after) in [(1, 0), (1, 59 * 60), (2, 60 * 60), (3, 3 * 3_600)] {
        inbox.store(event_at(source, key, noon.after(Duration::from_secs(after)))).await.unwrap();
    }
    let period = |since: u64, until: u64| Period {
        since: Some(noon.after(Duration::from_secs(60 * since))),
        until: Some(noon.after(Duration::from_secs(60 * until))),
    };
    let events = async |period| inbox.history(period, None).await.unwrap().all.all().events;
    assert_eq!(events(Period::default()).await, 4);
    assert_eq!((events(period(0, 60)).await, events(period(30, 31)).await), (2, 2));
    assert_eq!((events(period(59, 61)).await, events(period(120, 180)).await), (3, 0));
    assert_eq!(period(59, 61).in_hours(), period(0, 120));
    let hours = inbox.history(period(0, 120), Some(By::Hour)).await.unwrap();
    let named = |at: Timestamp| at.to_string();
    let names: Vec<_> = hours.groups.iter().map(|group| (group.name.clone(), group.all().events)).collect();
    assert_eq!(names, [(named(noon), 2), (named(noon.after(HOUR)), 1)]);
    let of = |events, duplicates| Sums { events, duplicates, bytes: 0 };
    assert_eq!(
        hours.groups[0].statuses,
        [(EventStatus::Pending, of(1, 0)), (EventStatus::Skipped, of(1, 1))]
    );
    for (by, name) in [(By::Via, "direct"), (By::Verdict, "valid")] {
        let groups = inbox.history(Period::default(), Some(by)).await.unwrap().groups;
        assert_eq!((groups.len(), groups[0].name.as_str(), groups[0].all()), (1, name, of(4, 1)));
    }
}

#[tokio::test]
async fn it_is_kept_for_400_days_after_its_events_are_gone() {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    let (inbox, source) = (&story.inbox, story.source);
    let events = async || inbox.history(Period::default(), None).await.unwrap().all.all().events;
    let planned = Some(PlannedAnswer::Ours { status: 200, since: Instant::now(), delay: Duration::ZERO });
    let new = NewEvent { planned, ..event_at(source, 1, story.clock.now()) };
    let seq = inbox.store(new).await.unwrap().seq;
    story.clock.pass(YEAR_AND_MORE);
    inbox.keep_clock().await.unwrap();
    assert_eq!(events().await, 1, "its event is still there");
    let purge = move |batch: &mut Batch<'_>| purge::purge(batch, &[seq]);
    assert_eq!(inbox.write(purge).await.unwrap().gone, 1);
    story.clock.pass(YEAR_AND_MORE - Duration::from_secs(2 * 86_400));
    inbox.keep_clock().await.unwrap();
    assert_eq!(events().await, 1, "its event is gone, but not for long enough");
    story.clock.pass(Duration::from_secs(3 * 86_400));
    inbox.keep_clock().await.unwrap();
    let rest = inbox.history(Period::default(), None).await.unwrap();
    assert_eq!((rest.all.statuses, rest.capture.count), (Vec::new(), 0));
}

#[tokio::test]
async fn latencies_of_captures_and_attempts_are_there_when_they_are_asked_for() {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    let (inbox, source) = (&story.inbox, story.source);
    let since = Instant::now().checked_sub(Duration::from_millis(300)).unwrap();
    for key in 1..=10 {
        let planned = Some(PlannedAnswer::Ours { status: 200, since, delay: HOUR });
        inbox.store(NewEvent { planned, ..event_at(source, key, story.clock.now()) }).await.unwrap();
    }
    for _ in 0..2 {
        let capture = inbox.history(Period::default(), None).await.unwrap().capture;
        assert_eq!(capture.count, 10, "each is counted once");
        assert!(capture.p50 >= Duration::from_millis(297) && capture.p99 < HOUR, "{capture:?}");
        assert!(capture.p50 <= capture.p95 && capture.p99 <= capture.longest, "{capture:?}");
    }
    for millis in 1..=100 {
        let counts = [(1_000 * millis as u32).to_le_bytes(), 1_u32.to_le_bytes()].concat();
        let row = (millis, source, counts);
        inbox
            .write(move |batch| {
                Ok(batch.db.execute(
                    "INSERT INTO latency VALUES (?1, ?2, 1, ?3, 0)",
                    rusqlite::params![row.0, row.1, row.2],
                )?)
            })
            .await
            .unwrap();
    }
    let delivery = inbox.history(Period::default(), None).await.unwrap().delivery;
    let near = |quantile: Duration, millis: u128| quantile.as_millis().abs_diff(millis) <= 1;
    assert!(near(delivery.p50, 50) && near(delivery.p95, 95) && near(delivery.p99, 99), "{delivery:?}");
}

/// Makes an inbox whose events were received in a few hours and delivered, but for ten that failed and ten that wait.
async fn filled(events: u32) -> (queue_story::Story, Connection, Arc<AtomicU64>) {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    story.arrives(None).await;
    let fill = move |batch: &mut Batch<'_>| {
        let mut columns = batch.db.prepare("SELECT name FROM pragma_table_info('event')")?;
        let names: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let values = names.iter().map(|name| match name.as_str() {
            "seq" => "i".to_owned(),
            "id" => "CAST(printf('%016d', i) AS BLOB)".to_owned(),
            "received_at" => "received_at - i % 5 * 3600000000".to_owned(),
            "stored_at" => "stored_at - 3600000000".to_owned(),
            other => other.to_owned(),
        });
        let (names, values) = (names.join(", "), values.collect::<Vec<_>>().join(", "));
        Ok(batch.db.execute_batch(&format!(
            "CREATE TEMP TABLE e AS SELECT * FROM event; DELETE FROM event; DELETE FROM delivery;
            CREATE TEMP TABLE n AS
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {events}) SELECT i FROM n;
            INSERT INTO event ({names}) SELECT {values} FROM n, e;
            INSERT INTO delivery (event, number, target, state)
                SELECT i, 1, 1, iif(i <= 10, 0, iif(i <= 20, 3, 2)) FROM n; {AS_BEFORE}"
        ))?)
    };
    story.inbox.write(fill).await.unwrap();
    while story.inbox.count_earlier().await.unwrap() {}
    let mut db = hookmitt_sqlite::reader(&story.inbox.path()).unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let step = move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    db.progress_handler(1, Some(step)).unwrap();
    (story, db, steps)
}

#[tokio::test]
async fn twenty_times_as_many_events_take_no_more_steps_to_count() {
    let (few, many) = (filled(1_000).await, filled(20_000).await);
    let steps = |of: &(queue_story::Story, Connection, Arc<AtomicU64>), read: &dyn Fn(&Connection)| {
        let before = of.2.load(Ordering::Relaxed);
        read(&of.1);
        of.2.load(Ordering::Relaxed) - before
    };
    let alike = |what: &str, read: &dyn Fn(&Connection)| {
        let (few, many) = (steps(&few, read), steps(&many, read));
        assert!(
            many <= few + 200 && few < 3_000,
            "{what}: {few} steps, and {many} for twenty times the events"
        );
    };
    let now = few.0.clock.now().as_micros();
    for by in [None, Some(By::Source), Some(By::Via), Some(By::Verdict), Some(By::Hour)] {
        alike(&format!("{by:?}"), &|db| drop(history(db, &Period::default(), by).unwrap()));
    }
    alike("lag", &|db| assert_eq!(lag::lag(db, now, now).unwrap().deliveries, 10));
    alike("failures", &|db| {
        assert_eq!(failures::failures(db, Period::default(), 20).unwrap().len(), 10);
    });
    let all = history(&many.1, &Period::default(), None).unwrap().all;
    assert_eq!(all.all().events, 20_000);
}

/// Returns the history, read at once.
fn history(db: &Connection, period: &Period, by: Option<By>) -> Result<History, InboxError> {
    let mut adding = Adding::begin(db, &period.hours(), by)?;
    while !adding.is_done() {
        adding.add(db)?;
    }
    adding.finish(db)
}

#[tokio::test]
async fn four_hundred_days_are_added_up_a_few_at_a_time() {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    let now = hour_of(story.clock.now().as_micros());
    let db = Connection::open(story.inbox.path()).unwrap();
    for day in 0..400 {
        for (status, source) in [(2, 1), (4, 1), (4, 2)] {
            let sql = "INSERT INTO hourly VALUES (?1, ?2, 1, 0, ?3, 5, 1, 100, 5, 0)";
            db.execute(sql, [now - day * 24, source, status]).unwrap();
        }
    }
    let all = story.inbox.history(Period::default(), Some(By::Hour)).await.unwrap();
    assert_eq!(all.all.all(), Sums { events: 6_000, duplicates: 1_200, bytes: 120_000 });
    assert_eq!(all.groups.len(), 400);
    assert!(all.groups.is_sorted_by(|one, next| one.name < next.name));
    let by_source = story.inbox.history(Period::default(), Some(By::Source)).await.unwrap();
    let events: Vec<_> = by_source.groups.iter().map(|group| group.all().events).collect();
    assert_eq!(events.iter().sum::<u64>(), 6_000);
    assert_eq!(by_source.all, all.all);
}

#[tokio::test]
async fn what_is_being_deleted_is_not_counted_as_kept() {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    story.arrives(None).await;
    story.arrives(None).await;
    let db = Connection::open(story.inbox.path()).unwrap();
    let earlier = "DELETE FROM hourly; UPDATE event SET flags = flags | 64 WHERE seq = 1;
        UPDATE meta SET value = 2 WHERE key = 'uncounted'";
    db.execute_batch(earlier).unwrap();
    while story.inbox.count_earlier().await.unwrap() {}
    assert_eq!(db.query_row("SELECT sum(kept) FROM hourly", [], |row| row.get(0)), Ok(1));
}

#[tokio::test]
async fn rows_that_all_events_left_are_not_kept() {
    let story = queue_story::Story::begin(OrderMode::Sequential).await;
    story.arrives(None).await;
    let db = Connection::open(story.inbox.path()).unwrap();
    let rows = || {
        db.query_row("SELECT count(*), sum(events = 0) FROM hourly", [], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    assert_eq!(rows(), Ok((1, 0)));
    let claimed = story.claimed().await.unwrap();
    story.completes(&claimed).await;
    assert_eq!(rows(), Ok((1, 0)), "it moved to another row");
}
