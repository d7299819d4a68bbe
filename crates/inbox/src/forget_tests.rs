//! What is remembered of events that are gone, and what it costs to look for more to forget.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hookmitt_clock::Clock as _;
use hookmitt_event::{EventId, Facts, OrderMode, Timestamp};
use rusqlite::Connection;

use crate::{
    NewEvent,
    batch::Batch,
    forget,
    pruner_tests::{DAY, completed, failed, pin, prune},
    queue_story::Story,
    retention::Policy,
    samples, sweep,
};

#[tokio::test]
async fn a_late_repeat_of_what_was_pruned_is_known_and_not_sent_again_for_90_days() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let [sent, unsent] = [completed(&story).await, failed(&story).await];
    let tick = async |days: u32| {
        story.clock.pass(DAY * days);
        inbox.keep_clock().await.unwrap();
        prune(inbox).await
    };
    assert_eq!((tick(1).await, tick(30).await, tick(58).await), (0, 2, 0));
    let repeat = story.repeats(sent).await;
    assert_eq!(inbox.event(repeat).await.unwrap().duplicate_of, Some(sent));
    assert!(story.claimed().await.is_none(), "it arrived there once");
    let again = story.repeats(unsent).await;
    assert_eq!(story.claimed().await.unwrap().delivery.event, again, "this one never did");
    tick(2).await;
    let new = story.repeats(sent).await;
    assert_eq!(inbox.event(new).await.unwrap().duplicate_of, None, "after 90 days it is forgotten");
}

#[tokio::test]
async fn a_key_stays_as_long_as_its_event_and_goes_with_it_afterwards() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let kept = completed(&story).await;
    pin(inbox, kept, true).await;
    for _ in 0..10 {
        story.clock.pass(DAY * 30);
        inbox.keep_clock().await.unwrap();
        prune(inbox).await;
    }
    assert_eq!(inbox.event(story.repeats(kept).await).await.unwrap().duplicate_of, Some(kept));
    pin(inbox, kept, false).await;
    prune(inbox).await;
    assert_eq!(inbox.event(story.repeats(kept).await).await.unwrap().duplicate_of, None);
}

#[tokio::test]
async fn objects_are_known_by_a_hash_and_for_90_days() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let of = |time: i64| NewEvent {
        id: EventId::fresh(),
        facts: Facts {
            object: Some("order-4711".to_owned()),
            event_time: Some(Timestamp::from_seconds(time)),
            ..Facts::default()
        },
        key_hash: *EventId::fresh().as_bytes(),
        ..samples::event(story.source, now)
    };
    inbox.store(of(100)).await.unwrap();
    let claimed = story.claimed().await.unwrap();
    story.completes(&claimed).await;
    let stale = async |time| {
        let id = inbox.store(of(time)).await.unwrap().id;
        inbox.event(id).await.unwrap().stale
    };
    assert!(stale(99).await && !stale(101).await);
    let db = Connection::open(inbox.path()).unwrap();
    let raw: bool = db
        .query_row("SELECT hex(object) LIKE '%' || hex('4711') || '%' FROM object_clock", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert!(!raw);
    story.clock.pass(DAY * 1);
    inbox.keep_clock().await.unwrap();
    story.clock.pass(DAY * 90);
    inbox.keep_clock().await.unwrap();
    prune(inbox).await;
    assert!(!stale(99).await);
}

/// Fills an inbox by one statement: old events of which every other is pinned and the rest failed, all gone through
/// already. Returns how many steps SQLite takes to find that nothing is due.
async fn steps_of_a_look(events: i64) -> u64 {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    failed(&story).await;
    story.clock.pass(DAY * 8);
    let fill = move |batch: &mut Batch<'_>| {
        let mut columns = batch.db.prepare("SELECT name FROM pragma_table_info('event')")?;
        let names: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let values = names.iter().map(|name| match name.as_str() {
            "seq" => "i".to_owned(),
            "id" => "CAST(printf('%016d', i) AS BLOB)".to_owned(),
            "pinned_at" => "iif(i % 2, 1, NULL)".to_owned(),
            other => format!("e.{other}"),
        });
        let (names, values) = (names.join(", "), values.collect::<Vec<_>>().join(", "));
        batch.db.execute_batch(&format!(
            "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {events})
                SELECT i FROM n;
            INSERT INTO event ({names}) SELECT {values} FROM n, event e WHERE e.seq = 1;
            INSERT INTO delivery (event, number, target, state) SELECT i, 1, 1, 3 FROM n;
            INSERT INTO first_key (source, key, seq, id, at) SELECT 1, CAST(i AS BLOB), i, CAST(i AS BLOB), 0 FROM n;"
        ))?;
        Ok(())
    };
    inbox.write(fill).await.unwrap();
    assert_eq!(prune(inbox).await, 0);
    let (mut db, now) = (hookmitt_sqlite::reader(&inbox.path()).unwrap(), inbox.clock.now());
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let step = move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    db.progress_handler(1, Some(step)).unwrap();
    let policy = Policy::read(&db).unwrap();
    assert!(!sweep::is_due(&db, &policy, now).unwrap());
    assert!(!forget::is_due(&db, now).unwrap());
    steps.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_look_that_finds_nothing_costs_the_same_however_many_stay() {
    let (few, many) = (steps_of_a_look(20).await, steps_of_a_look(20_000).await);
    assert!(many <= 2 * few + 100, "{few} steps, and {many} with a thousand times as many events");
}
