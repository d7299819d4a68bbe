//! What is packed comes back byte for byte, is read no more than needed, and goes with its event.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hookmitt_clock::Clock as _;
use hookmitt_event::{DedupeKey, EventId, HeaderLines, OrderMode, Request};
use hookmitt_search::Query;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use crate::{
    Dictionary, Filter, Inbox, InboxError, NewEvent, Packer, Packing, dictionary, form, purge::purge,
    queue_story::Story, samples, schema,
};

const WORDS: &str = r#"{"object":"event","livemode":false,"data":{"object":"Content-Type: application/json"#;

fn words(_: Option<&str>) -> Dictionary {
    Dictionary { name: "words".to_owned(), text: WORDS.into() }
}

/// After this, events that come in a crowd are packed.
const SETTLED: Duration = Duration::from_secs(6);

/// After this, whatever there is is packed, however little.
const LONG: Duration = Duration::from_secs(601);

fn packer(inbox: &Inbox) -> Packer {
    Packer::new(inbox.clone(), words).unwrap()
}

async fn begin() -> Story {
    Story::begin(OrderMode::Sequential).await
}

async fn store(story: &Story, headers: HeaderLines, body: impl Into<Bytes>) -> EventId {
    let id = EventId::fresh();
    let event = samples::with_body(samples::event(story.source, story.clock.now()), body);
    let request = Request { headers, ..event.request };
    let (dedupe_key, key_hash) = (DedupeKey::Id(id.to_string()), *id.as_bytes());
    story.inbox.store(NewEvent { id, request, dedupe_key, key_hash, ..event }).await.unwrap();
    id
}

fn text(times: usize) -> Vec<u8> {
    WORDS.repeat(times).into_bytes()
}

/// Packs whatever there is.
async fn pack_all(story: &Story, inbox: &Inbox) {
    story.clock.pass(LONG);
    let mut packer = packer(inbox);
    while packer.step().await.unwrap() > 0 {}
}

