//! Pages of an inbox are overwritten: what is readable is here afterwards, and nothing else.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::Arc,
};

use hookmitt_clock::MachineClock;
use hookmitt_event::{DedupeKey, EventId, Timestamp};
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use crate::{Inbox, InboxError, NewEvent, SourceSettings, content, samples};

const EVENTS: u32 = 2_000;

fn arrived(source: i64, body: &[u8]) -> NewEvent {
    let id = EventId::fresh();
    let event = samples::with_body(samples::event(source, Timestamp::now()), body.to_vec());
    let key_hash = *id.as_bytes();
    NewEvent { id, key_hash, dedupe_key: DedupeKey::Id(id.to_string()), ..event }
}

/// Closes the inbox, and waits until nothing has its file open and all is in it.
async fn closed(inbox: Inbox) {
    let path = inbox.path();
    drop(inbox);
    let alone = || {
        let db = Connection::open(&path)?;
        db.query_row("PRAGMA journal_mode = delete", [], |row| row.get::<_, String>(0))
    };
    while !matches!(alone(), Ok(mode) if mode == "delete") {
        tokio::task::yield_now().await;
    }
}

/// Makes an inbox with events of many sizes, and returns their bodies by number.
async fn filled(folder: &Path, random: &mut SmallRng) -> BTreeMap<i64, Vec<u8>> {
    let inbox = Inbox::open(folder, Arc::new(MachineClock)).unwrap();
    let slug = "shop".parse().unwrap();
    let added = inbox.add_source(slug, SourceSettings::default(), false, Timestamp::now());
    let source = added.await.unwrap().row;
    let mut storing = JoinSet::new();
    for _ in 0..EVENTS {
        let size = if random.random_bool(0.05) { 20_000 } else { random.random_range(0..900) };
        let mut body = vec![0; size];
        random.fill_bytes(&mut body);
        let inbox = inbox.clone();
        storing.spawn(async move { (inbox.store(arrived(source, &body)).await.unwrap().seq, body) });
    }
    let bodies = storing.join_all().await.into_iter().collect();
    closed(inbox).await;
    bodies
}

/// Overwrites pages with zeros or with noise.
fn overwrite(path: &Path, pages: &[u64], random: &mut SmallRng) {
    let mut file = File::options().write(true).open(path).unwrap();
    for page in pages {
        let mut bytes = [0; 4_096];
        if random.random_bool(0.5) {
            random.fill_bytes(&mut bytes);
        }
        file.seek(SeekFrom::Start(page * 4_096)).unwrap();
        file.write_all(&bytes).unwrap();
    }
}

/// Opens the inbox, once a connection that was closed just now has let go of it.
async fn reopened(folder: &Path) -> Inbox {
    loop {
        match Inbox::open(folder, Arc::new(MachineClock)) {
            Ok(inbox) => return inbox,
            Err(InboxError::Damaged(why)) if why.contains("end the hookmitt") => {
                tokio::task::yield_now().await
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Opens the damaged inbox, checks that what is there is genuine, and returns how many bodies and events are.
async fn recovered(folder: &Path, bodies: &BTreeMap<i64, Vec<u8>>) -> (u64, u64) {
    let inbox = reopened(folder).await;
    let said = inbox.recovered().await.unwrap().expect("it says so");
    assert!(said.kept.exists());
    inbox.check().await.unwrap();
    let db = Connection::open(folder.join("inbox.db")).unwrap();
    let (mut whole, mut events) = (0, 0);
    for (seq, body) in bodies {
        match content::read(&db, *seq) {
            Ok((_, found)) => {
                assert_eq!(Sha256::digest(&found), Sha256::digest(body), "#{seq}");
                (whole, events) = (whole + 1, events + 1);
            }
            Err(InboxError::UnknownEvent(_)) => {}
            Err(InboxError::Lost(_)) => events += 1,
            Err(error) => panic!("#{seq}: {error}"),
        }
    }
    drop(db);
    assert_eq!((said.events, said.without_body), (events, events - whole), "{said}");
    let source = inbox.sources().await.unwrap()[0].row;
    let next = inbox.store(arrived(source, b"after")).await.unwrap();
    assert!(next.seq > i64::from(EVENTS), "numbers are not given out again: #{}", next.seq);
    closed(inbox).await;
    (whole, events)
}

#[tokio::test]
async fn what_is_readable_is_recovered_from_overwritten_pages() {
    for seed in 1..=6 {
        let mut random = SmallRng::seed_from_u64(seed);
        let folder = tempfile::tempdir().unwrap();
        let bodies = filled(folder.path(), &mut random).await;
        let path = folder.path().join("inbox.db");
        let count = std::fs::metadata(&path).unwrap().len() / 4_096;
        let mut pages: Vec<_> = (0..8).map(|_| random.random_range(1..count)).collect();
        if seed % 3 == 0 {
            pages.push(0); // the page without which SQLite can't read any
        }
        overwrite(&path, &pages, &mut random);
        std::fs::write(folder.path().join("inbox.damaged"), "").unwrap(); // as a process does that meets the damage
        let (whole, events) = recovered(folder.path(), &bodies).await;
        let all = u64::from(EVENTS);
        // A page holds up to about 20 of the events' rows.
        assert!(
            whole > all * 8 / 10 && events > all * 8 / 10,
            "seed {seed}: {whole} bodies, {events} events"
        );
    }
}

#[tokio::test]
async fn damage_that_is_met_while_running_is_refused_until_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SmallRng::seed_from_u64(1);
    let bodies = filled(folder.path(), &mut random).await;
    let path = folder.path().join("inbox.db");
    let root: u64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'event_id'", [], |row| row.get(0))
        .unwrap();
    let inbox = Inbox::open(folder.path(), Arc::new(MachineClock)).unwrap();
    let source = inbox.sources().await.unwrap()[0].row;
    overwrite(&path, &[root - 1], &mut random);
    for _ in 0..2 {
        let refused = inbox.store(arrived(source, b"new")).await;
        assert!(matches!(refused, Err(InboxError::Damaged(_))), "{refused:?}");
    }
    assert!(inbox.damage().is_some());
    drop(inbox);
    assert_eq!(recovered(folder.path(), &bodies).await.0, u64::from(EVENTS), "an index is made anew");
}
