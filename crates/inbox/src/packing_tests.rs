//! What is packed comes back byte for byte, whichever version has packed it.

use std::sync::Arc;

use hookmitt_clock::Clock as _;
use hookmitt_event::{EventId, HeaderLines};
use hookmitt_search::Query;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use crate::{
    Dictionary, Filter, Inbox, Packer, Packing,
    packing_story::{LONG, WORDS, begin, count, pack_all, packer, store, text},
    schema,
};

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
