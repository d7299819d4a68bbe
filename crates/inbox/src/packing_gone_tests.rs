//! What damage and deletion leave of packed events.

use hookmitt_event::HeaderLines;
use rusqlite::Connection;

use crate::{
    Filter, InboxError, Packer, dictionary, form,
    packing_story::{LONG, begin, count, pack_all, packer, store, text, words},
    purge::purge,
    queue_story::Story,
};

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
