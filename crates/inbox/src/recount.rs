//! Compares the running totals with counts of every row, and checks the query plans of queries that must not read every
//! event.

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_event::{EventStatus, TargetId, Timestamp, Verdict};
use hookmitt_search::{Query, Test};
use rusqlite::Connection;

use crate::{
    Filter, Inbox, Stats, View, deliveries, filter::candidates_sql, glance, random_story::Story, schema,
    stats,
};

/// Returns what [`Inbox::stats`] should return, by counting every row.
fn counted(db: &Connection) -> Stats {
    let mut stats = Stats::default();
    let rows = |sql: &str| -> Vec<(i64, u64, u64, u64)> {
        let mut select = db.prepare(sql).unwrap();
        let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        found.unwrap().collect::<Result<_, _>>().unwrap()
    };
    let place = |place: i64| usize::try_from(place).unwrap();
    for (verdict, count, duplicates, bytes) in rows(
        "SELECT verdict, count(*), count(duplicate_of),
        coalesce(sum(length(raw.body)), 0) FROM event JOIN raw USING (seq) WHERE deleted_at IS NULL GROUP BY verdict ORDER BY verdict",
    ) {
        stats.verdicts.push((Verdict::ALL[place(verdict)].0, count));
        stats.events += count;
        stats.duplicates += duplicates;
        stats.body_bytes += bytes;
    }
    for (state, count, ..) in rows(
        "SELECT state, count(*), 0, 0 FROM delivery JOIN event ON seq = event AND deleted_at IS NULL
        GROUP BY state ORDER BY state",
    ) {
        stats.deliveries.push((hookmitt_event::DeliveryState::ALL[place(state)].0, count));
    }
    for (target, count, ..) in rows(
        "SELECT target, count(*), 0, 0 FROM delivery
        WHERE state IN (0, 1) GROUP BY target ORDER BY target",
    ) {
        stats.targets.push((TargetId(target), count));
    }
    for (source, count, has, verdict) in rows(
        "SELECT s.id, count(seq), max(seq) IS NOT NULL, coalesce(verdict, 0), max(seq)
        FROM source s LEFT JOIN event ON source = s.id AND deleted_at IS NULL GROUP BY s.id ORDER BY s.slug",
    ) {
        let slug = if source == 1 { "one" } else { "two" }.to_owned();
        let newest = (has == 1).then(|| Verdict::ALL[usize::try_from(verdict).unwrap()].0);
        stats.sources.push(stats::SourceCount { slug, events: count, newest });
    }
    let view = |condition: &str| u64::try_from(seqs(db, condition).len()).unwrap();
    stats.views = stats::ViewCounts {
        needs_action: view(NEEDS_ACTION),
        invalid: view("verdict = 1"),
        dead_letter: view(DEAD),
        waiting: view(WAITING),
    };
    stats
}

const DEAD: &str = "EXISTS (SELECT 1 FROM delivery WHERE event = seq AND state = 4)";
const NEEDS_ACTION: &str =
    "verdict = 1 OR EXISTS (SELECT 1 FROM delivery WHERE event = seq AND state IN (3, 4))";
const WAITING: &str = "EXISTS (SELECT 1 FROM delivery d JOIN target t ON t.id = d.target WHERE d.event = seq
    AND d.state = 0 AND t.down_since IS NOT NULL)";

