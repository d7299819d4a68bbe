//! Searches that have many rows or large bodies to look through.

use hookmitt_event::{DeliveryState, EventId, Timestamp};
use hookmitt_search::{Query, Test, Text};
use rusqlite::StatementStatus::{RePrepare, Run, VmStep};

use crate::{
    Filter, Inbox, NewEvent, SourceSettings,
    row::{by_seq, select},
    samples,
};

async fn begin() -> (tempfile::TempDir, Inbox, i64, Timestamp) {
    let (folder, now) = (tempfile::tempdir().unwrap(), Timestamp::from_seconds(1_800_000_000));
    let inbox = Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).unwrap();
    let source = inbox.add_source("one".parse().unwrap(), SourceSettings::default(), false, now);
    let source = source.await.unwrap().row;
    (folder, inbox, source, now)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_through_large_bodies_takes_as_many_looks_as_it_needs() {
    const BODIES: u8 = 10;
    let (_folder, inbox, source, now) = begin().await;
    // Each letter of the body may be the beginning of the text that is searched for.
    let mut body = vec![b'n'; 3 << 20];
    for key in 0..BODIES {
        if key == 1 {
            body.extend(b"needle");
        }
        let new = NewEvent { key_hash: [key; 16], ..samples::event(source, now) };
        let new = samples::with_body(new, body.clone());
        inbox.store(new).await.unwrap();
        body.truncate(3 << 20);
    }
    let mut query = Query::default();
    query.and(Test::Text(Text::new(&format!("{}eedle", "n".repeat(40)))));
    let page = inbox.list(Filter { query, ..Filter::default() }, None, 10).await.unwrap();
    let found: Vec<_> = page.items.iter().map(|listed| listed.event.seq).collect();
    assert_eq!((found, page.next), (vec![2], None));
}

#[tokio::test]
async fn many_events_are_looked_at_with_one_plan_and_a_few_steps_each() {
    const EVENTS: i32 = 20;
    let (_folder, inbox, source, now) = begin().await;
    for _ in 0..EVENTS {
        inbox.store(samples::event(source, now)).await.unwrap();
    }
    let look = |db: &rusqlite::Connection| {
        for seq in 1..=EVENTS {
            assert!(by_seq(db, seq.into())?.is_some());
        }
        let statement = db.prepare_cached(&format!("{} WHERE e.seq = ?1", select()))?;
        Ok([Run, RePrepare, VmStep].map(|what| statement.get_status(what)))
    };
    let [runs, plans, steps] = inbox.readers.read(look).await.unwrap();
    assert_eq!((runs, plans), (EVENTS, 0));
    assert!(steps <= EVENTS * 100, "{steps}");
}

#[tokio::test]
async fn dead_letters_and_withheld_names_are_found_behind_many_others() {
    const OTHER: i64 = 9;
    const OTHERS: u64 = 6_000;
    let (_folder, inbox, source, now) = begin().await;
    let first = inbox.store(samples::event(source, now)).await.unwrap().id;
    // Every second event of another source has a dead delivery, the others have no delivery. They name 200 different
    // hosts.
    let another = format!(
        "UPDATE e SET seq = seq + 1, id = randomblob(16), source = {OTHER}, duplicate_of = NULL,
            foreign_host = 'n' || (seq % 200) || '.example';
         INSERT INTO event SELECT * FROM e;
         INSERT INTO delivery (event, number, target, state) SELECT seq, 1, 1, 4 FROM e WHERE seq % 2;"
    );
    inbox
        .write(move |batch| {
            batch.db.execute_batch("CREATE TEMP TABLE e AS SELECT * FROM event")?;
            for _ in 0..OTHERS {
                batch.db.execute_batch(&another)?;
            }
            let last = "UPDATE e SET seq = seq + 1, id = randomblob(16), source = 1, foreign_host = NULL;
                INSERT INTO event SELECT * FROM e;
                INSERT INTO delivery (event, number, target, state) SELECT seq, 1, 1, 4 FROM e;";
            Ok(batch.db.execute_batch(last)?)
        })
        .await
        .unwrap();

    use DeliveryState::{DeadLetter, Failed};
    let dead = inbox.ended_as(Some(source), DeadLetter, 0, 10).await.unwrap();
    assert_eq!(seqs(&dead), [6_002]);
    let dead = inbox.ended_as(None, DeadLetter, 0, 5_000).await.unwrap();
    assert_eq!(dead.len(), 3_001);
    assert!(seqs(&dead).is_sorted() && dead.iter().all(|(_, id)| *id != first));
    assert_eq!(seqs(&inbox.ended_as(None, DeadLetter, 3, 2).await.unwrap()), [5, 7]);
    assert!(inbox.ended_as(None, Failed, 0, 10).await.unwrap().is_empty());

    let hosts = inbox.withheld_hosts(OTHER).await.unwrap();
    assert_eq!(hosts.len(), 100);
    assert_eq!(hosts[0], ("n1.example".to_owned(), 30), "the name was given before the number grew");
    assert!(hosts.iter().all(|(_, events)| *events == 30) && hosts.is_sorted());
}

fn seqs(found: &[(i64, EventId)]) -> Vec<i64> {
    found.iter().map(|(seq, _)| *seq).collect()
}
