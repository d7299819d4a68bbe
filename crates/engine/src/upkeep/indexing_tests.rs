//! The index keeps up with an inbox that was restored, and with a file that was damaged or removed.

use std::{fs, path::Path, time::Duration};

use bytes::Bytes;
use hookmitt_event::{EventId, Timestamp};
use hookmitt_inbox::{Filter, InboxError, Marks};
use hookmitt_index::IndexError;
use hookmitt_search::Query;

use super::{
    indexing::{Indexing, Next},
    progress::Progress,
};
use crate::{
    Engine, EngineError,
    begun::{engine, post, source},
    search::IndexSlot,
};

/// Catches an event, and returns its id.
async fn catch(engine: &Engine, body: &str) -> EventId {
    let source = match engine.settings.source(&"any".parse().unwrap()) {
        Ok(source) => source,
        Err(_) => source(engine, "any").await,
    };
    let mut arrival = post([], b"");
    arrival.request.body = Bytes::copy_from_slice(body.as_bytes());
    let event = source.judge(arrival).event;
    let id = event.id;
    engine.inbox().store(event).await.unwrap();
    id
}

/// Begins to index, with an index of its own: the engine's searches look into it like another process.
async fn indexing(engine: &Engine) -> Indexing {
    let slot = IndexSlot::look(engine.data_dir(), &engine.inbox().instance().await.unwrap());
    Indexing::begin(&engine.base, &slot).await.unwrap()
}