fn seqs(db: &Connection, condition: &str) -> BTreeSet<i64> {
    let sql = format!("SELECT seq FROM event WHERE deleted_at IS NULL AND ({condition})");
    let mut select = db.prepare(&sql).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn the_numbers_are_those_of_a_recount_whatever_happened() {
    let folder = tempfile::tempdir().unwrap();
    let seed = rand::random();
    let mut story = Story::begin(folder.path(), seed).await;
    let db = hookmitt_sqlite::reader(&story.inbox.path()).unwrap();
    for round in 0..12 {
        for _ in 0..40 {
            story.step().await;
        }
        let numbers = story.inbox.stats().await.unwrap();
        assert_eq!(numbers, counted(&db), "seed {seed}, round {round}");
        for (view, condition) in [
            (View::NeedsAction, NEEDS_ACTION),
            (View::Invalid, "verdict = 1"),
            (View::DeadLetter, DEAD),
            (View::Waiting, WAITING),
        ] {
            let filter = Filter { view: Some(view), ..Filter::default() };
            assert_eq!(listed(&story.inbox, filter).await, seqs(&db, condition), "seed {seed}, {view:?}");
        }
        let filter = Filter { source: Some("two".to_owned()), ..Filter::default() };
        assert_eq!(listed(&story.inbox, filter).await, seqs(&db, "source = 2"), "seed {seed}");
        folded(&story.inbox, &db, seed).await;
    }
}

/// Checks that a list leaves out the repeats that fold and whose first it shows, and no others, and that each event is
/// either listed or among the copies of one that is.
async fn folded(inbox: &Inbox, db: &Connection, seed: u64) {
    let fold = Filter { fold: true, ..Filter::default() };
    let since = Test::Received { from: Some(Timestamp::from_micros(200)), to: None };
    for (filter, condition) in [
        (fold.clone(), "1"),
        (Filter { source: Some("two".to_owned()), ..fold.clone() }, "source = 2"),
        (Filter { query: query(Test::Verdict(Verdict::Valid)), ..fold.clone() }, "verdict = 0"),
        (Filter { query: query(since), ..fold.clone() }, "received_at >= 200"),
        (Filter { query: query(Test::Status(EventStatus::Captured)), ..fold.clone() }, CAPTURED),
    ] {
        let first = format!("SELECT id FROM event WHERE deleted_at IS NULL AND ({condition})");
        let stands = format!("({condition}) AND NOT (flags & 16 AND duplicate_of IN ({first}))");
        assert_eq!(listed(inbox, filter.clone()).await, seqs(db, &stands), "seed {seed}, {filter:?}");
    }
    let mut reached = Vec::new();
    for listed in inbox.list(fold, None, 1_000).await.unwrap().items {
        reached.push(listed.event.id);
        if listed.event.duplicate_of.is_none() {
            let (copies, total) = inbox.copies(listed.event.id, 1_000).await.unwrap();
            let copies = inbox.these_glanced(copies).await.unwrap();
            let folded: Vec<_> = copies.iter().filter(|copy| copy.event.folds).collect();
            let glance = copies[0].glance.clone().unwrap();
            assert_eq!((total, glance.folded), (copies.len() as u64, folded.len() as u64), "seed {seed}");
            reached.extend(folded.iter().map(|copy| copy.event.id));
        }
    }
    let all = inbox.list(Filter::default(), None, 1_000).await.unwrap().items;
    let all: BTreeSet<_> = all.iter().map(|listed| listed.event.id).collect();
    assert_eq!((reached.len(), BTreeSet::from_iter(reached)), (all.len(), all), "seed {seed}");
    let folds = seqs(db, "flags & 16");
    assert_eq!(folds, seqs(db, "flags & 16 AND duplicate_of IS NOT NULL AND verdict <> 1"), "seed {seed}");
}

fn query(test: Test) -> Query {
    let mut query = Query::default();
    query.and(test);
    query
}

const CAPTURED: &str = "NOT EXISTS (SELECT 1 FROM delivery WHERE event = seq)";

/// Returns the sequence numbers of all events that a filter finds, read seven at a time.
async fn listed(inbox: &Inbox, filter: Filter) -> BTreeSet<i64> {
    let (mut found, mut cursor) = (BTreeSet::new(), None);
    loop {
        let page = inbox.list(filter.clone(), cursor, 7).await.unwrap();
        for listed in &page.items {
            assert!(found.insert(listed.event.seq), "listed twice");
        }
        cursor = page.next;
        if cursor.is_none() {
            return found;
        }
    }
}

#[test]
fn numbers_views_and_lists_of_a_source_read_only_their_own_index() {
    let folder = tempfile::tempdir().unwrap();
    let db = hookmitt_sqlite::reader(&schema::prepare(folder.path()).unwrap()).unwrap();
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    for (view, name) in View::ALL {
        let filter = Filter { view: Some(view), ..Filter::default() };
        asked.insert(format!("list {name}"), candidates_sql(&filter));
        asked.insert(format!("count {name}"), view.count_sql());
    }
    for (fold, source) in [(false, Some("one")), (true, Some("one")), (true, None), (false, None)] {
        let filter = Filter { source: source.map(str::to_owned), fold, ..Filter::default() };
        asked.insert(format!("list {source:?}, folded: {fold}"), candidates_sql(&filter));
    }
    for (name, sql) in [
        ("totals", stats::TOTALS),
        ("open", stats::OPEN),
        ("unsent", stats::UNSENT),
        ("bound", stats::BOUND),
        ("newest", stats::NEWEST),
        ("to be judged anew", crate::rejudge::AFTER),
        ("replaced in the bin", crate::bin::REPLACED),
        ("trash to be emptied", crate::emptier::BINNED),
        ("pinned", crate::room::PINNED),
        ("queue", deliveries::QUEUE),
        ("copies", glance::COPIES),
        ("count copies", glance::COUNT),
    ] {
        asked.insert(name.to_owned(), sql.to_owned());
    }
    for (name, sql) in asked {
        for line in plan(&db, &sql) {
            assert!(reads_little(&line), "{name}: {line}\n{sql}");
        }
    }
    for much in
        ["SELECT count(*) FROM event WHERE size = 1", "SELECT seq FROM event e WHERE seq < 9 AND size = 1"]
    {
        assert!(!plan(&db, much).iter().all(|line| reads_little(line)), "{much}");
    }
}

fn plan(db: &Connection, sql: &str) -> Vec<String> {
    let mut select = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut found = select.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = found.next().unwrap() {
        lines.push(row.get(3).unwrap());
    }
    lines
}

/// Whether a line of a query plan is no scan of a table that grows with the events, or scans only an index that holds
/// few of its rows.
fn reads_little(line: &str) -> bool {
    const FEW: [&str; 6] = [
        "INDEX delivery_claimed",
        "INDEX delivery_waiting",
        "INDEX delivery_unsent",
        "INDEX event_bin",
        "INDEX event_pinned",
        "INDEX event_invalid",
    ];
    let grows = ["SCAN event", "SCAN delivery", "SCAN attempt"].iter().any(|scan| line.starts_with(scan));
    // On average, for whatever page is read. `left_behind` holds nothing else than what is looked for.
    let is_half_of_it = line.contains("INTEGER PRIMARY KEY (rowid<?)") && !line.contains("left_behind");
    !(grows || is_half_of_it) || FEW.iter().any(|few| line.contains(few))
}