fn count(story: &Story, sql: &str) -> i64 {
    Connection::open(story.inbox.path()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

fn headers() -> impl Strategy<Value = HeaderLines> {
    let line = ("[A-Za-z-]{1,12}", "[ -~]{0,60}");
    prop::collection::vec(line, 0..12).prop_map(|pairs| HeaderLines::from_pairs(pairs).unwrap())
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let small = prop::collection::vec(any::<u8>(), 0..4_000);
    let random = |size: usize| prop::collection::vec(any::<u8>(), size);
    let frame =
        prop::collection::vec(any::<u8>(), 0..500).prop_map(|bytes| zstd::bulk::compress(&bytes, 3).unwrap());
    prop_oneof![
        4 => small,
        4 => (0_usize..200).prop_map(text),
        2 => frame,
        1 => Just(Vec::new()),
        1 => Just(vec![0; 1 << 20]),
        1 => random(100_000),
    ]
}

#[test]
fn exact_bytes_come_back_as_they_came_packed_and_after_reopening() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let requests = prop::collection::vec((headers(), body()), 1..8);
    let ran = TestRunner::new(Config::with_cases(24)).run(&requests, |requests| {
        runtime.block_on(async {
            let story = begin().await;
            let mut ids = Vec::new();
            for (headers, body) in &requests {
                ids.push(store(&story, headers.clone(), body.clone()).await);
            }
            come_back(&story.inbox, &ids, &requests).await?;
            pack_all(&story, &story.inbox).await;
            come_back(&story.inbox, &ids, &requests).await?;
            come_back(&story.restarted(), &ids, &requests).await
        })
    });
    ran.unwrap();
}

async fn come_back(
    inbox: &Inbox,
    ids: &[EventId],
    requests: &[(HeaderLines, Vec<u8>)],
) -> Result<(), TestCaseError> {
    for (id, (headers, body)) in ids.iter().zip(requests) {
        let request = inbox.event(*id).await.unwrap().request;
        prop_assert_eq!(&request.headers, headers);
        prop_assert_eq!(&request.body[..], &body[..]);
        prop_assert_eq!(&inbox.listed(*id).await.unwrap().event.request.headers, headers);
    }
    Ok(())
}

#[tokio::test]
async fn whoever_goes_on_after_a_kill_packs_the_rest_and_nothing_twice() {
    let story = begin().await;
    for size in 0..700 {
        store(&story, HeaderLines::default(), text(size % 200)).await;
    }
    story.clock.pass(LONG);
    let first = packer(&story.inbox).step().await.unwrap();
    assert!(first > 0 && first < 700, "a step takes only some: {first}");
    let next = story.restarted();
    let mut rest = 0;
    // Two at once, as when a process has lost its lock without noticing.
    let (mut one, mut other) = (packer(&next), packer(&story.inbox));
    loop {
        let (one, other) = tokio::join!(one.step(), other.step());
        rest += one.unwrap().max(other.unwrap());
        if next.packing().await.unwrap().waiting == 0 {
            break;
        }
    }
    assert!(rest >= 700 - first);
    assert_eq!(
        (count(&story, "SELECT count(*) FROM raw"), count(&story, "SELECT count(*) FROM packed")),
        (0, 700)
    );
    let Packing { before, after, .. } = next.packing().await.unwrap();
    assert_eq!(
        before,
        (0..700).map(|size| text(size % 200).len() as u64).sum::<u64>(),
        "each is counted once"
    );
    assert!(after < before / 10, "{after} of {before}");
}

#[tokio::test]
async fn text_is_found_in_packed_events_as_in_others() {
    let story = begin().await;
    let lines = |value| HeaderLines::from_pairs([("X-Word", value)]).unwrap();
    store(&story, lines("Needle"), text(30)).await;
    store(&story, lines("hay"), [text(30), b"needle".to_vec()].concat()).await;
    store(&story, lines("hay"), text(30)).await;
    let found = async || {
        let query = Query::parse("needle", story.clock.now()).unwrap();
        let filter = Filter { query, ..Filter::default() };
        let page = story.inbox.list(filter, None, 10).await.unwrap();
        page.items.iter().map(|listed| listed.event.seq).collect::<Vec<_>>()
    };
    assert_eq!(found().await, [2, 1]);
    pack_all(&story, &story.inbox).await;
    assert_eq!(found().await, [2, 1]);
}

#[tokio::test]
async fn an_event_is_left_alone_until_it_has_been_stored_for_a_while() {
    let story = begin().await;
    store(&story, HeaderLines::default(), text(9)).await;
    let mut packer = packer(&story.inbox);
    assert_eq!(packer.step().await.unwrap(), 0);
    story.clock.pass(LONG);
    store(&story, HeaderLines::default(), text(9)).await;
    assert_eq!(packer.step().await.unwrap(), 1, "only the first");
    assert_eq!(story.inbox.packing().await.unwrap().waiting, 1);
}

#[tokio::test]
async fn few_events_wait_for_others_so_that_they_share_blocks() {
    let story = begin().await;
    let mut packer = packer(&story.inbox);
    for _ in 0..100 {
        store(&story, HeaderLines::default(), text(1)).await;
    }
    story.clock.pass(SETTLED);
    assert_eq!(packer.step().await.unwrap(), 0, "too few");
    for _ in 0..450 {
        store(&story, HeaderLines::default(), text(1)).await;
    }
    story.clock.pass(SETTLED);
    assert_eq!(packer.step().await.unwrap(), 512, "enough");
    assert_eq!(packer.step().await.unwrap(), 0, "too few again");
    assert_eq!(count(&story, "SELECT count(*) FROM block"), 8);
    story.clock.pass(LONG);
    assert_eq!(packer.step().await.unwrap(), 38, "they have waited for long");
}

#[tokio::test]
async fn a_large_body_that_does_not_shrink_is_not_moved() {
    let story = begin().await;
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(300_000)
    .collect();
    let id = store(&story, HeaderLines::default(), noise.clone()).await;
    store(&story, HeaderLines::default(), text(9)).await;
    pack_all(&story, &story.inbox).await;
    assert_eq!(count(&story, "SELECT min(seq) FROM raw"), 1);
    assert_eq!(count(&story, "SELECT min(seq) FROM packed"), 2);
    assert_eq!(story.inbox.event(id).await.unwrap().request.body, noise);
    assert_eq!(story.inbox.packing().await.unwrap().waiting, 0);
}

#[tokio::test]
async fn the_largest_bodies_stay_so_that_the_writer_is_never_held_for_long() {
    let story = begin().await;
    let large = vec![b' '; 5 << 20];
    let ids = [store(&story, HeaderLines::default(), large.clone()).await, story.arrives(None).await];
    pack_all(&story, &story.inbox).await;
    assert_eq!(count(&story, "SELECT min(seq) FROM raw"), 1);
    assert_eq!(count(&story, "SELECT min(seq) FROM packed"), 2);
    assert_eq!(story.inbox.event(ids[0]).await.unwrap().request.body, large);
    assert_eq!(story.inbox.packing().await.unwrap().waiting, 0);
}

#[tokio::test]
async fn a_list_reads_no_body_and_damage_is_told_in_words() {
    let story = begin().await;
    let lines = HeaderLines::from_pairs([("Content-Type", "application/json")]).unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(store(&story, lines.clone(), text(50)).await);
    }
    story.clock.pass(LONG);
    packer(&story.inbox).step().await.unwrap();
    let packed = ids[0];
    ids.push(store(&story, lines.clone(), text(50)).await);
    let db = Connection::open(story.inbox.path()).unwrap();
    let frame: Vec<u8> = db.query_row("SELECT data FROM block", [], |row| row.get(0)).unwrap();
    let too_much = [&[1][..], &[0x28, 0xb5, 0x2f, 0xfd, 0xe0], &[0xff; 8], &[1, 0, 0]].concat();
    for damage in [Vec::new(), vec![9], vec![1], frame[..frame.len() / 2].to_vec(), vec![0, b'x'], too_much] {
        db.execute("UPDATE block SET data = ?1", [&damage]).unwrap();
        db.execute("UPDATE raw SET body = ?1", [&damage]).unwrap();
        for id in ids.iter().copied() {
            let read = story.inbox.event(id).await;
            assert!(matches!(read, Err(InboxError::Lost(_))), "{damage:?}: {read:?}");
        }
        let page = story.inbox.list(Filter::default(), None, 10).await.unwrap();
        assert_eq!(page.items.len(), 3);
        assert!(page.items.iter().all(|listed| listed.event.request.headers == lines));
    }
    let mut random = frame.clone();
    for place in 0..frame.len() {
        random[place] ^= 0x55;
        db.execute("UPDATE block SET data = ?1", [&random]).unwrap();
        let _read_or_damaged = story.inbox.event(packed).await; // it must not panic
        random[place] ^= 0x55;
    }
}

