//! What an inbox can do after it was recovered, whoever stored what is in it, and what becomes of the rest of it.

use std::{
    io::{Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::Arc,
};

use hookmitt_clock::{Clock, HandClock};
use hookmitt_event::{DedupeKey, EventId, EventStatus, OrderMode, Request, Timestamp};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use crate::{
    BackupNote, Checked, Inbox, InboxError, NewEvent, Restoring, Unwanted, content, finish_backup, form,
    queue_story::Story, samples, schema,
};

fn arrived(source: i64, body: &'static [u8]) -> NewEvent {
    let id = EventId::fresh();
    let event = samples::event(source, Timestamp::now());
    let request = Request { body: body.into(), ..event.request };
    let (key_hash, sha256) = (*id.as_bytes(), Sha256::digest(body).into());
    NewEvent { id, request, sha256, key_hash, dedupe_key: DedupeKey::Id(id.to_string()), ..event }
}

fn clock() -> HandClock {
    HandClock::at(Timestamp::from_seconds(1_800_000_000))
}

fn db(folder: &Path) -> Connection {
    Connection::open(folder.join("inbox.db")).unwrap()
}

/// Opens the inbox as after a process that has found damage, once nothing has its file open any more.
async fn recovered(folder: &Path) -> Inbox {
    std::fs::write(folder.join("inbox.damaged"), "").unwrap();
    loop {
        match Inbox::open(folder, Arc::new(clock())) {
            Ok(inbox) => return inbox,
            Err(InboxError::Damaged(why)) if why.contains("end the hookmitt") => {
                tokio::task::yield_now().await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn backed_up(inbox: &Inbox, part: &Path) -> Result<Checked, InboxError> {
    drop(hookmitt_sqlite::private_file(part).unwrap());
    let mut copying = inbox.copy_into(part).await.unwrap();
    while !copying.step().await.unwrap().is_complete {}
    drop(copying);
    finish_backup(part, &BackupNote::default(), &Unwanted::default())
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_the_place_of_a_copy_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = Inbox::open(folder.path(), Arc::new(clock())).unwrap();
    let (part, other) = (folder.path().join("part"), folder.path().join("other.db"));
    backed_up(&inbox, &other).await.unwrap();
    let before = std::fs::read(&other).unwrap();
    std::os::unix::fs::symlink(&other, &part).unwrap();
    let refused = finish_backup(&part, &BackupNote::default(), &Unwanted::default());
    assert!(matches!(refused, Err(InboxError::Backup(_))), "{refused:?}");
    assert!(std::fs::read(&other).unwrap() == before);
}

/// Makes an inbox with an earlier schema, with an event whose body is stored as it was then.
fn earlier(path: &Path, version: usize) {
    hookmitt_sqlite::update(path, schema::earlier(version)).unwrap();
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "INSERT INTO source (id, slug, settings, auto_created, created_at) VALUES (1, 'one', '{}', 0, 0);
        INSERT INTO tally (source, verdict, events, duplicates, bytes, deliveries) VALUES (1, 0, 1, 0, 3, 0);",
    )
    .unwrap();
    let sha256: [u8; 32] = Sha256::digest(b"abc").into();
    let (headers, body) = if version < 17 { (&b"A: b\r\n"[..], &b"abc"[..]) } else { (&b""[..], &b""[..]) };
    let event =
        "INSERT INTO event (seq, id, source, received_at, via, verdict, flags, method, path, version, size,
        sha256, headers, body) VALUES (1, zeroblob(16), 1, 0, 0, 0, 0, 'POST', '', 11, 3, ?1, ?2, ?3)";
    db.execute(event, (sha256, headers, body)).unwrap();
    if version >= 17 {
        let packed = (form::form(b"A: b\r\n", &[0; 99]), form::form(b"abc", &[0; 99]));
        db.execute("INSERT INTO packed (seq, headers, body) VALUES (1, ?1, ?2)", packed).unwrap();
    }
}

#[tokio::test]
async fn rows_from_before_a_table_got_more_columns_are_recovered() {
    for version in [15, 17, 20, 21, 22] {
        let folder = tempfile::tempdir().unwrap();
        earlier(&folder.path().join("inbox.db"), version);
        drop(Inbox::open(folder.path(), Arc::new(clock())).unwrap()); // migrates it, and rewrites no row
        let inbox = recovered(folder.path()).await;
        assert_eq!(inbox.recovered().await.unwrap().unwrap().without_body, 0, "schema {version}");
        assert_eq!(&content::read(&db(folder.path()), 1).unwrap().1[..], b"abc");
    }
}

#[tokio::test]
async fn a_backup_with_an_earlier_schema_is_restored() {
    for version in [15, 17, 20, 21, 22] {
        let folder = tempfile::tempdir().unwrap();
        let (backup, home) = (folder.path().join("backup"), folder.path().join("home"));
        earlier(&backup, version);
        let clock: Arc<dyn Clock> = Arc::new(clock());
        let restoring = Restoring::begin(&home, &backup, &clock).unwrap();
        assert_eq!((restoring.checked.events, restoring.checked.without_body), (1, 0), "schema {version}");
        restoring.take().unwrap();
        let inbox = Inbox::open(&home, clock).unwrap();
        let event = inbox.event(EventId::from_bytes([0; 16])).await.unwrap();
        assert_eq!(
            (&event.request.body[..], &event.request.headers.as_wire()[..]),
            (&b"abc"[..], &b"A: b\r\n"[..])
        );
        assert!(inbox.store(arrived(1, b"new")).await.unwrap().seq > 1);
    }
}

#[tokio::test]
async fn two_inboxes_that_are_replaced_in_the_same_second_are_both_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (backup, home) = (folder.path().join("backup"), folder.path().join("home"));
    earlier(&backup, 22);
    let clock: Arc<dyn Clock> = Arc::new(clock());
    drop(Inbox::open(&home, Arc::clone(&clock)).unwrap());
    let take = || Restoring::begin(&home, &backup, &clock).ok()?.take().ok()?;
    let mut kept = Vec::new();
    while kept.len() < 2 {
        kept.extend(take()); // in use until the inbox is closed
        tokio::task::yield_now().await;
    }
    let events = |path| {
        let count = Connection::open(path).unwrap();
        count.query_row("SELECT count(*) FROM event", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(kept.iter().map(events).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn an_inbox_with_lost_bodies_is_backed_up_and_restored() {
    let story = Story::begin(OrderMode::Fifo).await;
    for body in [&b"1"[..], b"2", b"3", b"4"] {
        story.inbox.store(arrived(story.source, body)).await.unwrap();
    }
    let Story { inbox, folder, .. } = story;
    drop(inbox);
    db(folder.path())
        .execute_batch("DELETE FROM raw WHERE seq = 2; UPDATE raw SET body = x'00' WHERE seq = 3")
        .unwrap();
    let inbox = recovered(folder.path()).await;
    assert_eq!(inbox.recovered().await.unwrap().unwrap().without_body, 2);
    let part = folder.path().join("backup");
    let checked = backed_up(&inbox, &part).await.unwrap();
    assert_eq!((checked.events, checked.without_body), (4, 2));
    let clock: Arc<dyn Clock> = Arc::new(clock());
    let home = folder.path().join("home");
    let restoring = Restoring::begin(&home, &part, &clock).unwrap();
    assert_eq!(restoring.checked, checked);
    restoring.take().unwrap();
    let read = |seq| content::read(&db(&home), seq).map(|(_, body)| body);
    assert!(matches!(read(2), Err(InboxError::Lost(why)) if why.contains("damaged")));
    assert_eq!(&read(4).unwrap()[..], b"4");
    // A body that went missing otherwise is no whole backup.
    let copy = Connection::open(&part).unwrap();
    copy.execute("DELETE FROM raw WHERE seq = 4", []).unwrap();
    let refused = Restoring::begin(&home, &part, &clock);
    assert!(matches!(refused, Err(InboxError::NoBackup { why, .. }) if why.contains("event #4")));
}

#[tokio::test]
async fn what_is_only_in_the_log_is_recovered_even_if_sqlite_does_not_know_the_file_any_more() {
    let story = Story::begin(OrderMode::Fifo).await;
    let stored = story.inbox.store(arrived(story.source, b"in the log")).await.unwrap();
    let Story { inbox, folder, .. } = story;
    drop(inbox);
    let home = tempfile::tempdir().unwrap();
    let open = loop {
        let open = db(folder.path());
        let alone = open.query_row("PRAGMA journal_mode = delete", [], |row| row.get::<_, String>(0));
        if alone.is_ok_and(|mode| mode == "delete") {
            break open;
        }
        tokio::task::yield_now().await;
    };
    // The first page isn't in the log, because the file doesn't grow.
    open.execute_batch(
        "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; UPDATE event SET note = 'new'",
    )
    .unwrap();
    for name in ["inbox.db", "inbox.db-wal"] {
        std::fs::copy(folder.path().join(name), home.path().join(name)).unwrap();
    }
    let mut file = std::fs::File::options().write(true).open(home.path().join("inbox.db")).unwrap();
    file.write_all(&[0; 4_096]).unwrap();
    let inbox = recovered(home.path()).await;
    let event = inbox.event(stored.id).await.unwrap();
    assert_eq!((&event.request.body[..], event.note.as_deref()), (&b"in the log"[..], Some("new")));
}

#[tokio::test]
async fn what_is_noted_in_several_places_agrees_after_a_recovery() {
    let story = Story::begin(OrderMode::Fifo).await;
    let mut ids = Vec::new();
    for body in [&b"gone"[..], b"without a body", b"in the bin", b"tagged"] {
        ids.push(story.inbox.store(arrived(story.source, body)).await.unwrap().id);
    }
    story.inbox.set_deleted(ids[2], Some(story.clock.now())).await.unwrap();
    let Story { inbox, folder, .. } = story;
    drop(inbox);
    db(folder.path())
        .execute_batch(
            "DROP TRIGGER content_goes; DELETE FROM event WHERE seq = 1;
            INSERT INTO late_answer VALUES (1, 200, 5);
            DELETE FROM raw WHERE seq = 2;
            DELETE FROM binned; UPDATE delivery SET binned = 0;
            UPDATE event SET flags = flags | 32 WHERE seq = 4;
            INSERT INTO tag VALUES (2, 'a', 'A', 1);",
        )
        .unwrap();
    drop(recovered(folder.path()).await);
    let db = db(folder.path());
    let read = |sql: &str| db.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap();
    assert_eq!(read("SELECT event FROM binned WHERE at > 0 AND who IS NULL"), Some(3));
    assert_eq!(read("SELECT count(*) FROM delivery WHERE binned"), Some(1));
    assert_eq!(read("SELECT count(*) FROM late_answer"), Some(0));
    assert_eq!(read("SELECT seq FROM event WHERE flags & 32"), Some(2));
    assert_eq!(read("SELECT binned FROM tag"), Some(0));
    assert_eq!(
        (read("SELECT sum(events) FROM hourly"), read("SELECT sum(kept) FROM hourly")),
        (Some(4), Some(3))
    );
    let failed = format!("SELECT sum(events) FROM hourly WHERE status = {}", EventStatus::Failed as i64);
    assert_eq!(read(&failed), Some(1), "what waited for the lost body");
}

#[tokio::test]
async fn a_recovery_passes_over_a_damaged_page_of_any_table() {
    let story = Story::begin(OrderMode::Fifo).await;
    for _ in 0..600 {
        story.inbox.store(arrived(story.source, b"a body")).await.unwrap();
    }
    let Story { inbox, folder, .. } = story;
    drop(inbox);
    let path = folder.path().join("inbox.db");
    let page = root(&alone(folder.path()).await, "delivery");
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    let leaf = child(&path, page);
    file.seek(SeekFrom::Start((leaf - 1) * 4_096)).unwrap();
    file.write_all(&[0; 4_096]).unwrap();
    drop(recovered(folder.path()).await);
    let count: i64 =
        db(folder.path()).query_row("SELECT count(*) FROM delivery", [], |row| row.get(0)).unwrap();
    assert!((300..600).contains(&count), "{count} deliveries");
}

#[tokio::test]
async fn an_inbox_whose_first_page_is_gone_keeps_its_targets_deliveries_and_tags() {
    const HELD: [&str; 4] = [
        "SELECT group_concat(url || settings, ' ') FROM target",
        "SELECT group_concat(event || '.' || number || '.' || target || '.' || state, ' ') FROM delivery",
        "SELECT group_concat(event || key || name, ' ') FROM tag",
        "SELECT group_concat(name || q, ' ') FROM saved_search",
    ];
    let held =
        |db: &Connection| HELD.map(|sql| db.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap());
    let story = Story::begin(OrderMode::Fifo).await;
    for _ in 0..600 {
        story.inbox.store(arrived(story.source, b"a body")).await.unwrap();
    }
    let Story { inbox, folder, .. } = story;
    drop(inbox);
    let db = alone(folder.path()).await;
    db.execute_batch(
        "INSERT INTO tag VALUES (3, 'größe', 'Größe', 0); UPDATE event SET flags = flags | 32 WHERE seq = 3;
        INSERT INTO saved_search (name, q, place) VALUES ('mine', 'verdict:valid', 1)",
    )
    .unwrap();
    let before = held(&db);
    drop(db);
    let path = folder.path().join("inbox.db");
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all(&[0; 4_096]).unwrap();
    let inbox = recovered(folder.path()).await;
    assert_eq!(held(&Connection::open(&path).unwrap()), before);
    let note = inbox.recovered().await.unwrap().unwrap();
    assert!(note.incomplete.contains(&"targets".to_owned()), "{note}");
    assert!(note.to_string().contains("targets, tunnels and retention above all"), "{note}");
}

#[tokio::test]
async fn a_table_whose_rows_are_gone_is_named() {
    let story = Story::begin(OrderMode::Fifo).await;
    story.inbox.store(arrived(story.source, b"a body")).await.unwrap();
    let Story { inbox, folder, .. } = story;
    drop(inbox);
    let page = root(&alone(folder.path()).await, "target");
    let path = folder.path().join("inbox.db");
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4_096)).unwrap();
    file.write_all(&[0; 4_096]).unwrap();
    let note = recovered(folder.path()).await.recovered().await.unwrap().unwrap();
    assert!(note.to_string().contains("look at what may be incomplete: targets; the damaged file"), "{note}");
    assert_eq!((note.missing, note.incomplete), (Some(0), vec!["targets".to_owned()]));
}

/// Returns the only connection to an inbox that was closed.
async fn alone(folder: &Path) -> Connection {
    loop {
        let db = db(folder);
        let alone = db.query_row("PRAGMA journal_mode = delete", [], |row| row.get::<_, String>(0));
        if alone.is_ok_and(|mode| mode == "delete") {
            return db;
        }
        tokio::task::yield_now().await;
    }
}

/// Returns the first page of a table.
fn root(db: &Connection, table: &str) -> u64 {
    db.query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [table], |row| row.get(0)).unwrap()
}

/// Returns the page that the first cell of a page leads to.
fn child(path: &Path, page: u64) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let page = &bytes[usize::try_from((page - 1) * 4_096).unwrap()..];
    let cell = usize::from(u16::from_be_bytes([page[12], page[13]]));
    u64::from(u32::from_be_bytes(page[cell..cell + 4].try_into().unwrap()))
}