/// Indexes until there is nothing more to do. Returns how often the index was made anew.
async fn catch_up(indexing: &mut Indexing) -> usize {
    let mut anew = 0;
    loop {
        match indexing.step().await {
            Ok(Next::AtOnce | Next::Rested) => {}
            Ok(Next::Told) => return anew,
            Err(EngineError::Index(IndexError::Damaged(_))) => {
                indexing.index.rebuild().await.unwrap();
                anew += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Catches an event, indexes it, and ends.
async fn indexed(folder: &Path, body: &str) {
    let engine = engine(folder).await;
    catch(&engine, body).await;
    let mut indexing = indexing(&engine).await;
    catch_up(&mut indexing).await;
    indexing.index.close().await;
    engine.stop().await;
    engine.close().await;
}

fn query(q: &str) -> Query {
    Query::parse(q, Timestamp::now()).unwrap()
}

/// What a search finds.
async fn found(engine: &Engine, q: &str) -> Vec<i64> {
    let page = engine.search.page(Filter { query: query(q), ..Filter::default() }, None, 100).await.unwrap();
    page.items.iter().map(|listed| listed.event.seq).collect()
}

/// What the index alone finds.
async fn by_the_index(indexing: &Indexing, q: &str) -> Vec<i64> {
    indexing.index.candidates(&query(q), 0..i64::MAX, 100).await.unwrap().seqs
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["inbox.db", "inbox.db-wal"] {
        let _missing = fs::remove_file(to.join(name));
        let _missing = fs::copy(from.join(name), to.join(name));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_copy_with_as_many_events_as_the_index_knows_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, backup) = (folder.path().join("data"), folder.path().join("backup"));
    let first = engine(&dir).await;
    let id = catch(&first, "an early word").await;
    assert_eq!(catch_up(&mut indexing(&first).await).await, 0);
    first.stop().await;
    copy(&dir, &backup);

    let second = engine(&dir).await;
    catch(&second, "gone with the copy").await;
    second
        .inbox()
        .mark(id, Marks { note: Some(Some("a later note".to_owned())), ..Marks::default() })
        .await
        .unwrap();
    assert_eq!(catch_up(&mut indexing(&second).await).await, 0, "it goes on with the index");
    assert_eq!(found(&second, "gone").await, [2]);
    second.stop().await;
    copy(&backup, &dir);

    let third = engine(&dir).await;
    catch(&third, "a third one").await;
    for (q, seqs) in [("gone", &[][..]), ("later", &[]), ("early", &[1]), ("third", &[2])] {
        assert_eq!(found(&third, q).await, seqs, "{q}, before the index is made anew");
    }
    let mut indexing = indexing(&third).await;
    assert_eq!(catch_up(&mut indexing).await, 1);
    for (q, seqs) in [("gone", &[][..]), ("later", &[]), ("early", &[1]), ("third", &[2])] {
        assert_eq!(found(&third, q).await, seqs, "{q}");
        assert_eq!(by_the_index(&indexing, q).await, seqs, "{q} by the index");
    }
    third.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_was_only_begun_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    catch(&engine, "one").await;
    let mut former = indexing(&engine).await;
    catch_up(&mut former).await;
    catch(&engine, "two").await;
    // As if the process had been killed before the index stored it.
    engine.inbox().begin_indexing(former.index.step(), 2, Vec::new()).await.unwrap();
    drop(former);
    let mut next = indexing(&engine).await;
    assert_eq!(catch_up(&mut next).await, 0);
    assert_eq!(by_the_index(&next, "two").await, [2]);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_overtaken_neither_forgets_changes_nor_writes_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let (former, owner) = (engine(folder.path()).await, engine(folder.path()).await);
    let id = catch(&former, "one").await;
    former.inbox().own(1, "a".to_owned()).await.unwrap();
    let mut overtaken = indexing(&former).await;
    catch_up(&mut overtaken).await;
    owner.inbox().own(2, "b".to_owned()).await.unwrap();
    let mut indexing = indexing(&owner).await;
    catch_up(&mut indexing).await;
    former.inbox().mark(id, Marks { pinned: Some(true), ..Marks::default() }).await.unwrap();
    let refused = overtaken.step().await;
    assert!(matches!(refused, Err(EngineError::Inbox(InboxError::NotOwner))), "{refused:?}");
    catch_up(&mut indexing).await;
    assert_eq!(by_the_index(&indexing, "is:pinned").await, [1]);
    former.stop().await;
    owner.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_that_a_search_finds_is_mended_by_who_writes_the_index() {
    let folder = tempfile::tempdir().unwrap();
    indexed(folder.path(), "a word").await;
    let file = folder.path().join("search.db");
    let mut bytes = fs::read(&file).unwrap();
    // The set of the chunk's events begins with the one event's bit.
    let set = [&[2_u8][..], &[0; 100]].concat();
    let place = bytes.windows(set.len()).position(|window| window == set).unwrap();
    bytes[place] = 0;
    fs::write(&file, bytes).unwrap();

    let engine = engine(folder.path()).await;
    let mut indexing = indexing(&engine).await;
    assert_eq!(catch_up(&mut indexing).await, 0, "nothing reads the damage");
    assert_eq!(found(&engine, "word").await, [1], "it is looked at without the index");
    assert_eq!(catch_up(&mut indexing).await, 1);
    assert_eq!(by_the_index(&indexing, "word").await, [1]);
    engine.stop().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_removed_is_made_anew_and_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    catch(&engine, "a word").await;
    let mut former = indexing(&engine).await;
    catch_up(&mut former).await;
    assert_eq!(found(&engine, "word").await, [1]);
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(folder.path().join(format!("search.db{suffix}"))).unwrap();
    }
    assert_eq!(found(&engine, "word").await, [1]);
    // It ends, so that the file is opened anew.
    tokio::time::timeout(Duration::from_secs(20), former.work(&mut Progress::of("indexing"))).await.unwrap();
    let mut indexing = indexing(&engine).await;
    assert_eq!(catch_up(&mut indexing).await, 0);
    assert_eq!(by_the_index(&indexing, "word").await, [1]);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_of_which_only_the_index_is_left_gives_out_no_number_again() {
    let folder = tempfile::tempdir().unwrap();
    indexed(folder.path(), "a word").await;
    fs::write(folder.path().join("inbox.db"), "").unwrap();
    let _log = fs::remove_file(folder.path().join("inbox.db-wal"));

    let engine = engine(folder.path()).await;
    let note = engine.recovered().expect("it is told that the inbox is gone");
    assert!(note.contains("0 events are here, it isn't known how many are missing"), "{note}");
    catch(&engine, "a word").await;
    let last = engine.inbox().last_seq().await.unwrap();
    assert!(last > 8_192, "{last}: the index counts by 8,192, and may have had all of them");
    engine.stop().await;
}
