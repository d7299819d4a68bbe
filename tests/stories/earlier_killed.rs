//! An inbox of any earlier schema loses nothing when `serve` is killed while it brings the schema up to date.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hookmitt_clock::MachineClock;
use hookmitt_inbox::Inbox;
use hookmitt_stories::{Process, Server, Stored, say, seed, serve};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::earlier::unpacked;

/// The version whose inbox is taken, and its schema.
const VERSION: (&str, usize) = ("4d3d8d7", 5);

/// How many events are added to those of the copy, so that migrating takes some time.
const MORE: i64 = 3_000;

/// How often a start is killed on the way from one schema.
const KILLS: usize = 3;

/// What may never change of an event besides its bytes.
const LASTING: &str =
    "SELECT json_array(seq, hex(id), source, received_at, via, method, path, query, version, remote,
    size, hex(sha256)) FROM event ORDER BY seq";

/// Which event goes where.
const DELIVERIES: &str = "SELECT json_array(event, target) FROM delivery ORDER BY event, target";

/// An event's id, header lines and body.
type Sent = (String, Vec<u8>, Vec<u8>);

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_of_any_earlier_schema_survives_kills_while_it_migrates() {
    let mut random = SmallRng::seed_from_u64(seed());
    let migrations = migrations();
    let newest = migrations.len();
    let longest = time_of_a_start(&migrations).await;
    let mut halfway = 0;
    for schema in 1..newest {
        let folder = inbox_of(schema, &migrations).await;
        let dir = folder.path();
        let (events, sent) = (texts(dir, LASTING), sent(dir));
        let deliveries = texts(dir, DELIVERIES);
        for _ in 0..KILLS {
            let starting = Process::start(serve(dir));
            tokio::time::sleep(random.random_range(Duration::ZERO..longest)).await;
            starting.kill().await;
            halfway += usize::from((schema + 1..newest).contains(&version(dir)));
        }
        Server::start(dir).await.kill().await;

        assert_eq!(version(dir), newest, "from schema {schema}");
        assert_eq!(Stored::open(dir).check(), "ok", "from schema {schema}");
        assert_eq!(texts(dir, LASTING), events, "from schema {schema}");
        assert_eq!(texts(dir, DELIVERIES), deliveries, "from schema {schema}");
        are_here(dir, &sent).await;
    }
    say(&format!("{halfway} kills of this run left a schema in between"));
}

/// Returns how long the first start takes that migrates from the first schema.
async fn time_of_a_start(migrations: &[String]) -> Duration {
    let folder = inbox_of(1, migrations).await;
    let begun = Instant::now();
    let server = Server::start(folder.path()).await;
    let took = begun.elapsed();
    server.kill().await;
    took
}

/// Returns every migration, in order.
fn migrations() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Makes a data directory with the earlier version's inbox, and more events, in a schema.
async fn inbox_of(schema: usize, migrations: &[String]) -> TempDir {
    let (version, stored) = VERSION;
    let folder = unpacked(version, "app").await;
    let path = folder.path().join("inbox.db");
    add_events(&Connection::open(&path).unwrap());
    if schema < stored {
        let later = folder.path().join("later.db");
        std::fs::rename(&path, &later).unwrap();
        let db = Connection::open(&path).unwrap();
        migrations[..schema].iter().for_each(|sql| db.execute_batch(sql).unwrap());
        take_rows(&db, &later);
        std::fs::remove_file(later).unwrap();
    } else {
        let db = Connection::open(&path).unwrap();
        migrations[stored..schema].iter().for_each(|sql| db.execute_batch(sql).unwrap());
    }
    assert_eq!(self::version(folder.path()), schema);
    folder
}

/// Repeats the newest event, each time with another number, id and body.
fn add_events(db: &Connection) {
    let columns = names(db, "SELECT name FROM pragma_table_info('event')");
    let values: Vec<_> = columns
        .iter()
        .map(|name| match name.as_str() {
            "seq" => "seq + ?1",
            "id" => "CAST(substr(id, 1, 9) || randomblob(7) AS BLOB)", // what makes it a UUIDv7 stays
            "body" => "?2",
            "size" => "length(?2)",
            "sha256" => "?3",
            "dedupe_key" | "duplicate_of" | "arrival_key" => "NULL",
            other => other,
        })
        .collect();
    let newest: i64 = db.query_row("SELECT max(seq) FROM event", [], |row| row.get(0)).unwrap();
    let sql = format!(
        "INSERT INTO event ({}) SELECT {} FROM event WHERE seq = {newest}",
        columns.join(", "),
        values.join(", ")
    );
    db.execute_batch("BEGIN").unwrap();
    for number in 1..=MORE {
        let body = format!("{{\"number\": {number}}}").into_bytes();
        let sha256 = Sha256::digest(&body).to_vec();
        db.prepare_cached(&sql).unwrap().execute((number, body, sha256)).unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
}

/// Takes over the rows of a later schema, as far as there are tables and columns for them.
fn take_rows(db: &Connection, later: &Path) {
    db.execute("ATTACH ?1 AS later", [later.to_str().unwrap()]).unwrap();
    for table in names(db, "SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let shared = names(
            db,
            &format!(
                "SELECT name FROM pragma_table_info('{table}', 'main')
                INTERSECT SELECT name FROM pragma_table_info('{table}', 'later')"
            ),
        )
        .join(", ");
        let sql =
            format!("INSERT OR REPLACE INTO main.{table} ({shared}) SELECT {shared} FROM later.{table}");
        db.execute(&sql, []).unwrap();
    }
    db.execute_batch("DETACH later").unwrap();
}

/// Returns the schema number in the file.
fn version(dir: &Path) -> usize {
    let db = Connection::open(dir.join("inbox.db")).unwrap();
    db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn texts(dir: &Path, sql: &str) -> Vec<String> {
    names(&Connection::open(dir.join("inbox.db")).unwrap(), sql)
}

fn names(db: &Connection, sql: &str) -> Vec<String> {
    let mut select = db.prepare(sql).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(|name| name.unwrap()).collect()
}

/// Reads what was sent from an inbox that still has it in the rows of its events.
fn sent(dir: &Path) -> Vec<Sent> {
    let db = Connection::open(dir.join("inbox.db")).unwrap();
    let mut select = db.prepare("SELECT id, headers, body FROM event").unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let id = uuid::Uuid::from_bytes(row.get(0)?).to_string();
        Ok((id, row.get(1)?, row.get(2)?))
    };
    select.query_map([], row).unwrap().map(|event| event.unwrap()).collect()
}

/// Checks that the inbox returns every event as it came.
async fn are_here(dir: &Path, sent: &[Sent]) {
    assert!(sent.len() > usize::try_from(MORE).unwrap());
    let inbox = Inbox::open(dir, Arc::new(MachineClock)).unwrap();
    for (id, headers, body) in sent {
        let event = inbox.event(id.parse().unwrap()).await.unwrap();
        assert_eq!(event.request.headers.as_wire(), headers, "{id}");
        assert_eq!(event.request.body, body, "{id}");
        assert_eq!(event.sha256, *Sha256::digest(body), "{id}");
    }
}