#[tokio::test]
async fn bytes_that_changed_on_the_disk_are_not_taken_for_those_that_came() {
    let story = begin().await;
    let (packed, large) = (store(&story, HeaderLines::default(), text(50)).await, vec![b'a'; 20_000]);
    store(&story, HeaderLines::default(), text(50)).await;
    pack_all(&story, &story.inbox).await;
    let plain = store(&story, HeaderLines::default(), large).await;
    let db = Connection::open(story.inbox.path()).unwrap();
    db.execute("UPDATE raw SET body = CAST(substr(body, 2) || x'62' AS BLOB)", []).unwrap();
    let frame: Vec<u8> = db.query_row("SELECT data FROM block", [], |row| row.get(0)).unwrap();
    for place in 1..frame.len() {
        let mut changed = frame.clone();
        changed[place] ^= 1;
        db.execute("UPDATE block SET data = ?1", [&changed]).unwrap();
        match story.inbox.event(packed).await {
            Ok(event) => assert_eq!(event.request.body, text(50), "byte {place}"),
            Err(why) => assert!(matches!(why, InboxError::Lost(_)), "{why:?}"),
        }
    }
    assert!(matches!(story.inbox.event(plain).await, Err(InboxError::Lost(_))));
}

#[tokio::test]
async fn what_an_earlier_version_packed_is_read_with_the_dictionary_that_it_used() {
    let story = begin().await;
    let old = store(&story, HeaderLines::default(), text(3)).await;
    pack_all(&story, &story.inbox).await;
    let new = store(&story, HeaderLines::default(), text(3)).await;
    story.clock.pass(LONG);
    let other = |_: Option<&str>| Dictionary { name: "other".to_owned(), text: WORDS.to_uppercase().into() };
    assert_eq!(Packer::new(story.inbox.clone(), other).unwrap().step().await.unwrap(), 1);
    assert_eq!(count(&story, "SELECT count(*) FROM dictionary"), 2);
    for id in [old, new] {
        assert_eq!(story.inbox.event(id).await.unwrap().request.body, text(3));
    }
}

#[tokio::test]
async fn what_is_deleted_for_good_leaves_nothing_and_frees_its_pages() {
    let story = begin().await;
    for _ in 0..50 {
        store(&story, HeaderLines::default(), text(40)).await;
    }
    pack_all(&story, &story.inbox).await;
    for _ in 0..50 {
        store(&story, HeaderLines::default(), text(40)).await;
    }
    let before = story.inbox.packing().await.unwrap().in_use;
    story.inbox.write(|batch| Ok(batch.db.execute("DELETE FROM event", [])?)).await.unwrap();
    assert_eq!(
        (count(&story, "SELECT count(*) FROM raw"), count(&story, "SELECT count(*) FROM packed")),
        (0, 0)
    );
    assert_eq!(
        (count(&story, "SELECT count(*) FROM block"), count(&story, "SELECT count(*) FROM block_gone")),
        (0, 0)
    );
    assert!(story.inbox.packing().await.unwrap().in_use < before - 50 * text(40).len() as u64);
    pack_all(&story, &story.inbox).await;
}

