//! What the generator of large inboxes makes is like what real ones hold.

use std::{collections::BTreeMap, path::Path};

use hookmitt_stories::{ABSENT_WORD, COMMON_WORD, Plan, Sizes, fill_inbox, say};
use rusqlite::Connection;

async fn filled(plan: Plan) -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    fill_inbox(folder.path(), plan, |_| {}).await.unwrap();
    let db = opened(folder.path());
    (folder, db)
}

fn opened(folder: &Path) -> Connection {
    Connection::open(folder.join("inbox.db")).unwrap()
}

/// Returns a number that a query finds.
fn number(db: &Connection, sql: &str) -> f64 {
    db.query_row(&format!("SELECT CAST(({sql}) AS REAL)"), [], |row| row.get(0)).unwrap()
}

/// Returns the share of rows in which a condition holds.
fn share(db: &Connection, table: &str, condition: &str) -> f64 {
    number(db, &format!("SELECT avg({condition}) FROM {table}"))
}

/// Counts the rows of a table by a column.
fn counts(db: &Connection, table: &str, column: &str) -> BTreeMap<i64, i64> {
    let mut select = db.prepare(&format!("SELECT {column}, count(*) FROM {table} GROUP BY 1")).unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

fn is_between(what: &str, value: f64, least: f64, most: f64) {
    say(&format!("{what}: {value:.4}"));
    assert!((least..=most).contains(&value), "{what} is {value}, not from {least} to {most}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_made_inbox_is_like_a_real_one() {
    let plan = Plan::of(2_000);
    let (_folder, db) = filled(plan).await;
    assert_eq!(number(&db, "SELECT count(*) FROM event"), 2_000.0);

    is_between("smallest body, bytes", number(&db, "SELECT min(size) FROM event"), 150.0, 400.0);
    is_between("largest body, bytes", number(&db, "SELECT max(size) FROM event"), 64_000.0, 1_100_000.0);
    is_between("mean body, bytes", number(&db, "SELECT avg(size) FROM event"), 2_800.0, 4_200.0);
    is_between("zstd -3 of each body alone : raw", compressed(&db), 0.35, 0.50);

    is_between("duplicates", share(&db, "event", "duplicate_of IS NOT NULL"), 0.03, 0.07);
    let conflicts = "SELECT count(*) FROM event WHERE flags & 2";
    is_between("duplicates with other bytes", number(&db, conflicts), 1.0, 15.0);
    let linear = "SELECT count(*) FROM event e JOIN source s ON s.id = e.source
        WHERE flags & 2 AND e.provider = 'linear'";
    assert_eq!(number(&db, linear), 0.0, "its repeats have the time in them, and are left out");
    let pins = number(&db, "SELECT count(*) FROM event WHERE pinned_at IS NOT NULL");
    let notes = number(&db, "SELECT count(*) FROM event WHERE note IS NOT NULL");
    assert_eq!((pins, notes, number(&db, "SELECT count(*) FROM tag")), (5.0, 8.0, 40.0));
    for (verdict, name, least, most) in [
        (0, "valid", 0.78, 0.84),
        (1, "invalid", 0.035, 0.06),
        (2, "unsigned", 0.05, 0.1),
        (3, "no secret", 0.06, 0.1),
    ] {
        is_between(name, share(&db, "event", &format!("verdict = {verdict}")), least, most);
    }
    let largest = "SELECT max(n) FROM (SELECT count(*) AS n FROM event GROUP BY source)";
    is_between("the busiest source's events", number(&db, largest), 270.0, 380.0);
    assert_eq!(number(&db, "SELECT count(DISTINCT source) FROM event"), 18.0);
    let days = "SELECT (max(received_at) - min(received_at)) / 86400e6 FROM event";
    is_between("days from the first to the last", number(&db, days), 89.0, 90.0);
    assert_eq!(number(&db, "SELECT count(*) FROM event WHERE title IS NULL AND provider IS NOT NULL"), 0.0);

    let with = |word: &str| share(&db, "raw", &format!("instr(CAST(body AS TEXT), '{word}') > 0"));
    is_between("events with the common word", with(COMMON_WORD), 0.4, 0.8);
    assert_eq!(with(ABSENT_WORD), 0.0);
}

/// Returns how large all bodies are together, each compressed by itself, for one byte of them.
fn compressed(db: &Connection) -> f64 {
    let mut select = db.prepare("SELECT body FROM raw").unwrap();
    let mut rows = select.query([]).unwrap();
    let (mut raw, mut small) = (0, 0);
    while let Some(row) = rows.next().unwrap() {
        let body: Vec<u8> = row.get(0).unwrap();
        raw += body.len();
        small += zstd::bulk::compress(&body, 3).unwrap().len();
    }
    small as f64 / raw as f64
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_of_a_made_inbox_ended_in_every_way_or_wait() {
    let (folder, db) = filled(Plan { sizes: Sizes::Small, ..Plan::of(3_000) }).await;
    let states = counts(&db, "delivery", "state");
    let all: i64 = states.values().sum();
    is_between("deliveries for an event", all as f64 / 3_000.0, 1.0, 2.0);
    for (state, name, least, most) in [
        (0, "pending", 0.001, 0.02),
        (2, "completed", 0.85, 0.97),
        (3, "failed", 0.003, 0.03),
        (4, "dead letters", 0.003, 0.03),
        (5, "skipped", 0.01, 0.08),
    ] {
        let count = states.get(&state).copied().unwrap_or(0);
        is_between(name, count as f64 / all as f64, least, most);
    }
    assert_eq!(states.get(&1), None, "nothing is under way");
    let wrong = "SELECT count(*) FROM delivery d WHERE attempts <>
        (SELECT count(*) FROM attempt a WHERE a.event = d.event AND a.delivery = d.number)";
    assert_eq!(number(&db, wrong), 0.0);
    let captured =
        "SELECT count(*) FROM event e WHERE NOT EXISTS (SELECT 1 FROM delivery WHERE event = e.seq)";
    is_between("events without a target", number(&db, captured) / 3_000.0, 0.08, 0.2);

    let check: String =
        opened(folder.path()).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let counted = "SELECT count(*) FROM event";
    assert_eq!(number(&db, "SELECT sum(events) FROM tally"), number(&db, counted));
    assert_eq!(number(&db, "SELECT sum(bytes) FROM tally"), number(&db, "SELECT sum(size) FROM event"));
    assert_eq!(number(&db, "SELECT sum(deliveries) FROM tally"), all as f64);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_plan_makes_the_same_inbox() {
    let plan = Plan::of(400);
    let ((_one, first), (_two, second)) = (filled(plan).await, filled(plan).await);
    let (_three, other) = filled(Plan { seed: 2, ..plan }).await;
    for (one, same) in rows(&first).iter().zip(rows(&second)) {
        assert_eq!(*one, same);
    }
    assert_ne!(rows(&first), rows(&other));
    assert_eq!(plan.fingerprint(), Plan::of(400).fingerprint(), "it doesn't depend on the time");
}

/// Returns what is stored of each event and delivery.
fn rows(db: &Connection) -> Vec<String> {
    const EVENTS: &str =
        "SELECT hex(id) || source || received_at || verdict || via || flags || hex(headers) || hex(body)
        || coalesce(hex(duplicate_of), '') || stored_at FROM event ORDER BY seq";
    const DELIVERIES: &str =
        "SELECT event || ' ' || number || ' ' || target || ' ' || state || ' ' || attempts || ' '
        || coalesce(last_error, '') || coalesce(ended_at, '') FROM delivery ORDER BY event, number";
    let read = |sql: &str| {
        let mut select = db.prepare(sql).unwrap();
        let rows = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    [read(EVENTS), read(DELIVERIES)].concat()
}