#[tokio::test]
async fn what_is_deleted_for_good_leaves_its_block_and_its_neighbours_keep_every_byte() {
    let story = begin().await;
    let body = |number: usize| [text(30), format!("planted-{number}-").into_bytes()].concat();
    let mut ids = Vec::new();
    for number in 0..100 {
        ids.push(store(&story, HeaderLines::default(), body(number)).await);
    }
    pack_all(&story, &story.inbox).await;
    let blocks = count(&story, "SELECT count(*) FROM block");
    assert!((2..=4).contains(&blocks), "{blocks}");
    // By and by all go, in another order than they came in.
    let mut left: Vec<usize> = (0..100).collect();
    while !left.is_empty() {
        let third = left.len() / 3;
        left.rotate_left(third);
        let gone = left.split_off(left.len() * 3 / 4);
        let seqs: Vec<i64> = gone.iter().map(|number| *number as i64 + 1).collect();
        story.inbox.write(move |batch| purge(batch, &seqs)).await.unwrap();
        story.inbox.give_back().await.unwrap();
        assert_eq!(count(&story, "SELECT count(*) FROM block_gone WHERE blank = 0"), 0);
        let inside = everything_in_blocks(&story);
        for number in 0..100 {
            let planted = format!("planted-{number}-");
            let is_there = inside.contains(&planted);
            assert_eq!(is_there, left.contains(&number), "{planted} with {left:?} left");
        }
        for number in &left {
            assert_eq!(story.inbox.event(ids[*number]).await.unwrap().request.body, body(*number));
        }
    }
    assert_eq!(count(&story, "SELECT count(*) FROM block"), 0);
}

/// Returns all that the blocks hold, decompressed.
fn everything_in_blocks(story: &Story) -> String {
    let db = Connection::open(story.inbox.path()).unwrap();
    let mut select = db.prepare("SELECT dictionary, data FROM block").unwrap();
    let blocks = select.query_map([], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let decompressed =
        |(id, data): (i64, Vec<u8>)| form::bytes(&data, Some(dictionary::prepared(&db, id).unwrap()));
    let all: Vec<u8> = blocks.flat_map(|block| decompressed(block.unwrap()).unwrap()).collect();
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn an_event_that_goes_while_it_is_being_compressed_leaves_nothing_in_the_block() {
    let story = begin().await;
    let body = |number: usize| [text(30), format!("planted-{number}-").into_bytes()].concat();
    let mut ids = Vec::new();
    for number in 0..8 {
        ids.push(store(&story, HeaderLines::default(), body(number)).await);
    }
    story.clock.pass(LONG);
    let inbox = story.inbox.clone();
    // The dictionary is asked for after the events were read, and before they are moved.
    let goes = move |_: Option<&str>| {
        let db = Connection::open(inbox.path()).unwrap();
        db.execute("DELETE FROM event WHERE seq IN (3, 8)", []).unwrap();
        words(None)
    };
    Packer::new(story.inbox.clone(), goes).unwrap().step().await.unwrap();
    story.inbox.give_back().await.unwrap();
    let inside = everything_in_blocks(&story);
    for (number, id) in ids.into_iter().enumerate() {
        let planted = format!("planted-{number}-");
        let is_there = inside.contains(&planted);
        assert_eq!(is_there, ![2, 7].contains(&number), "{planted}");
        if is_there {
            assert_eq!(story.inbox.event(id).await.unwrap().request.body, body(number));
        }
    }
}

#[tokio::test]
async fn events_of_earlier_versions_stay_where_they_are_and_are_read_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    hookmitt_sqlite::prepare(&path, &folder.path().join("setup.lock"), schema::earlier(15)).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "INSERT INTO source (id, slug, settings, auto_created, created_at) VALUES (1, 'one', '{}', 0, 0)",
    )
    .unwrap();
    db.execute(
        "INSERT INTO event (seq, id, source, received_at, via, verdict, flags, method, path, version, size, sha256,
            headers, body)
        VALUES (1, zeroblob(16), 1, 0, 0, 0, 0, 'POST', '', 11, 3, ?1, CAST('A: b' || x'0d0a' AS BLOB), x'010203')",
        [&Sha256::digest([1, 2, 3])[..]],
    )
    .unwrap();
    drop(db);
    let story = begin().await;
    let inbox = Inbox::open(folder.path(), Arc::new(story.clock.clone())).unwrap();
    pack_all(&story, &inbox).await;
    let id = EventId::from_bytes([0; 16]);
    let event = inbox.event(id).await.unwrap();
    assert_eq!(
        (&event.request.body[..], &event.request.headers.as_wire()[..]),
        (&[1, 2, 3][..], &b"A: b\r\n"[..])
    );
    assert_eq!(inbox.listed(id).await.unwrap().event.request.headers, event.request.headers);
    assert_eq!(
        inbox.packing().await.unwrap(),
        Packing { in_use: inbox.packing().await.unwrap().in_use, ..Packing::default() }
    );
}
